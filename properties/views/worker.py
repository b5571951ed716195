"""One Connect worker, by its events: the work that it claims, may start and runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
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

EAGER: Final = "default"
"""The subprotocol of Connect under which every worker stops all work before it joins."""

NO_ERROR: Final = "NONE"
COORDINATOR_UNKNOWN: Final = "coordinator unknown"
FAILED: Final = "FAILED"

Started = ConnectorStarted | TaskStarted
"""A connector or a task was started."""

SHOWS_WHAT_RUNS: Final[tuple[type[Event], ...]] = (
    ConnectorStopped,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    TaskStopped,
    WorkCancelled,
    WorkStateChanged,
)
"""Events that may show that a worker runs a connector or a task no longer."""


@dataclass(slots=True, eq=False)
class Worker:
    """One worker process, from its start to its end.

    ``claim`` is its assignment snapshot as its assignments make it, by work with the event that added it, and None
    where it has none. ``admitted`` is the work that it may start, ``running`` that which it runs and has not cancelled,
    ``failed`` that which failed since its last start, ``left`` that which it ran under an incremental protocol when an
    eager assignment came, and goes on beyond its claim (KAFKA-13816), and ``outdated`` work that goes on when its
    membership ended, with the event that shows the end. ``rounds`` counts the assignments of all workers up to its last
    one. ``started_for`` is by work the assignment that gave it what it started last. ``unstable`` is why it may no
    longer speak for its assignment, ``lost`` how its membership ended if it has not built the metadata of another
    JoinGroup since. ``number`` distinguishes the processes of one name.
    """

    name: str
    number: int = 0
    configured: WorkerConfigured | None = None
    member_id: str = ""
    received: ConnectAssignmentReceived | None = None
    rounds: int = 0
    snapshot: ConfigSnapshotTaken | None = None
    unstable: Event | None = None
    lost: MembershipLost | None = None
    joined: MemberJoined | None = None
    gives_all_up: bool = False
    claim: dict[str, ConnectAssignmentReceived] | None = None
    admitted: set[str] = field(default_factory=set)
    running: dict[str, Started] = field(default_factory=dict)
    started_for: dict[str, ConnectAssignmentReceived] = field(default_factory=dict)
    failed: dict[str, WorkStateChanged] = field(default_factory=dict)
    states: dict[str, WorkStateChanged] = field(default_factory=dict)
    left: dict[str, Event] = field(default_factory=dict)
    outdated: dict[str, Event] = field(default_factory=dict)

    @property
    def known_work(self) -> set[str]:
        """The connectors and tasks that it claims, runs, or has run until they failed."""
        return {*(self.claim or ()), *self.running, *self.failed, *self.states}

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

    def ignores(self, other: Worker) -> bool:
        """Whether its last assignment is an eager one, which ignores the work of ``other`` since an incremental one."""
        later = other.received is not None and not other.is_eager and other.rounds < self.rounds
        return self.is_eager and later

    @property
    def leads(self) -> bool:
        """Whether its last assignment names it as the leader."""
        return self.received is not None and bool(self.member_id) and self.received.leader == self.member_id

    @property
    def store(self) -> str:
        """The name of its status store, "" where the history does not give it."""
        return self.configured.store if self.configured is not None else ""

    def receive(self, event: ConnectAssignmentReceived) -> None:
        """The eager protocol replaces a claim; the others add assigned work and take revoked work away."""
        kept = self.claim or {}
        if self.received is not None and event.generation < self.received.generation:
            self.started_for.clear()
        if event.protocol == EAGER:
            if self.received is not None and not self.is_eager:
                self.left = dict.fromkeys(self.running, event)
            kept = {}
        assigned = dict.fromkeys(event.assigned, event)
        self.claim = {**{work: since for work, since in kept.items() if work not in event.revoked}, **assigned}
        for work in self.failed.keys() - self.claim.keys():
            del self.failed[work]
        if event.error == NO_ERROR:
            self.outdated.clear()
        self.received, self.unstable = event, None

    def act(self, event: Event) -> None:
        """It reads its configs, asks for a round, stops work, or starts the work that its assignment adds.

        Work that is being stopped may be started again only when it is assigned again. A worker that found no
        coordinator forgets its assignment.
        """
        match event:
            case ConfigSnapshotTaken():
                self.snapshot = event
            case RejoinRequested():
                self.unstable = event
            case WorkerClaimed():
                self.unstable, self.lost = event, None
            case WorkRevocationStarted():
                self.gives_all_up = event.reason == COORDINATOR_UNKNOWN
                self.admitted.difference_update(event.work)
            case WorkRevocationEnded():
                self.claim = None if self.gives_all_up else self.claim
                self.gives_all_up = False
            case AssignmentAccepted():
                self.left = {work: since for work, since in self.left.items() if work not in (self.claim or ())}
                self.admitted.update(event.work)

    def outdate(self, event: Event) -> None:
        """Its work may be given to others from this event on, and it does not know."""
        for work in self.running:
            self.outdated.setdefault(work, event)

    def end(self, work: str) -> None:
        """The work runs no more, or it no longer counts on it."""
        for known in (self.running, self.left, self.outdated, self.states):
            known.pop(work, None)


def work_of(event: Started | ConnectorStopped | TaskStopped) -> str:
    """The name of the connector or task that was started or stopped."""
    return event.connector if isinstance(event, ConnectorStarted | ConnectorStopped) else event.task


def connector_of(work: str) -> str:
    """The connector that a piece of work is, or is a task of: ``sink`` for ``sink`` and for ``sink-0``.

    A name that ends in a number is taken for a task.
    """
    connector, _, number = work.rpartition("-")
    return connector if connector and number.isdecimal() else work


def listed(work: Iterable[str]) -> str:
    """``sink, sink-0 and sink-1``, sorted; ``nothing`` where there is none."""
    names = sorted(work)
    if len(names) < 2:
        return names[0] if names else "nothing"
    return f"{', '.join(names[:-1])} and {names[-1]}"
