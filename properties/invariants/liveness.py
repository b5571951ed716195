"""Progress, as the run reports it of itself: once no disturbance comes any more, its rebalances complete.

The claims of `answering` and `owning` see the same from events alone.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import RunEnded
from rebalance_check.properties.kinds import Fold, Invariant, Kind, Memories
from rebalance_check.properties.standstill.explain import Standstill
from rebalance_check.properties.standstill.tail import Tail
from rebalance_check.properties.verdict import STEP, Because, Violation
from rebalance_check.properties.views.coordinator import Incarnations


class RebalanceCompletesViolated(Violation):
    """The run healed, had its time, and something was still pending."""


class _Completes(Fold):
    """Takes the end of the run; what came before it, the memories keep."""

    compared: int | None = 0

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RunEnded: self.on_ended})

    def share(self, memories: Memories) -> None:
        """The last events, and the group as its coordinator has it."""
        self.tail = Tail.among(memories)
        self.incarnations = Incarnations.among(memories)
        self.memories = (self.tail, self.incarnations)

    def on_ended(self, event: RunEnded) -> None:
        """The run names what has not converged; its last events say why."""
        if event.pending is None:
            return
        self.compared = 1
        if not event.pending:
            return
        first, *others = event.pending
        more = f" and {len(others)} more" if others else ""
        standstill = Standstill(event, list(self.tail.events), self.incarnations.latest, self.tail.is_punctual)
        loops = standstill.loops
        reasons = list(standstill.reasons(loops))
        pending = "; ".join(event.pending)
        reasons.append(Because(f"when the run ended at {STEP}, this was pending: {pending}.", event))
        turns = [one for loop in loops for one in loop.turn]
        concerned = {id(reason.event) for reason in reasons} | {id(one) for one in turns}
        known = {id(one) for one in standstill.events}
        before = [one.event for one in reasons if one.event is not None and id(one.event) not in known]
        events = [*before, *(one for one in standstill.events if id(one) in concerned)]
        self.violated(f"{first}{more}", reasons, events, turns)


RebalanceCompletes: Final = Invariant(
    name="rebalance_completes",
    family="liveness",
    claim="once the disturbances end, every rebalance completes and every partition finds its owner",
    source="classic group protocol: join phase, sync phase and session expiry are all bounded in time",
    premises=(
        "the run ended in an orderly way, after a healed phase that was long enough",
        "the subject names in RunEnded what had not converged",
    ),
    violation=RebalanceCompletesViolated,
    fold=_Completes,
    kind=Kind.LIVENESS,
    needs_end=True,
)
"""Once the disturbances end, every rebalance completes and every partition finds its owner.

Source: the join phase is bounded by the rebalance timeout, the sync phase by the same, a silent member by its session
timeout; so a healed group comes to rest in bounded time.

The smallest history that breaks it::

    RunEnded(pending=("m0 waits for a SyncGroup reply",))
"""

CLAIMS: Final = (RebalanceCompletes,)
"""In the order in which reports name them."""
