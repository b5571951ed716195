"""Cause: every effect has one of its causes since the last one, within reach of the one that acts.

The accusation is by absence: the record that would hold the cause must be complete. A cause that the actor certainly
received counts until the effect that it explains; one effect uses up all causes before it, unless the causes are kept
or add up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.completeness import UNTIMED
from rebalance_check.properties.engines.rules import CHECKED, Excused, Findings, Needs, RuleFold, Views, broken, listed
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.views.recent import WAITING, Recent


@dataclass(slots=True)
class Effect:
    """Something that ``key`` did and that needs a cause; ``headline`` says so in one line, ``says`` as a sentence.

    ``excused`` names an exemption that applies, ``is_first_free`` says that no cause is needed before the first effect
    of the key.
    """

    key: Hashable
    headline: str
    says: str
    event: Event
    excused: str = ""
    is_first_free: bool = False


Effects: TypeAlias = Callable[..., Effect | list[Effect] | None]
Causes: TypeAlias = Callable[..., Any]
"""Takes an event and the views: the keys for which it is a cause; None for none."""


class CauseFold(RuleFold):
    """Per key: whether a cause came since the last effect, and that effect."""

    def __init__(  # noqa: PLR0917 - as the function below passes them
        self,
        invariant: Invariant,
        effects: Mapping[type[Event], Effects],
        causes: Mapping[type[Event], Causes],
        ends: Mapping[type[Event], Causes],
        lacks: str,
        keeps_causes: bool,
        adds_up: int,
        views: Views,
        needs: Needs,
    ) -> None:
        super().__init__(invariant, ((ends, self._forget), (effects, self._take), (causes, self._note)), views, needs)
        self.breaks_at = effects
        self._lacks, self._keeps_causes, self._adds_up = lacks, keeps_causes, adds_up
        self._caused: Recent[Hashable, int] = Recent(WAITING)
        self._last: Recent[Hashable, Effect] = Recent(WAITING)
        self._accused: Recent[Hashable, Event] = Recent(WAITING)

    def _forget(self, keys: Any, _event: Event) -> None:
        for key in listed(keys):
            self._caused.pop(key, None)
            self._last.pop(key, None)

    def _take(self, effects: Effect | list[Effect], _event: Event) -> None:
        for effect in listed(effects):
            self.conclude(self._explained(effect))

    def _note(self, keys: Any, event: Event) -> None:
        for key in listed(keys):
            accused = self._accused.pop(key, None)
            if accused is not None and _may_precede(event, accused):
                self.withdraw(accused)
            else:
                self._caused[key] = min(self._caused.get(key, 0) + 1, self._adds_up)

    def _explained(self, effect: Effect) -> Findings:
        causes = self._caused.get(effect.key, 0) if self._keeps_causes else self._caused.pop(effect.key, 0)
        if causes > 1:
            self._caused[effect.key] = causes - 1
        last = self._last.get(effect.key)
        self._last[effect.key] = effect
        if causes:
            return CHECKED
        if effect.excused:
            return Excused(effect.excused)
        if last is None and effect.is_first_free:
            return None
        if self._caused.has_forgotten:
            return Excused("more causes were open than the judge keeps")
        self._accused[effect.key] = effect.event
        before = ((f"{last.says};", last.event),) if last is not None else ()
        return broken(effect.headline, *before, (f"{effect.says}, and {self._lacks}: contradiction.", effect.event))


def _may_precede(event: Event, other: Event) -> bool:
    """Whether ``event`` may have happened before ``other`` but stands after it: lines of two sources may be swapped."""
    return event.time_ms == other.time_ms != UNTIMED and event.source != other.source


def cause(
    effects: Mapping[type[Event], Effects],
    causes: Mapping[type[Event], Causes],
    *,
    lacks: str,
    ends: Mapping[type[Event], Causes] | None = None,
    keeps_causes: bool = False,
    adds_up: int = 1,
    views: Views = (),
    needs: Needs = (),
) -> Callable[[Invariant], Fold]:
    """An invariant that every effect has a cause.

    ``effects`` and ``causes`` extract both from events; of one event the effect comes before the cause. ``lacks`` says
    the missing cause in words (``no reply asked it to``). ``ends`` gives the keys that an event forgets, such as those
    of a process that ended. ``keeps_causes``: a cause explains every later effect until it is forgotten. ``adds_up``:
    so many causes of a key add up, each of which explains one effect.
    """

    return lambda invariant: CauseFold(
        invariant, effects, causes, ends or {}, lacks, keeps_causes, adds_up, views, needs
    )
