"""Falsify: the least change of a history that breaks an invariant which held.

A green that no change of the history can break says nothing about the subject. One change is tried at a time
(`rebalance_check.properties.changes`); it counts only where every exemption that applied before applies as often
afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.changes import FRAME, edits, numbered
from rebalance_check.properties.judge import Judge, judge
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.listening import listening
from rebalance_check.properties.verdict import Held, Untested, Verdict, Violated

TRIES: Final = 1_500
"""So many changes are tried per invariant."""

SITES: Final = 12
"""At so many of the events that were checked, spread evenly over the history, changes are tried."""

NOT_FALSIFIABLE: Final = "no change of one event of this history breaks it"


@dataclass(frozen=True, slots=True)
class Change:
    """A change that breaks an invariant: in words, and the headline of the counterexample that it leads to."""

    text: str
    headline: str


def falsify(history: Sequence[Event], invariant: Invariant, tries: int = TRIES) -> Change | None:
    """The first change, of the least, that breaks ``invariant``; None where ``tries`` changes leave it unbroken."""
    observed = _observed_by(invariant, history)
    before = _verdict(numbered(observed), invariant)
    for edit in islice(edits(observed, _checked(observed, invariant)), tries):
        found = _verdict(edit.applied(observed), invariant)
        if not isinstance(found, Violated) or not _keeps_excuses(before, found):
            continue
        whole = _verdict(edit.applied(history), invariant)
        if isinstance(whole, Violated):
            return Change(edit.text, whole.counterexample.headline)
    return None


def falsified(judgement: Judgement, history: Sequence[Event]) -> tuple[Judgement, Mapping[str, Change]]:
    """The judgement in which each green that no change can break is untested, and the change that breaks each other."""
    changes: dict[str, Change] = {}
    verdicts = dict(judgement.verdicts)
    for invariant, verdict in judgement.verdicts.items():
        if not isinstance(verdict, Held):
            continue
        change = falsify(history, invariant)
        if change is None:
            verdicts[invariant] = Untested(NOT_FALSIFIABLE, verdict.excused)
        else:
            changes[invariant.name] = change
    return replace(judgement, verdicts=verdicts), changes


def _verdict(history: list[Event], invariant: Invariant) -> Verdict:
    return judge(history, [invariant]).verdicts[invariant]


def _keeps_excuses(before: Verdict, after: Violated) -> bool:
    needed = dict(before.excused) if isinstance(before, Held | Untested) else {}
    return all(dict(after.excused).get(name, 0) >= times for name, times in needed.items())


def _observed_by(invariant: Invariant, history: Iterable[Event]) -> list[Event]:
    """The events that the invariant, or a view that it looks at, listens to, and those of the run."""
    kinds = FRAME | listening((invariant,)).kinds
    return [event for event in history if type(event) in kinds]


def _checked(history: Sequence[Event], invariant: Invariant) -> list[Event]:
    """Events at which the invariant was put to the test, spread evenly, the last one first: it has the fewest
    consequences."""
    judging = Judge([invariant])
    found: list[Event] = []
    checked = 0
    for event, again in zip(history, numbered(history), strict=True):
        judging.observe(again)
        checked, before = judging.checked(invariant), checked
        if checked > before and type(event) not in FRAME:
            found.append(event)
    return found[:: -max(1, len(found) // SITES)]
