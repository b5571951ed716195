"""Judging the record of a test, in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.catalogue import Claims, choose
from rebalance_check.properties.judge import judge
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Outcome, UndecidedError, Violation, names_by_reason
from rebalance_check.pytest_plugin.settings import Settings
from rebalance_check.report.runs import explained
from rebalance_check.report.terminal import suggested


class UntestedClaimWarning(UserWarning):
    """A claim that was asked for by its name was not tested: no event of the history could have broken it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The measure of a history: ``invariants`` (none: all), but for those to ``exclude`` and those that rely on what
    the coordinator is ``without``. ``require_tested`` makes a claim that is named and untested a doubt."""

    invariants: Claims = ()
    exclude: Claims = ()
    without: str | Iterable[str] = ()
    require_tested: bool = False

    @property
    def names_some(self) -> bool:
        """Whether claims were asked for by name."""
        return bool(self.invariants)

    def chosen(self, history: Sequence[Event]) -> tuple[Invariant, ...]:
        """The claims that the history is judged by. Where none is named, those that need its end are left out of a
        history that does not say that it is complete.

        Raises: RebalanceCheckError for a name that is none.
        """
        chosen = choose(self.invariants or None, exclude=self.exclude, without=self.without)
        if self.names_some or any(isinstance(event, RunEnded) for event in history):
            return chosen
        return tuple(each for each in chosen if not each.needs_end)


def wanted_by(settings: Settings, given: Mapping[str, object]) -> Wanted:
    """The judging asked for by a mark or a call, and the options where it does not say.

    Raises: TypeError for an argument that is none.
    """
    asked = Wanted(**given)  # type: ignore[arg-type] # the arguments of a mark have no types
    return replace(
        asked,
        invariants=asked.invariants or settings.invariants,
        exclude=(*_each(asked.exclude), *settings.exclude),
        without=(*_names(asked.without), *settings.without),
        require_tested=asked.require_tested or settings.require_tested,
    )


def _each(claims: Claims) -> tuple[Invariant | str, ...]:
    return (claims,) if isinstance(claims, Invariant | str) else tuple(claims)


def _names(without: str | Iterable[str]) -> tuple[str, ...]:
    return (without,) if isinstance(without, str) else tuple(without)


def judged(history: Sequence[Event], wanted: Wanted) -> Judgement:
    """The verdicts on a history."""
    require_tested = wanted.require_tested and wanted.names_some
    return judge(history, wanted.chosen(history), require_tested=require_tested)


def violation_of(judgement: Judgement, history: Sequence[Event], path: Path | None) -> Violation | None:
    """The exception of the first violated claim, with the explanations of all of them as its message.

    ``path`` is the file of the history, None where there is none.
    """
    if not judgement.counterexamples:
        return None
    texts = [explained(history, found, _again(path, found.invariant))[0] for found in judgement.findings]
    first = judgement.counterexamples[0]
    violation = next(each for each in judgement.verdicts if each.name == first.invariant).violation(first)
    violation.args = ("\n\n".join(texts),)
    return violation


def _again(path: Path | None, claim: str) -> str:
    return "" if path is None else suggested("judge", path, "--invariant", claim)


def doubt_of(judgement: Judgement) -> UndecidedError | None:
    """The exception that says the undecided claims, and why; None where all is decided."""
    if judgement.outcome is not Outcome.UNDECIDED:
        return None
    try:
        judgement.check()
    except UndecidedError as doubt:
        return doubt
    raise AssertionError("a judgement that is undecided raises")


def untested_text(judgement: Judgement) -> str:
    """The untested claims, and their needs; empty for none."""
    reasons = names_by_reason(judgement.untested).items()
    return "; ".join(f"untested: {', '.join(names)}: {reason}" for reason, names in reasons)
