"""What waits in the queue of a herder is served when its time has come, unless the herder itself waits."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    HerderRequestEnded,
    HerderRequestQueued,
    HerderRequestStarted,
    MemberEvent,
    WorkerConfigured,
)
from rebalance_check.properties.connect.herder_queue import Queue, turn_of
from rebalance_check.properties.connect.idle_herders import BOOKKEEPING, Due, IdleHerderFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Violation
from rebalance_check.properties.views.simulated import RECORDED

WAITS_FOR_NOTHING: Final = (
    "it is no worker with exactly-once support, whose leader may have to claim its privilege anew"
)


class DueRequestsAreServedViolated(Violation):
    """A herder that waited for nothing left a request in its queue whose time had come."""


class _DueRequests(IdleHerderFold):
    """Per worker: its queue, too."""

    bookkeeping = BOOKKEEPING | {HerderRequestQueued, WorkerConfigured}
    needs = ((WorkerConfigured,), (HerderRequestQueued,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {HerderRequestQueued: self.on_queued})
        self._queues: dict[str, Queue] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Its queue is gone."""
        super().on_process(event)
        self._queues.pop(event.member, None)

    def on_queued(self, event: HerderRequestQueued) -> None:
        """It waits until its time."""
        self.look(event.member, event)
        if self.paces.run.is_recorded:
            self._queues.setdefault(event.member, Queue()).waiting[event.number] = event

    def on_started(self, event: HerderRequestStarted) -> None:
        """It waits no longer."""
        super().on_started(event)
        self._remove(event)

    def on_ended(self, event: HerderRequestEnded) -> None:
        """It waits no longer."""
        super().on_ended(event)
        self._remove(event)

    def _remove(self, event: HerderRequestStarted | HerderRequestEnded) -> None:
        queue = self._queues.get(event.member)
        if queue is not None:
            queue.waiting.pop(event.number, None)

    def due(self, member: str) -> Due | None:
        """The first that waits."""
        queue = self._queues.get(member)
        head = None if queue is None else queue.head()
        return None if head is None else Due(turn_of(head)[0], head, f"serve a request to {head.operation} {head.work}")

    def done(self, due: Due) -> None:
        """The next one is looked at."""
        if isinstance(due.event, HerderRequestQueued):
            del self._queues[due.event.member].waiting[due.event.number]


DueRequestsAreServed: Final = Invariant(
    name="due_requests_are_served",
    family="connect_duties",
    claim="a worker that takes part in no round, serves no other request, and in which nothing happens but heartbeats, "
    "leaves no request in its herder's queue whose time has come",
    source="DistributedHerder.tick (nextRequestTimeoutMs), addRequest; WorkerGroupMember.poll",
    premises=(RECORDED, WAITS_FOR_NOTHING),
    exempted_by=(*sorted(BOOKKEEPING, key=lambda kind: kind.__name__),),
    violation=DueRequestsAreServedViolated,
    fold=_DueRequests,
)  # fmt: skip
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="w0")
    WorkerConfigured(member="w0", mode="eager")
    AssignmentAccepted(member="w0", generation=1, config_offset=0, work=())
    HerderRequestQueued(member="w0", number=0, operation="reconfigure", work="c", delay_ms=250)
    RunEnded(time_ms=900)
"""

CLAIMS: Final = (DueRequestsAreServed,)
"""In the order in which reports name them."""
