"""Verdicts on invariants, as data. Nothing here prints; `Violation` and `UndecidedError` are the exceptions.

A counterexample is an explanation in three parts: the claim, the reasons (each with the event that gives it), and the
events concerned. Reports turn it into text, a table of members, or a page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.events import Event

STEP = "{step}"
"""Stands in a reason's text for the place of its event; a report that knows the history writes ``step 6`` there."""


NO_GROUP: Final = "the history holds no event of a group"


class Outcome(StrEnum):
    """The four verdicts, from best to worst.

    A violation outweighs a doubt, and both outweigh the rest. *Untested* is no success: nothing in the history could
    have broken the claim. Among claims that held it does no harm, so it is worse than these and better than a doubt.
    """

    HELD = "held"
    UNTESTED = "untested"
    UNDECIDED = "undecided"
    VIOLATED = "violated"


def worst_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst of the outcomes; `Outcome.HELD` when there is none."""
    return max(outcomes, key=list(Outcome).index, default=Outcome.HELD)


_OVER_GROUPS: Final = (Outcome.VIOLATED, Outcome.UNDECIDED, Outcome.HELD, Outcome.UNTESTED)


def outcome_over_groups(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The outcome of one invariant over several groups, or runs: untested only where it is so in all.

    None where there is no group.
    """
    return min(outcomes, key=_OVER_GROUPS.index, default=None)


def overall_outcome(outcomes: Iterable[Outcome], *, require_tested: bool = False) -> Outcome:
    """The outcome of several invariants about the same history: *violated*, *undecided* or *held*.

    Claims that are *untested* do not count, unless ``require_tested`` makes each of them a doubt. Where no claim was
    tested at all, nothing is known, and the outcome is *undecided*.
    """
    found = set(outcomes)
    if Outcome.VIOLATED in found:
        return Outcome.VIOLATED
    is_open = Outcome.UNDECIDED in found or (require_tested and Outcome.UNTESTED in found)
    return Outcome.UNDECIDED if is_open or Outcome.HELD not in found else Outcome.HELD


@dataclass(frozen=True, slots=True)
class Because:
    """One reason: a sentence, in which `STEP` stands for the place of ``event``, the event that gives the reason."""

    text: str
    event: Event | None = None

    def __str__(self) -> str:
        return self.text.replace(STEP, place_of(self.event))


@dataclass(frozen=True, slots=True)
class Consequence:
    """A violation that followed from another: its invariant, and its headline."""

    invariant: str
    headline: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.headline}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """Why a claim does not hold.

    ``invariant`` is the claim's name, ``headline`` the violation in one short line (member, partition, generation),
    ``because`` the reasons ending on the contradiction, ``events`` the events concerned in the order of observation,
    the last one being where the claim broke. ``group`` is the group they belong to. ``repeats`` are those of ``events``
    that stand for a loop: one turn of it. ``consequences`` are the violations that followed from this one.
    """

    invariant: str
    headline: str
    claim: str
    because: tuple[Because, ...]
    events: tuple[Event, ...]
    group: str = ""
    repeats: tuple[Event, ...] = ()
    consequences: tuple[Consequence, ...] = ()

    def __str__(self) -> str:
        """First line: name and headline; then the claim, one line per reason, and the consequences."""
        lines = [f"{self.invariant}: {self.headline}", f"  claim    {self.claim}"]
        lines += _labelled("because", self.because) + _labelled("then", self.consequences)
        return "\n".join(lines)


def with_consequences(found: Counterexample, then: Iterable[Counterexample]) -> Counterexample:
    """The counterexample with its consequences."""
    return replace(found, consequences=tuple(Consequence(one.invariant, one.headline) for one in then))


def _labelled(label: str, lines: Sequence[object]) -> list[str]:
    """One line for each, the first behind the label."""
    return [f"  {'' if number else label:<8} {line}" for number, line in enumerate(lines)]


Exemptions: TypeAlias = tuple[tuple[str, int], ...]
"""Exemptions that applied, by name, each with the number of its cases: none of them is among the checked events."""


@dataclass(frozen=True, slots=True)
class Held:
    """The claim held. ``checked_events`` counts the events that could have broken it: one at least, from a judge."""

    checked_events: int = 0
    excused: Exemptions = ()

    outcome = Outcome.HELD


@dataclass(frozen=True, slots=True)
class Untested:
    """Nothing in the history could have broken the claim. ``reason`` names the events that the claim needs."""

    reason: str
    excused: Exemptions = ()

    outcome = Outcome.UNTESTED


@dataclass(frozen=True, slots=True)
class Undecided:
    """No conclusion: a premise fails, the history is incomplete, or the checker failed. ``reason`` says which."""

    reason: str

    outcome = Outcome.UNDECIDED


@dataclass(frozen=True, slots=True)
class Violated:
    """The claim is broken: the first counterexample, how often the claim was seen broken in all, how many events could
    have broken it, and the place in the history at which it broke first."""

    counterexample: Counterexample
    count: int = 1
    checked_events: int = 0
    excused: Exemptions = ()
    place: int = 0

    outcome = Outcome.VIOLATED


Verdict: TypeAlias = Held | Untested | Undecided | Violated
"""The verdict of a judge on one invariant."""


class Violation(AssertionError):  # noqa: N818 - it is a failed claim about a subject, not an error of this program
    """A violated claim as an exception. Each invariant raises its own subclass, so that Hypothesis reports distinct
    violations apart; ``counterexample`` holds the explanation."""

    def __init__(self, counterexample: Counterexample) -> None:
        super().__init__(str(counterexample))
        self.counterexample = counterexample

    def __reduce__(self) -> tuple[type[Violation], tuple[Counterexample]]:
        return (type(self), (self.counterexample,))


@cache
def violation_named(name: str, claim: str) -> type[Violation]:
    """The exception class of an invariant: that of ``no_double_ownership`` is NoDoubleOwnershipViolated."""
    words = name.replace(".", "_").split("_")
    title = "".join(word[:1].upper() + word[1:] for word in words) + "Violated"

    def reduce(self: Violation) -> tuple[object, ...]:
        return _raised, (name, claim, self.counterexample)

    space = {"__doc__": f"Broken: {claim}.", "__module__": __name__, "__reduce__": reduce}
    made: Any = type(title, (Violation,), space)
    found: type[Violation] = made
    return found


def _raised(name: str, claim: str, counterexample: Counterexample) -> Violation:
    """A violation in another process."""
    return violation_named(name, claim)(counterexample)


class UndecidedError(AssertionError):
    """An invariant is not decided: a test that asks for a verdict and gets none has failed.

    It is an `AssertionError`, as `Violation` is, so that pytest and Hypothesis count it as a failure of the test and
    not as an error in it; and no `Violation`, because no claim is broken. ``reasons`` maps the name of each claim
    that is open to the reason, in the order in which the claims were asked for.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = dict(reasons)
        super().__init__("\n".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        yield f"{len(self.reasons)} of the invariants are not decided:"
        for reason, names in names_by_reason(self.reasons).items():
            yield f"  {', '.join(names)}: {reason}"

    def __reduce__(self) -> tuple[type[UndecidedError], tuple[dict[str, str]]]:
        return (type(self), (self.reasons,))


def names_by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """The names that share a reason, by the reason, in the order of ``reasons``."""
    found: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        found.setdefault(reason, []).append(name)
    return found


def place_of(event: Event | None) -> str:
    """How an event is named when its place in the history is not known: ``event 4 of m1``."""
    if event is None or event.seq < 0:
        return "an unnumbered event"
    return f"event {event.seq} of {event.source}"


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on one claim about several groups, from the ``verdicts`` on it about each.

    The first violation, otherwise the first doubt; counts of equal outcomes are added up. The claim is untested only
    where it is untested in every group, as it is when there is none.
    """
    outcome = outcome_over_groups(verdict.outcome for verdict in verdicts)
    alike = [verdict for verdict in verdicts if verdict.outcome is outcome]
    tested = [verdict for verdict in alike if isinstance(verdict, Held | Violated)]
    checked, excused = sum(verdict.checked_events for verdict in tested), _excused_in_all(alike)
    match next(iter(alike), Untested(NO_GROUP)):
        case Violated(counterexample) as first:
            count = sum(verdict.count for verdict in tested if isinstance(verdict, Violated))
            return Violated(counterexample, count, checked, excused, first.place)
        case Held():
            return Held(checked, excused)
        case Untested(reason):
            return Untested(reason, excused)
        case first:
            return first


def _excused_in_all(verdicts: Iterable[Verdict]) -> Exemptions:
    excused: Counter[str] = Counter()
    for verdict in verdicts:
        if not isinstance(verdict, Undecided):
            excused.update(dict(verdict.excused))
    return tuple(sorted(excused.items()))


def could_have_failed(outcomes: Iterable[Outcome]) -> str:
    """How many invariants a history could have broken, in words: ``41 of 128 invariants could have failed``."""
    every = list(outcomes)
    tested = sum(outcome in (Outcome.HELD, Outcome.VIOLATED) for outcome in every)
    return f"{tested} of {len(every)} invariants could have failed"
