"""Form: an event fits its own fields, and the state that earlier events put its subject in.

A rule looks at one event at a time. It needs no memory of its own: the views know the state *before* or *after* the
event, as they say. Where the rule looks at the event alone, the accusation is by presence; where it looks at a view,
the record that the view follows must be complete.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.properties.engines.rules import Needs, RuleFold, Rules, Views
from rebalance_check.properties.kinds import Fold, Invariant


class FormFold(RuleFold):
    """Gives each event to its rule."""

    def __init__(self, invariant: Invariant, at: Rules, views: Views, needs: Needs = ()) -> None:
        super().__init__(invariant, ((at, self.conclude),), views, needs)


def form(at: Rules, *, views: Views = (), needs: Needs = ()) -> Callable[[Invariant], Fold]:
    """An invariant about single events; ``at`` has the rule for each type of event."""
    return lambda invariant: FormFold(invariant, at, views, needs)
