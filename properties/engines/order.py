"""Order: along one sequence, each value follows the one before it.

A sequence has a key: the generations of one incarnation, the offsets of one log, the states of one member. An exemption
begins the sequence anew. Two values of one source contradict each other by presence, unless something that begins the
sequence anew may have been lost between them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.engines.rules import CHECKED, Excused, Findings, Needs, RuleFold, Views, broken, listed
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.views.recent import WAITING, Recent

ALL: Final = object()
"""The key that begins every sequence anew."""


@dataclass(slots=True)
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

    def __init__(  # noqa: PLR0917 - as the function below passes them
        self,
        invariant: Invariant,
        steps: Mapping[type[Event], Steps],
        wrong: Wrong,
        resets: Mapping[type[Event], Callable[..., Any]],
        views: Views,
        needs: Needs,
    ) -> None:
        super().__init__(invariant, ((resets, self._reset), (steps, self._take)), views, needs)
        self.breaks_at, self._wrong = steps, wrong
        self._last: Recent[Hashable, Step] = Recent(WAITING)

    def _reset(self, keys: Any, _event: Event) -> None:
        for key in listed(keys):
            if key is ALL:
                self._last.clear()
            else:
                self._last.pop(key, None)

    def _take(self, steps: Step | list[Step], _event: Event) -> None:
        for step in listed(steps):
            self.conclude(self._compared(step))

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
    needs: Needs = (),
) -> Callable[[Invariant], Fold]:
    """An invariant about the order of values.

    ``steps`` extracts the values of sequences from events, ``wrong`` says why a value cannot follow the one before it,
    and ``resets`` give the keys of the sequences that an event begins anew (`ALL`: every one).
    """

    return lambda invariant: OrderFold(invariant, steps, wrong, resets or {}, views, needs)
