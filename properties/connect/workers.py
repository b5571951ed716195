"""What an observer may conclude about Connect workers from events: what each claims, may start and runs.

The claims about workers share this memory. What is unknown stays unknown: a worker that records only what starts and
stops has no claim here, and a claim about claims says nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    AssignmentAccepted,
    CancelledWorkEnded,
    ConfigSnapshotTaken,
    ConnectAssignmentComputed,
    ConnectAssignmentReceived,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    GenerationStarted,
    HealEnded,
    IncarnationStarted,
    MemberAdded,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    RejoinRequested,
    RunEnded,
    RunSettled,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationEnded,
    WorkRevocationStarted,
    WorkStateChanged,
)
from rebalance_check.properties.kinds import Fold, Handler, Memories, Memory
from rebalance_check.properties.views.holdings import EAGER, Round, Rounds
from rebalance_check.properties.views.recent import DEPARTED, GENERATIONS, Recent

NO_ERROR: Final = "NONE"
COORDINATOR_UNKNOWN: Final = "coordinator unknown"
FAILED: Final = "FAILED"

Started = ConnectorStarted | TaskStarted
"""A connector or a task was started."""

SHOWS_WHAT_RUNS: Final[tuple[type[Event], ...]] = (
    CancelledWorkEnded,
    ConnectorStopped,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    TaskStopped,
    WorkCancelled,
    WorkStateChanged,
)
"""What may show that a worker runs a connector or a task no longer."""


@dataclass(slots=True, eq=False)
class Worker:
    """One worker process, from its start to its end.

    ``claim`` is its assignment snapshot as its assignments make it, by work with the event that added it, and None
    where it has none. ``admitted`` is what it may start, ``running`` what it runs and has not cancelled, ``failed``
    what failed since it was started last, ``leftovers`` what it went on running when an eager assignment replaced a
    claim, and ``outdated`` what it went on running when its membership ended, with the event that shows the end.
    ``unstable`` is why it may no longer speak for its assignment, ``lost`` how its membership ended if it has not built
    the metadata of another JoinGroup since. ``known`` says that its assignments are recorded.
    """

    name: str
    configured: WorkerConfigured | None = None
    member_id: str = ""
    claimed: WorkerClaimed | None = None
    received: ConnectAssignmentReceived | None = None
    accepted: AssignmentAccepted | None = None
    snapshot: ConfigSnapshotTaken | None = None
    revoking: WorkRevocationStarted | None = None
    unstable: Event | None = None
    lost: MembershipLost | None = None
    joined: MemberJoined | None = None
    claim: dict[str, Event] | None = None
    admitted: set[str] = field(default_factory=set)
    running: dict[str, Started] = field(default_factory=dict)
    cancelled: dict[str, list[WorkCancelled]] = field(default_factory=dict)
    failed: dict[str, WorkStateChanged] = field(default_factory=dict)
    states: dict[str, WorkStateChanged] = field(default_factory=dict)
    leftovers: dict[str, Event] = field(default_factory=dict)
    outdated: dict[str, Event] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether the history shows the assignments of this worker."""
        return self.received is not None

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is due: no other round, no delay, no error, and no newer configs."""
        received, snapshot = self.received, self.snapshot
        return (
            received is not None
            and received.error == NO_ERROR
            and not received.delay_ms
            and self.unstable is None
            and (snapshot is None or snapshot.offset == received.config_offset)
        )

    @property
    def is_eager(self) -> bool:
        """Whether its last assignment came under the eager protocol."""
        return self.received is not None and self.received.protocol == EAGER

    @property
    def leads(self) -> bool:
        """Whether its last assignment names it as the leader."""
        return self.received is not None and bool(self.member_id) and self.received.leader == self.member_id

    @property
    def store(self) -> str:
        """The name of its status store, "" where the history does not give it."""
        return self.configured.store if self.configured is not None else ""


def work_of(event: Started | ConnectorStopped | TaskStopped) -> str:
    """The name of the connector or task that was started or stopped."""
    return event.connector if isinstance(event, ConnectorStarted | ConnectorStopped) else event.task


def listed(work: Iterable[str]) -> str:
    """``sink, sink-0 and sink-1``, sorted; ``nothing`` where there is none."""
    names = sorted(work)
    if len(names) < 2:
        return names[0] if names else "nothing"
    return f"{', '.join(names[:-1])} and {names[-1]}"


class Workers(Memory):
    """All workers of a group, and the rounds that their leaders computed.

    ``runners`` are the workers that run a connector or task and have not cancelled it.
    """

    def __init__(self, rounds: Rounds) -> None:
        self.rounds = rounds
        self.workers: dict[str, Worker] = {}
        self.computed: Recent[Round, ConnectAssignmentComputed] = Recent(GENERATIONS)
        self.names: Recent[str, str] = Recent(DEPARTED)
        self.by_store: dict[str, str] = {}
        self.runners: dict[str, dict[str, Worker]] = {}
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
            CancelledWorkEnded: self._cancelled_ended,
            WorkStateChanged: self._state,
        }
        super().__init__(handlers)

    @classmethod
    def begin(cls, memories: Memories) -> Workers:
        """Built on what the coordinator says about generations."""
        return cls(Rounds.among(memories))

    def of(self, name: str) -> Worker:
        """The worker process of that name."""
        worker = self.workers.get(name)
        if worker is None:
            worker = self.workers[name] = Worker(name)
        return worker

    def with_id(self, member_id: str) -> Worker | None:
        """The worker that joined under a member id, if the history shows it."""
        name = self.names.get(member_id)
        return self.workers.get(name) if name is not None else None

    def of_store(self, store: str) -> Worker | None:
        """The worker whose status store has this name."""
        name = self.by_store.get(store)
        return self.workers.get(name) if name is not None else None

    def round_computed(self, event: ConnectAssignmentReceived) -> ConnectAssignmentComputed | None:
        """What the leader computed for the generation of an assignment."""
        return self.computed.get(self.rounds.round_of(event))

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
            self._outdate(worker, event)

    def _began(self, event: IncarnationStarted) -> None:
        """A coordinator that begins without a worker may give its work to others."""
        if event.incarnation < self._incarnation:
            return
        self._incarnation, self._present = event.incarnation, set(event.members)
        for worker in self.workers.values():
            if worker.member_id and worker.member_id not in event.members:
                self._outdate(worker, event)

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
            self._outdate(worker, event)

    def _paused(self, event: MemberPaused) -> None:
        """Without the coordinator's own events nobody knows how long a paused worker is a member."""
        worker = self.workers.get(event.member)
        if worker is not None and not self.rounds.have_coordinator_events:
            self._outdate(worker, event)

    @staticmethod
    def _outdate(worker: Worker, event: Event) -> None:
        for work in worker.running:
            worker.outdated.setdefault(work, event)

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
        worker.claimed = worker.unstable = event
        worker.lost = None
        if event.member_id:
            self.names[event.member_id] = worker.name

    def _computed(self, event: ConnectAssignmentComputed) -> None:
        """The leader has its own member id."""
        self._identify(self.of(event.member), event.member_id)
        self.computed[self.rounds.round_of(event)] = event

    def _received(self, event: ConnectAssignmentReceived) -> None:
        """The eager protocol replaces a claim; the others add what is assigned and take away what is revoked."""
        worker = self.of(event.member)
        self._identify(worker, event.member_id)
        if event.protocol == EAGER:
            if worker.known and not worker.is_eager:
                worker.leftovers.update(dict.fromkeys(set(worker.running) - set(event.assigned), event))
            worker.claim = dict.fromkeys(event.assigned, event)
        else:
            kept = {work: since for work, since in (worker.claim or {}).items() if work not in event.revoked}
            worker.claim = {**kept, **dict.fromkeys(event.assigned, event)}
        if event.error == NO_ERROR:
            worker.outdated.clear()
        worker.received, worker.accepted, worker.unstable = event, None, None

    def _snapshot(self, event: ConfigSnapshotTaken) -> None:
        """It looks at the config topic."""
        self.of(event.member).snapshot = event

    def _revoking(self, event: WorkRevocationStarted) -> None:
        """What is being stopped may be started again only when it is assigned again."""
        worker = self.of(event.member)
        worker.revoking = event
        worker.admitted.difference_update(event.work)

    def _revoked(self, event: WorkRevocationEnded) -> None:
        """A worker that found no coordinator forgets its assignment."""
        worker = self.of(event.member)
        if worker.revoking is not None and worker.revoking.reason == COORDINATOR_UNKNOWN:
            worker.claim = None
        worker.revoking = None

    def _accepted(self, event: AssignmentAccepted) -> None:
        """It starts what its assignment adds."""
        worker = self.of(event.member)
        worker.accepted = event
        worker.admitted.update(event.work)

    # ------------------------------------------------------------------------------------------------ what runs

    def _started(self, event: Started) -> None:
        """The work runs; a worker that the coordinator has removed does not know what others run meanwhile.

        Nor does a herder whose membership ended until it joins again: it restarts what it claims (KAFKA-16056).
        """
        worker, work = self.of(event.member), work_of(event)
        self._identify(worker, event.member_id)
        worker.running[work] = event
        self.runners.setdefault(work, {})[worker.name] = worker
        for known in (worker.failed, worker.states, worker.leftovers, worker.outdated):
            known.pop(work, None)
        removed = self._present is not None and event.member_id and event.member_id not in self._present
        if removed or (worker.lost is not None and work in worker.admitted):
            worker.outdated[work] = event

    def _stopped(self, event: ConnectorStopped | TaskStopped) -> None:
        """The work runs no more."""
        self._end(self.of(event.member), work_of(event))

    def _cancelled(self, event: WorkCancelled) -> None:
        """The worker no longer counts on the work; it may still run."""
        worker = self.of(event.member)
        self._end(worker, event.work)
        worker.cancelled.setdefault(event.work, []).append(event)

    def _cancelled_ended(self, event: CancelledWorkEnded) -> None:
        """One run of the work that was cancelled is over."""
        cancelled = self.of(event.member).cancelled
        runs = cancelled.get(event.work, [])
        if runs[1:]:
            runs.pop(0)
        else:
            cancelled.pop(event.work, None)

    def _state(self, event: WorkStateChanged) -> None:
        """What failed runs no more; what is paused still belongs to the worker."""
        worker = self.of(event.member)
        worker.states[event.work] = event
        if event.state == FAILED:
            self._end(worker, event.work)
            worker.failed[event.work] = worker.states[event.work] = event

    def _end(self, worker: Worker, work: str) -> None:
        for known in (worker.running, worker.leftovers, worker.outdated, worker.states):
            known.pop(work, None)
        runners = self.runners.get(work, {})
        runners.pop(worker.name, None)
        if not runners:
            self.runners.pop(work, None)


Converged: TypeAlias = RunSettled | HealEnded | RunEnded
"""The harness may have seen the group converged."""

CONVERGED: Final[tuple[type[Event], ...]] = (HealEnded, RunEnded, RunSettled)


class WorkerFold(Fold):
    """A fold that looks at what the workers must hold; ``memory`` took the event at hand before."""

    memory: Workers

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same workers."""
        self.memory = Workers.among(memories)
        self.memories = (self.memory.rounds, self.memory)

    def converged(self) -> bool:
        """Whether all workers are at rest in one generation, and have read what it was computed from, and no more."""
        workers = [worker for worker in self.each_worker() if worker.known]
        return len({worker.received.generation for worker in workers if worker.received}) == 1 and all(
            worker.is_at_rest for worker in workers
        )

    def each_worker(self) -> Iterable[Worker]:
        """The workers, by name."""
        return (self.memory.workers[name] for name in sorted(self.memory.workers))
