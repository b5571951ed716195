"""A test's end by its record: violated fails it, undecided is an error, untested a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.files import readable_events
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.verdict import Outcome
from rebalance_check.pytest_plugin.judging import (
    UntestedClaimWarning,
    Wanted,
    doubt_of,
    judged,
    untested_text,
    violation_of,
    wanted_by,
)
from rebalance_check.pytest_plugin.recording import Recording
from rebalance_check.pytest_plugin.settings import Settings

NOTHING_RECORDED = (
    "the test is marked `rebalance` and recorded nothing: use the fixture `recorder` or `embedded_broker`"
)


@dataclass(frozen=True, slots=True)
class JudgeFixture:
    """The value of the fixture `judge`."""

    settings: Settings
    recording: Callable[[], Recording | None]

    def __call__(
        self, history: Iterable[Event] | str | Path | None = None, *, allow_undecided: bool = False, **wanted: object
    ) -> Judgement:
        """Judge ``history``, by default the record of this test so far; ``wanted`` as of the mark `rebalance`.

        Raises: the `Violation` of the first broken claim, with the explanations of all of them; UndecidedError if one
        is undecided, unless that is allowed; RebalanceCheckError when a claim or a file is not there.
        """
        events, path = self._read(history)
        judgement = judged(events, wanted_by(self.settings, wanted))
        if (violation := violation_of(judgement, events, path)) is not None:
            raise violation
        if not allow_undecided and (doubt := doubt_of(judgement)) is not None:
            raise doubt
        return judgement

    def _read(self, history: Iterable[Event] | str | Path | None) -> tuple[Sequence[Event], Path | None]:
        if isinstance(history, str | Path):
            return list(readable_events(history)), Path(history)
        if history is not None:
            return list(history), None
        recording = self.recording()
        if recording is None:
            raise RebalanceCheckError("nothing was recorded: hand over a history, or use the fixture `recorder`")
        return recording.events, recording.path


@dataclass(frozen=True, slots=True)
class MarkedTest:
    """A test with the mark `rebalance`, and the judging it asks for."""

    item: pytest.Item
    wanted: Wanted
    settings: Settings
    recording: Callable[[], Recording | None]

    def judge_passed_test(self, again: str) -> str:
        """Fail the test where a claim is violated, warn of untested claims; the undecided ones are returned."""
        recording = self.recording()
        if recording is None or not (history := recording.events):
            return NOTHING_RECORDED
        judgement = judged(history, self.wanted)
        self._note(judgement, recording)
        violation = violation_of(judgement, history, recording.path)
        if violation is not None:
            pytest.fail(f"{violation}\n\n{_closing(recording, again)}", pytrace=False)
        if (doubt := doubt_of(judgement)) is not None:
            return f"{doubt}\n\n{_closing(recording, again)}"
        if self.wanted.names_some and judgement.untested:
            self._warn(untested_text(judgement))
        return ""

    def note_failed_test(self, again: str) -> None:
        """Show next to the failure of the test the claims that its history breaks, and where that is."""
        recording = self.recording()
        if recording is None or not (history := recording.events):
            return
        judgement = judged(history, self.wanted)
        self._note(judgement, recording)
        violation = violation_of(judgement, history, recording.path)
        shown = [str(violation)] if violation is not None else []
        self.item.add_report_section("call", "rebalance", "\n\n".join([*shown, _closing(recording, again)]))

    def _warn(self, text: str) -> None:
        path, line, _ = self.item.location
        where = str(self.item.config.rootpath / path)
        warnings.warn_explicit(UntestedClaimWarning(text), None, filename=where, lineno=(line or 0) + 1)

    def _note(self, judgement: Judgement, recording: Recording) -> None:
        """Properties of the test in JUnit XML: seed, history, verdict, and the outcome of each tested claim."""
        found = {"rebalance.seed": str(self.settings.seed), "rebalance.history": str(recording.path)}
        found["rebalance.verdict"] = judgement.outcome.value
        for invariant, verdict in judgement.verdicts.items():
            if verdict.outcome is not Outcome.UNTESTED:
                found[f"rebalance.{invariant.name}"] = verdict.outcome.value
        self.item.user_properties += found.items()


def _closing(recording: Recording, again: str) -> str:
    return f"history   {recording.path}\nrun again {again}"


def judge_test(
    item: pytest.Item, mark: pytest.Mark, settings: Settings, recording: Callable[[], Recording | None]
) -> MarkedTest:
    """The judging that a test's mark asks for; a name in it that is none fails the test before it runs."""
    given = dict(zip(("invariants", "exclude", "without", "require_tested"), mark.args, strict=False)) | dict(
        mark.kwargs
    )
    try:
        wanted = wanted_by(settings, given)
        wanted.chosen(())
    except (RebalanceCheckError, TypeError) as fault:
        pytest.fail(f"the mark `rebalance` of {item.nodeid} cannot be used: {fault}", pytrace=False)
    return MarkedTest(item, wanted, settings, recording)
