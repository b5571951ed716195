"""Connect workers, by their events: the work that each claims, may start and runs.

The claims about workers share this memory. An unknown value stays unknown: a worker that records only starts and
stops has no claim here, and a claim about claims says nothing about it.
"""

from __future__ import annotations

from typing import ClassVar

from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    AssignmentAccepted,
    ConfigSnapshotTaken,
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    ConnectorStarted,
    ConnectorStopped,
    CoordinatorLost,
    Event,
    GenerationStarted,
    IncarnationStarted,
    LogTailLost,
    MemberAdded,
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
    """All workers of a group, and the rounds that their leaders computed.

    ``runners`` are the workers that run a connector or task and have not cancelled it.
    """

    uses: ClassVar = (Rounds,)

    def __init__(self, rounds: Rounds) -> None:
        self.rounds = rounds
        self.workers: dict[str, Worker] = {}
        self.names: Recent[str, str] = Recent(WAITING)
        self.by_store: dict[str, str] = {}
        self.runners: dict[str, dict[str, Worker]] = {}
        self._received_so_far = 0
        self._processes = 0
        self._incarnation = UNKNOWN_INCARNATION
        self._present: set[str] | None = None
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self._gone,
            MemberCrashed: self._gone,
            MemberLeft: self._gone,
            MemberJoined: self._joined,
            MembershipLost: self._lost,
            MemberRemoved: self._removed,
            IncarnationStarted: self._began,
            MemberAdded: self._added,
            GenerationStarted: self._generation,
            MemberPaused: self._paused,
            CoordinatorLost: self._paused,
            LogTailLost: self._tail_lost,
            WorkerConfigured: self._configured,
            WorkerClaimed: self._claimed,
            ConnectAssignmentComputed: self._computed,
            ConnectAssignmentReceived: self._received,
            RejoinRequested: self._rejoins,
            ConfigSnapshotTaken: self._snapshot,
            WorkRevocationStarted: self._revoking,
            WorkRevocationEnded: self._revoked,
            AssignmentAccepted: self._accepted,
            ConnectorStarted: self._started,
            TaskStarted: self._started,
            ConnectorStopped: self._stopped,
            TaskStopped: self._stopped,
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
        name = self.names.get(member_id)
        return self.workers.get(name) if name is not None else None

    def of_store(self, store: str) -> Worker | None:
        """The worker whose status store has this name."""
        name = self.by_store.get(store)
        return self.workers.get(name) if name is not None else None

    def each(self) -> list[Worker]:
        """The workers, by name."""
        return [self.workers[name] for name in sorted(self.workers)]

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
        self._drop(event.member)

    def _drop(self, name: str) -> None:
        worker = self.workers.pop(name, None)
        if worker is None:
            return
        self.by_store.pop(worker.store, None)
        for work in list(worker.running):
            self._end(worker, work)

    def _joined(self, event: MemberJoined) -> None:
        """A worker built its metadata before it joined; members that did not are no workers."""
        worker = self.workers.get(event.member)
        if worker is not None:
            worker.joined = event
            self._identify(worker, event.member_id)

    def _identify(self, worker: Worker, member_id: str) -> None:
        if member_id:
            worker.member_id = member_id
            self.names[member_id] = worker.name

    def _rejoins(self, event: RejoinRequested) -> None:
        """It may not speak for its assignment until it gets another one."""
        self.of(event.member).unstable = event

    def _lost(self, event: MembershipLost) -> None:
        """The worker learned that it is no member; its work goes on."""
        worker = self.workers.get(event.member)
        if worker is not None:
            worker.unstable, worker.lost, worker.member_id = event, event, ""
            worker.outdate(event)

    def _began(self, event: IncarnationStarted) -> None:
        """A coordinator that begins without a worker may give its work to others."""
        if event.incarnation < self._incarnation:
            return
        self._incarnation, self._present = event.incarnation, set(event.members)
        for worker in self.workers.values():
            if worker.member_id and worker.member_id not in event.members:
                worker.outdate(event)

    def is_behind(self, worker: Worker, generation: int) -> bool:
        """Whether the coordinator's events show a worker in a generation that the worker itself has not joined yet."""
        joined = worker.joined
        return self._present is not None and joined is not None and joined.generation < generation

    def _added(self, event: MemberAdded) -> None:
        """A member id entered the group."""
        if self._present is not None and event.incarnation == self._incarnation:
            self._present.add(event.member_id)

    def _generation(self, event: GenerationStarted) -> None:
        """These are the members now."""
        if self._present is not None and event.incarnation == self._incarnation:
            self._present.update(event.members)

    def _removed(self, event: MemberRemoved) -> None:
        """The coordinator removed the worker, which does not know it yet."""
        if self._present is not None and event.incarnation == self._incarnation:
            self._present.discard(event.member_id)
        worker = self.with_id(event.member_id)
        if worker is not None and worker.member_id == event.member_id:
            worker.outdate(event)

    def _paused(self, event: MemberPaused | CoordinatorLost) -> None:
        """Without the coordinator's own events a history does not say how long a silent worker is a member."""
        worker = self.workers.get(event.member)
        if worker is not None and not self.rounds.have_coordinator_events:
            worker.outdate(event)

    def _tail_lost(self, event: LogTailLost) -> None:
        """Without the coordinator's own events it is open which members a log still has that lost its end."""
        for worker in self.workers.values():
            if not self.rounds.have_coordinator_events:
                worker.outdate(event)

    def _configured(self, event: WorkerConfigured) -> None:
        """A worker began."""
        self._drop(event.member)
        worker = self.of(event.member)
        worker.configured = event
        if event.store:
            self.by_store[event.store] = event.member

    # ------------------------------------------------------------------------------------------------ rounds

    def _claimed(self, event: WorkerClaimed) -> None:
        """It is about to join."""
        worker = self.of(event.member)
        worker.unstable = event
        worker.lost = None
        if event.member_id:
            self.names[event.member_id] = worker.name

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

    def _snapshot(self, event: ConfigSnapshotTaken) -> None:
        """It looks at the config topic."""
        self.of(event.member).snapshot = event

    def _revoking(self, event: WorkRevocationStarted) -> None:
        """It stops work."""
        self.of(event.member).begin_revocation(event)

    def _revoked(self, event: WorkRevocationEnded) -> None:
        """It has stopped work."""
        self.of(event.member).end_revocation()

    def _accepted(self, event: AssignmentAccepted) -> None:
        """It starts the work that its assignment adds."""
        self.of(event.member).accept(event)

    # ------------------------------------------------------------------------------------------------ running

    def _started(self, event: Started) -> None:
        """The work runs; a worker that the coordinator has removed does not know the work of others meanwhile.

        Nor does a herder whose membership ended until it joins again: it restarts the work of its claim (KAFKA-16056).
        """
        worker, work = self.of(event.member), work_of(event)
        self._identify(worker, event.member_id)
        worker.running[work] = event
        self.runners.setdefault(work, {})[worker.name] = worker
        for known in (worker.failed, worker.states, worker.carried, worker.leftovers, worker.outdated):
            known.pop(work, None)
        removed = self._present is not None and event.member_id and event.member_id not in self._present
        if removed or (worker.lost is not None and work in worker.admitted):
            worker.outdated[work] = event

    def _stopped(self, event: ConnectorStopped | TaskStopped) -> None:
        """The work runs no more."""
        self._end(self.of(event.member), work_of(event))

    def _cancelled(self, event: WorkCancelled) -> None:
        """The worker no longer counts on the work; it may still run."""
        self._end(self.of(event.member), event.work)

    def _state(self, event: WorkStateChanged) -> None:
        """Failed work runs no more, until it is in another state; paused work still belongs to the worker."""
        worker = self.of(event.member)
        worker.failed.pop(event.work, None)
        worker.states[event.work] = event
        if event.state == FAILED:
            self._end(worker, event.work)
            worker.failed[event.work] = worker.states[event.work] = event

    def _end(self, worker: Worker, work: str) -> None:
        for known in (worker.running, worker.carried, worker.leftovers, worker.outdated, worker.states):
            known.pop(work, None)
        runners = self.runners.get(work, {})
        runners.pop(worker.name, None)
        if not runners:
            self.runners.pop(work, None)
