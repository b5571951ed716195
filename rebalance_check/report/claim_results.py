"""A command's findings about claims, in the one form that CI systems are given: JUnit, GitHub and SARIF read it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.history import scan_history
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant, exemptions
from rebalance_check.properties.malformed import UnreadLine
from rebalance_check.properties.verdict import STEP, Counterexample, Outcome, Undecided, Untested, Verdict, Violated
from rebalance_check.report.lanes import key_of
from rebalance_check.report.runs import explained
from rebalance_check.report.terminal import suggested

INPUT_IS_READ: Final = "input_is_read"
"""The name under which input that cannot be read is reported: nothing is known of its content."""

CLAIMS_ARE_TESTED: Final = "claims_are_tested"
"""The name under which claims are reported that were to be tested, and were not."""

REPLIES_AS_PREDICTED: Final = "replies_are_as_predicted"
"""The name under which a coordinator is reported that gives a reply, or is in a state, that the model forbids."""

RUN_ENDS: Final = "run_comes_to_its_end"
"""The name under which a run that broke off is reported: nothing is known of the events beyond."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a history file; the first is 1."""

    path: Path
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    """The outcome of one claim on one subject: a history, a campaign, a bound of the model.

    ``sentence`` is the claim in words. ``text`` explains the outcome; its first line alone names the fault.
    ``command`` shows it again. ``place`` is where the claim broke, None where no file has it; ``steps`` are the reasons
    that stand in a file, each with its place. ``notes`` are violations that were left out because they are known;
    ``more`` are more facts for a reader, by name.
    """

    subject: str
    claim: str
    outcome: Outcome
    sentence: str = ""
    text: str = ""
    command: str = ""
    place: Place | None = None
    steps: tuple[tuple[str, Place], ...] = ()
    notes: tuple[str, ...] = ()
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """The first line of ``text``."""
        return self.text.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class JudgedFiles:
    """A judged history: its name in reports, its verdicts, the files and the events that hold it.

    Of a history that was not kept both are empty: then a violation has its reasons, and neither a line nor a command.
    """

    name: str
    judgement: Judgement
    files: tuple[Path, ...]
    events: Sequence[Event]

    def results(self) -> list[ClaimResult]:
        """The result of each claim, and one for each line that could not be read."""
        unread = [unread_result(self.name, line.fault) for line in self.judgement.unread]
        places = places_of(self.files, self.judgement.counterexamples)
        results = [self._result(i, verdict, places) for i, verdict in self.judgement.verdicts.items()]
        return unread + results + untested_results(self.name, self.judgement.outcome, results)

    def _result(self, invariant: Invariant, verdict: Verdict, places: Mapping[Hashable, Place]) -> ClaimResult:
        again = suggested("judge", *self.files, "--invariant", invariant.name) if self.files else ""
        one = ClaimResult(
            subject=self.name, claim=invariant.name, outcome=verdict.outcome, sentence=invariant.claim, command=again,
            text=verdict.reason if isinstance(verdict, Undecided | Untested) else "", more=counted(verdict),
        )  # fmt: skip
        if not isinstance(verdict, Violated):
            return one
        found = verdict.counterexample
        text = explained(self.events, found, again)[0] if self.events else str(found)
        return located(replace(one, text=text), found, places)


def counted(verdict: Verdict) -> Mapping[str, str]:
    """How many events could have broken the claim, and which exemptions applied."""
    if isinstance(verdict, Undecided):
        return {}
    checked = "" if isinstance(verdict, Untested) else str(verdict.checked_events)
    return {"checked_events": checked, "excused": exemptions(verdict.excused)}


def unread_result(subject: str, fault: str) -> ClaimResult:
    """The result for input that cannot be read, of which ``fault`` names the fault."""
    return ClaimResult(subject=subject, claim=INPUT_IS_READ, outcome=Outcome.UNDECIDED, text=fault)


def untested_results(subject: str, outcome: Outcome, results: Sequence[ClaimResult]) -> list[ClaimResult]:
    """One result where the whole is undecided because claims are untested, and no claim is undecided by itself."""
    if outcome is not Outcome.UNDECIDED or any(each.outcome is Outcome.UNDECIDED for each in results):
        return []
    names = ", ".join(each.claim for each in results if each.outcome is Outcome.UNTESTED)
    text = f"nothing could have broken {names}: record the events that these claims need, or leave them out"
    return [ClaimResult(subject=subject, claim=CLAIMS_ARE_TESTED, outcome=Outcome.UNDECIDED, text=text)]


def places_of(files: Iterable[Path], found: Sequence[Counterexample]) -> Mapping[Hashable, Place]:
    """Where in the files the events of the counterexamples stand, by `key_of`; no file is read for none."""
    wanted = {key_of(event) for each in found for event in (*each.events, *_of_reasons(each))}
    places: dict[Hashable, Place] = {}
    for path in files if wanted else ():
        for line, one in enumerate(scan_history(path), 1):
            if not isinstance(one, UnreadLine) and (key := key_of(one)) in wanted:
                places.setdefault(key, Place(path, line))
    return places


def _of_reasons(found: Counterexample) -> list[Event]:
    return [reason.event for reason in found.because if reason.event is not None]


def located(one: ClaimResult, found: Counterexample, places: Mapping[Hashable, Place]) -> ClaimResult:
    """The result with the line of its last event, where the claim broke, and with the lines of its reasons.

    A reason names its line where it would name a step.
    """
    place = places.get(key_of(found.events[-1])) if found.events else None
    reasons = [(reason, places.get(key_of(reason.event))) for reason in found.because if reason.event is not None]
    steps = tuple((reason.text.replace(STEP, f"line {at.line}"), at) for reason, at in reasons if at is not None)
    return replace(one, place=place, steps=steps)
