"""A worker applies the target states that the config topic says."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import ConfigSnapshotTaken, TargetStateChanged
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation


class AppliedTargetStateIsCurrentViolated(Violation):
    """A worker applied another target state than it had read."""


class _Applied(WorkerFold):
    needs = ((ConfigSnapshotTaken,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {TargetStateChanged: self.on_changed})
        self.compared = 0

    def on_changed(self, event: TargetStateChanged) -> None:
        """The last snapshot says the same of the connector."""
        snapshot = self.memory.of(event.member).snapshot
        wanted = dict(snapshot.target_states).get(event.connector) if snapshot is not None else None
        if snapshot is None or wanted is None:
            return
        self.compared = (self.compared or 0) + 1
        if wanted != event.state:
            self.contradiction(
                f"{event.member} has {event.connector} {event.state}, which should be {wanted}",
                (f"{event.member} read at {STEP} that {event.connector} should be {wanted};", snapshot),
                (f"it applies {event.state} at {STEP}: contradiction.", event),
            )


AppliedTargetStateIsCurrent: Final = Invariant(
    name="applied_target_state_is_current",
    family="connect_work",
    claim="a worker applies the target state of a connector that its last snapshot of the config topic has",
    source="DistributedHerder.processTargetStateChanges; KIP-875",
    premises=("a connector without a target state in the snapshot says nothing",),
    exempted_by=(ConfigSnapshotTaken,),
    violation=AppliedTargetStateIsCurrentViolated,
    fold=_Applied,
)
"""The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=3, connectors=(("c", "x"),), target_states=(("c", "PAUSED"),))
    TargetStateChanged(member="w0", connector="c", state="STARTED")
"""

CLAIMS: Final = (AppliedTargetStateIsCurrent,)
"""In the order in which reports name them."""
