"""Agreement: for one key, all observers name one value.

Two observations of one key contradict each other by presence, whatever their order. An exemption withdraws an
observation: the observer was removed, or was replaced by another process.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.engines.rules import CHECKED, Excused, Findings, Needs, RuleFold, Views, broken, listed
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.views.recent import GENERATIONS, Recent

KEPT: Final = 8 * GENERATIONS
"""So many keys are remembered, unless an invariant says another number; an observation of an older one is compared with
nothing."""


@dataclass(slots=True)
class Fact:
    """An observation: ``observer`` names ``value`` for ``key``; ``says`` puts it in words, with its subject
    (``m0 learned at {step} that it leads generation 3``)."""

    key: Hashable
    value: Any
    observer: str
    says: str
    event: Event


Observed: TypeAlias = Callable[..., Fact | list[Fact] | Excused | None]
Withdrawn: TypeAlias = Callable[..., str]
"""Takes two facts and the views: the name of the exemption that lets them differ, empty where none does."""


def _none(_first: Fact, _other: Fact, *_views: Any) -> str:
    return ""


class AgreementFold(RuleFold):
    """Per key: the first observation, with which the others are compared."""

    def __init__(  # noqa: PLR0917 - as the function below passes them
        self,
        invariant: Invariant,
        facts: Mapping[type[Event], Observed],
        headline: Callable[[Fact, Fact], str],
        differ: Callable[[Fact, Fact], bool],
        unless: Withdrawn,
        checks_first: bool,
        kept: int,
        views: Views,
        needs: Needs,
    ) -> None:
        super().__init__(invariant, ((facts, self._take),), views, needs)
        self._headline, self._differ, self._unless = headline, differ, unless
        self._at_first: Findings = CHECKED if checks_first else None
        self._first: Recent[Hashable, Fact] = Recent(kept)

    def _take(self, facts: Fact | list[Fact] | Excused, _event: Event) -> None:
        for fact in listed(facts):
            self.conclude(fact if isinstance(fact, Excused) else self._compared(fact))

    def _compared(self, fact: Fact) -> Findings:
        first = self._first.get(fact.key)
        if first is None:
            self._first[fact.key] = fact
            return self._at_first
        if not self._differ(first, fact):
            return CHECKED if first.observer != fact.observer else None
        exemption = self._unless(first, fact, *self.views)
        if exemption:
            self._first[fact.key] = fact
            return Excused(exemption)
        return broken(
            self._headline(first, fact), (f"{first.says}.", first.event), (f"{fact.says}: contradiction.", fact.event)
        )


def _values_differ(first: Fact, other: Fact) -> bool:
    return bool(first.value != other.value)


def agreement(
    facts: Mapping[type[Event], Observed],
    *,
    headline: Callable[[Fact, Fact], str],
    differ: Callable[[Fact, Fact], bool] = _values_differ,
    unless: Withdrawn = _none,
    checks_first: bool = False,
    kept: int = KEPT,
    views: Views = (),
    needs: Needs = (),
) -> Callable[[Invariant], Fold]:
    """An invariant that all observations of one key have one value.

    ``facts`` extracts observations from events, or says why one is not compared. ``headline`` puts two that differ in
    one line, ``differ`` says whether they do, and ``unless`` names the exemption that withdraws the first of them.
    ``checks_first``: the first observation of a key counts as checked, as in an invariant that a key has one observer.
    ``kept`` keys are remembered.
    """

    return lambda invariant: AgreementFold(invariant, facts, headline, differ, unless, checks_first, kept, views, needs)
