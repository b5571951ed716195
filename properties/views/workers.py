"""Connect workers, by their events: the work that each claims, may start and runs.

The claims about workers share this memory. An unknown value stays unknown: a worker that records only starts and
stops has no claim here, and a claim about claims says nothing about it.
"""

from __future__ import annotations

from typing import ClassVar

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    AssignmentCompleted,
    ConfigSnapshotTaken,
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    ConnectorStarted,
    ConnectorStopped,
    CoordinatorLost,
    Event,
    GenerationEvent,
    IncarnationStarted,
    LogTailLost,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    RejoinRequested,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationEnded,
    WorkRevocationStarted,
    WorkStateChanged,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.holdings import Rounds
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.worker import FAILED, Started, Worker, work_of


class Workers(Memory):
    """All workers of a group."""

    uses: ClassVar = (Rounds,)

    def __init__(self, rounds: Rounds) -> None:
        self.rounds = rounds
        self.workers: dict[str, Worker] = {}
        self.names: Recent[str, str] = Recent(WAITING)
        self._joins: Recent[str, MemberJoined] = Recent(WAITING)
        self._received_so_far = 0
        self._processes = 0
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((MemberStarted, MemberCrashed, MemberLeft), self._gone),
            MemberJoined: self._joined,
            MembershipLost: self._lost,
            MemberRemoved: self._removed,
            IncarnationStarted: self._began,
            **dict.fromkeys((MemberPaused, CoordinatorLost), self._silent),
            LogTailLost: self._tail_lost,
            WorkerConfigured: self._configured,
            ConnectAssignmentComputed: self._computed,
            ConnectAssignmentReceived: self._received,
            **dict.fromkeys((ConfigSnapshotTaken, RejoinRequested, AssignmentAccepted), self._acts),
            **dict.fromkeys((WorkerClaimed, WorkRevocationStarted, WorkRevocationEnded), self._acts),
            AssignmentCompleted: self._completed,
            **dict.fromkeys((ConnectorStarted, TaskStarted), self._started),
            **dict.fromkeys((ConnectorStopped, TaskStopped), self._stopped),
            WorkCancelled: self._cancelled,
            WorkStateChanged: self._state,
        }
        super().__init__(handlers)

    def of(self, name: str) -> Worker:
        """The worker process of that name."""
        worker = self.workers.get(name)
        if worker is None:
            self._processes += 1
            worker = self.workers[name] = Worker(name, self._processes)
        return worker

    def with_id(self, member_id: str) -> Worker | None:
        """The worker that joined under a member id, if the history shows it."""
        return self.workers.get(self.names.get(member_id, ""))

    def of_store(self, store: str) -> Worker | None:
        """The worker whose status store has this name."""
        return next((worker for worker in self.workers.values() if store and worker.store == store), None)

    def each(self) -> list[Worker]:
        """The workers, by name."""
        return [self.workers[name] for name in sorted(self.workers)]

    def runners(self, work: str) -> list[Worker]:
        """The workers that run a connector or task and have not cancelled it."""
        return [worker for worker in self.workers.values() if work in worker.running]

    @property
    def have_converged(self) -> bool:
        """Whether all workers are at rest in one generation, and have read the records of its assignment, and no
        more."""
        known = [worker for worker in self.workers.values() if worker.received is not None]
        generations = {worker.received.generation for worker in known if worker.received}
        return len(generations) == 1 and all(worker.is_at_rest for worker in known)

    # ------------------------------------------------------------------------------------------------ membership

    def _gone(self, event: MemberStarted | MemberCrashed | MemberLeft) -> None:
        """The process starts anew or ended."""
        self.workers.pop(event.member, None)
        self._joins.pop(event.member, None)

    def _configured(self, event: WorkerConfigured) -> None:
        """A worker began."""
        self.workers.pop(event.member, None)
        self.of(event.member).configured = event

    def _joined(self, event: MemberJoined) -> None:
        """A worker built its metadata before it joined; a member that did not is one when it starts something."""
        self._joins[event.member] = event
        worker = self.workers.get(event.member)
        if worker is not None:
            worker.joined = event
            self._identify(worker, event.member_id)

    def _identify(self, worker: Worker, member_id: str) -> None:
        if member_id:
            worker.member_id = member_id
            self.names[member_id] = worker.name

    def _lost(self, event: MembershipLost) -> None:
        """The worker learned that it is no member; its work goes on."""
        worker = self.workers.get(event.member)
        if worker is not None:
            worker.unstable, worker.lost, worker.member_id = event, event, ""
            worker.outdate(event)

    def _began(self, event: IncarnationStarted) -> None:
        """A coordinator that begins without a worker may give its work to others."""
        for worker in self.workers.values():
            if self.rounds.is_absent(worker.member_id):
                worker.outdate(event)

    def _removed(self, event: MemberRemoved) -> None:
        """The coordinator removed the worker, which does not know it yet."""
        worker = self.with_id(event.member_id)
        if worker is not None and worker.member_id == event.member_id:
            worker.outdate(event)

    def _silent(self, event: MemberPaused | CoordinatorLost) -> None:
        """Without the coordinator's own events a history does not say how long a silent worker is a member."""
        worker = self.workers.get(event.member)
        if worker is not None and not self.rounds.have_coordinator_events:
            worker.outdate(event)

    def _tail_lost(self, event: LogTailLost) -> None:
        """Without the coordinator's own events it is open which members a log still has that lost its end."""
        for worker in () if self.rounds.have_coordinator_events else self.workers.values():
            worker.outdate(event)

    def is_behind(self, worker: Worker, generation: int) -> bool:
        """Whether the coordinator's events show a worker in a generation that the worker itself has not joined yet."""
        joined = worker.joined
        return self.rounds.have_coordinator_events and joined is not None and joined.generation < generation

    # ------------------------------------------------------------------------------------------------ rounds

    def _computed(self, event: ConnectAssignmentComputed) -> None:
        """The leader has its own member id."""
        self._identify(self.of(event.member), event.member_id)

    def _received(self, event: ConnectAssignmentReceived) -> None:
        """The round is over for the worker, which is a member again."""
        worker = self.of(event.member)
        self._identify(worker, event.member_id)
        self._received_so_far += 1
        worker.rounds = self._received_so_far
        worker.receive(event)

    def _acts(self, event: GenerationEvent) -> None:
        self.of(event.member).act(event)

    def _completed(self, event: AssignmentCompleted) -> None:
        """A worker whose history has no assignments of Connect knows from here on which work is its own, if it is a
        member: the assignment of one that the coordinator has removed may come late."""
        worker = self.workers.get(event.member)
        if worker is not None and worker.received is None and not self.rounds.is_absent(event.member_id):
            worker.outdated.clear()

    # ------------------------------------------------------------------------------------------------ running

    def _started(self, event: Started) -> None:
        """The work runs; a worker that the coordinator has removed does not know the work of others meanwhile.

        Nor does a herder whose membership ended until it joins again: it restarts the work of its claim (KAFKA-16056).
        """
        worker, work = self.of(event.member), work_of(event)
        worker.joined = worker.joined or self._joins.get(event.member)
        self._identify(worker, event.member_id)
        worker.end(work)
        worker.failed.pop(work, None)
        worker.running[work] = event
        if worker.claim and work in worker.claim:
            worker.started_for[work] = worker.claim[work]
        if self.rounds.is_absent(event.member_id) or (worker.lost is not None and work in worker.admitted):
            worker.outdated[work] = event

    def _stopped(self, event: ConnectorStopped | TaskStopped) -> None:
        """The work runs no more."""
        self.of(event.member).end(work_of(event))

    def _cancelled(self, event: WorkCancelled) -> None:
        """The worker no longer counts on the work; it may still run."""
        self.of(event.member).end(event.work)

    def _state(self, event: WorkStateChanged) -> None:
        """Failed work runs no more, until it is in another state; paused work still belongs to the worker."""
        worker = self.of(event.member)
        worker.failed.pop(event.work, None)
        if event.state == FAILED:
            worker.end(event.work)
            worker.failed[event.work] = event
        worker.states[event.work] = event
