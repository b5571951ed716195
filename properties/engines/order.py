"""Order: along one sequence, each value follows the one before it.

A sequence has a key: the generations of one incarnation, the offsets of one log, the states of one member. An exemption
begins the sequence anew. Two values of one source contradict each other by presence, unless something that begins the
sequence anew may have been lost between them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.engines.rules import CHECKED, Excused, Findings, RuleFold, Views, broken, keys_of
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.views.recent import WAITING, Recent

ALL: Final = object()
"""The key that begins every sequence anew."""


@dataclass(frozen=True, slots=True)
class Step:
    """One value of the sequence ``key``; ``says`` puts it in words, with its subject and place
    (``the log was at offset 3 at {step}``)."""

    key: Hashable
    value: Any
    says: str
    event: Event


Steps: TypeAlias = Callable[..., Step | list[Step] | None]
Wrong: TypeAlias = Callable[..., str | Excused]
"""Takes two steps and the views: the headline of a contradiction, empty where the second may follow the first."""


class OrderFold(RuleFold):
    """Per key: the last step."""

    def __init__(
        self,
        invariant: Invariant,
        steps: Mapping[type[Event], Steps],
        wrong: Wrong,
        resets: Mapping[type[Event], Callable[..., Any]],
        views: Views,
    ) -> None:
        handlers = {kind: self._resetting(resets.get(kind), steps.get(kind)) for kind in {**resets, **steps}}
        super().__init__(invariant, handlers, views)
        self.bookkeeping = frozenset(resets) - frozenset(steps)
        self._wrong = wrong
        self._last: Recent[Hashable, Step] = Recent(WAITING)

    def _resetting(self, reset: Callable[..., Any] | None, steps: Steps | None) -> Handler:
        def take(event: Event) -> None:
            for key in keys_of(reset(event, *self.views)) if reset is not None else ():
                if key is ALL:
                    self._last.clear()
                else:
                    self._last.pop(key, None)
            for step in keys_of(steps(event, *self.views)) if steps is not None else ():
                self.conclude(self._compared(step))

        return take

    def _compared(self, step: Step) -> Findings:
        last = self._last.get(step.key)
        self._last[step.key] = step
        if last is None:
            return None
        headline = self._wrong(last, step, *self.views)
        if isinstance(headline, Excused):
            return headline
        if not headline:
            return CHECKED
        return broken(headline, (f"{last.says}.", last.event), (f"{step.says}: contradiction.", step.event))


def order(
    steps: Mapping[type[Event], Steps],
    *,
    wrong: Wrong,
    resets: Mapping[type[Event], Callable[..., Any]] | None = None,
    views: Views = (),
    needs: Sequence[tuple[type[Event], ...]] = (),
) -> Callable[[Invariant], Fold]:
    """An invariant about the order of values.

    ``steps`` extracts the values of sequences from events, ``wrong`` says why a value cannot follow the one before it,
    and ``resets`` give the keys of the sequences that an event begins anew (`ALL`: every one).
    """

    def fold(invariant: Invariant) -> Fold:
        made = OrderFold(invariant, steps, wrong, resets or {}, views)
        made.needs = tuple(needs)
        return made

    return fold
