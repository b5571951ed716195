"""A worker joins its group only when it knows what the status topic holds."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    StatusStoreStarted,
    StatusStoreStarting,
    WorkerClaimed,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import STEP, Violation


class WorkerJoinsAfterItsStatusesViolated(Violation):
    """A worker joined its group before its status store had read the topic to the end."""


class _JoinsAfterItsStatuses(Fold):
    bookkeeping = frozenset({StatusStoreStarting, StatusStoreStarted, WorkerConfigured})
    needs = ((StatusStoreStarting,), (WorkerConfigured,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                WorkerConfigured: self.on_configured,
                StatusStoreStarting: self.on_starting,
                StatusStoreStarted: self.on_started,
                WorkerClaimed: self.on_claimed,
            },
        )
        self._stores: dict[str, str] = {}
        self._starting: dict[str, StatusStoreStarting] = {}

    def on_configured(self, event: WorkerConfigured) -> None:
        """The store has a name of its own."""
        self._stores[event.member] = event.store

    def on_starting(self, event: StatusStoreStarting) -> None:
        """It begins to read."""
        self._starting[event.worker] = event

    def on_started(self, event: StatusStoreStarted) -> None:
        """It has read what there was."""
        self._starting.pop(event.worker, None)

    def on_claimed(self, event: WorkerClaimed) -> None:
        """The worker builds the metadata of its JoinGroup."""
        starting = self._starting.get(self._stores.get(event.member, ""))
        if starting is not None:
            self.contradiction(
                f"{event.member} joined before it had read the status topic to the end",
                (f"its status store began to read at {STEP}, up to {', '.join(map(str, starting.ends))},", starting),
                (f"and had not ended when the worker was about to join at {STEP}: contradiction.", event),
            )


WorkerJoinsAfterItsStatuses: Final = Invariant(
    name="worker_joins_after_its_statuses",
    family="connect_statuses",
    claim="a worker joins its group only after its status store has read what the topic held when the store started",
    source="DistributedHerder.startServices; KafkaBasedLog.start",
    exempted_by=(StatusStoreStarted,),
    violation=WorkerJoinsAfterItsStatusesViolated,
    fold=_JoinsAfterItsStatuses,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    StatusStoreStarting(worker="w0", ends=(1,))
    WorkerClaimed(member="w0", generation=-1, url="u", config_offset=3, claim=None)
"""

CLAIMS: Final = (WorkerJoinsAfterItsStatuses,)
"""In the order in which reports name them."""
