"""Form: an event fits its own fields, and the state that earlier events put its subject in.

A rule looks at one event at a time. It needs no memory of its own: the views know the state *before* or *after* the
event, as they say. Where the rule looks at the event alone, the accusation is by presence; where it looks at a view,
the record that the view follows must be complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.engines.rules import Rule, RuleFold, Rules, Views
from rebalance_check.properties.kinds import Fold, Handler, Invariant


class FormFold(RuleFold):
    """Gives each event to its rule."""

    def __init__(self, invariant: Invariant, at: Rules, views: Views) -> None:
        super().__init__(invariant, {kind: self._handler(rule) for kind, rule in at.items()}, views)

    def _handler(self, rule: Rule) -> Handler:
        def take(event: Event) -> None:
            found = rule(event, *self.views)
            if found is not None:
                self.conclude(found)

        return take


def form(at: Rules, *, views: Views = (), needs: Sequence[tuple[type[Event], ...]] = ()) -> Callable[[Invariant], Fold]:
    """An invariant about single events.

    ``at`` has the rule for each type of event. ``needs`` are further events without which nothing breaks the invariant:
    of each set the history must hold one at least.
    """

    def fold(invariant: Invariant) -> Fold:
        made = FormFold(invariant, at, views)
        made.needs = tuple(needs)
        return made

    return fold
