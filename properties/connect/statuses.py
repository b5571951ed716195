"""Each status that a worker writes carries the generation of its last assignment."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentReceived,
    StatusAttempted,
    WorkerConfigured,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.stores import Item, item_of
from rebalance_check.properties.verdict import STEP, Violation


class StatusCarriesTheGenerationViolated(Violation):
    """A worker wrote a status with a generation that is not that of its last assignment."""


def work_named(item: Item | None) -> str:
    """The connector or task of a status key, as events of workers name it; "" for none."""
    return "-".join(item[1:]) if item is not None else ""


class _Generation(WorkerFold):
    needs = ((WorkerConfigured,), (ConnectAssignmentReceived,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAttempted: self.on_attempted})

    def on_attempted(self, event: StatusAttempted) -> None:
        """The herder's generation is that of the last assignment."""
        worker = self.memory.of_store(event.worker)
        if worker is None or worker.received is None or item_of(event.key) is None:
            return
        if event.generation != worker.received.generation:
            self.contradiction(
                f"{worker.name} wrote {event.status} with generation {event.generation}",
                (f"{worker.name} received its last assignment, of generation {worker.received.generation}, at {STEP}.",
                 worker.received),
                (f"it wrote a status of generation {event.generation} at {STEP}: contradiction.", event),
            )  # fmt: skip


StatusCarriesTheGeneration: Final = Invariant(
    name="status_carries_the_generation",
    family="connect_statuses",
    claim="a worker writes statuses with the generation of its last assignment",
    source="DistributedHerder.generation, AbstractHerder.onStartup",
    exempted_by=(ConnectAssignmentReceived,),
    violation=StatusCarriesTheGenerationViolated,
    fold=_Generation,
)
"""So UNASSIGNED of a revocation carries the generation before. The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    ConnectAssignmentReceived(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3)
    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", generation=1, safe=False)
"""


CLAIMS: Final = (StatusCarriesTheGeneration,)
"""In the order in which reports name them."""
