"""Completion: at rest, all is as the inputs demand.

A run names in `RunEnded.pending` all that had not converged; None claims nothing, and then nothing is concluded. A rule
is asked at the end alone, so the accusation is by absence: every record must be complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalance_check.model.vocabulary.events import Event, HealEnded, RunEnded, RunSettled
from rebalance_check.properties.engines.form import FormFold
from rebalance_check.properties.engines.rules import Findings, Needs, Rule, Views
from rebalance_check.properties.kinds import Fold, Invariant

AT_REST = (RunEnded, HealEnded, RunSettled)
"""The events at which a run may say that it has come to rest."""


def completion(
    rule: Rule,
    *,
    at: Sequence[type[Event]] = (RunEnded,),
    also_pending: bool = False,
    views: Views = (),
    needs: Needs = (),
) -> Callable[[Invariant], Fold]:
    """An invariant about a run that has come to rest.

    ``rule`` is asked at each event of the types ``at``, if nothing is pending there; with ``also_pending`` it is asked
    where something is, too. It is not asked where the event does not say whether something is pending.
    """

    def at_rest(event: Event, *seen: object) -> Findings:
        pending = event.pending if isinstance(event, RunEnded | HealEnded) else ()
        if pending is None or (pending and not also_pending):
            return None
        return rule(event, *seen)

    return lambda invariant: FormFold(invariant, dict.fromkeys(at, at_rest), views, needs)
