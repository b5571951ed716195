"""How the library reads to type checkers: every line must type-check under mypy --strict and pyright; nothing runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

from rebalance_check import (
    Because,
    Counterexample,
    Event,
    ExitCode,
    Fold,
    Held,
    Invariant,
    Judgement,
    NoDoubleOwnership,
    Undecided,
    Untested,
    Violated,
    Violation,
    events,
    judge,
    read_history,
    select,
    write_history,
)


def judging(path: Path) -> None:
    """Read, judge, look at what was said."""
    assert_type(read_history(path), Iterator[Event])
    judgement = judge(read_history(path), [NoDoubleOwnership])
    assert_type(judgement, Judgement)
    assert_type(judgement.verdict("no_double_ownership"), Held | Untested | Undecided | Violated)
    assert_type(judgement.counterexamples, tuple[Counterexample, ...])
    assert_type(judgement.exit_code, ExitCode)
    assert_type(select(["ownership"]), tuple[Invariant, ...])
    judgement.check()


def recording(path: Path) -> None:
    """Produce a history."""
    event = events.PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
    assert_type(write_history(path, [event]), int)


class NobodyCrashedViolated(Violation):
    """A member crashed."""


class NobodyCrashes(Fold):
    """A claim of one's own."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {events.MemberCrashed: self.on_crashed})

    def on_crashed(self, event: events.MemberCrashed) -> None:
        """Report it."""
        self.violated(f"{event.member} crashed", [Because("it did", event)], [event])


nobody_crashes = Invariant(
    name="nobody_crashes",
    family="own",
    claim="no member crashes",
    source="a team's wish",
    violation=NobodyCrashedViolated,
    fold=NobodyCrashes,
)
