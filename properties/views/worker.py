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
    TaskStarted,
    TaskStopped,
    WorkCancelled,
    WorkerConfigured,
    WorkRevocationStarted,
    WorkStateChanged,
)
from rebalance_check.properties.views.holdings import EAGER

NO_ERROR: Final = "NONE"
COORDINATOR_UNKNOWN: Final = "coordinator unknown"
EAGER_JOIN: Final = "eager join"
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
    ``failed`` that which failed since its last start, ``carried`` that which it ran under an incremental protocol when
    an eager assignment came, until it accepts one, ``leftovers`` the part of ``carried`` that goes on beyond its claim
    or through a later join, and ``outdated`` work that goes on when its membership ended, with the event that shows the
    end. ``rounds`` counts the assignments of all workers up to its last one. ``unstable`` is why it may no longer speak
    for its assignment, ``lost`` how its membership ended if it has not built the metadata of another JoinGroup since.
    ``gave_up`` is its last assignment that revoked, ``number`` distinguishes the processes of one name.
    """

    name: str
    number: int = 0
    configured: WorkerConfigured | None = None
    member_id: str = ""
    received: ConnectAssignmentReceived | None = None
    rounds: int = 0
    accepted: AssignmentAccepted | None = None
    gave_up: ConnectAssignmentReceived | None = None
    snapshot: ConfigSnapshotTaken | None = None
    revoking: WorkRevocationStarted | None = None
    unstable: Event | None = None
    lost: MembershipLost | None = None
    joined: MemberJoined | None = None
    claim: dict[str, Event] | None = None
    admitted: set[str] = field(default_factory=set)
    running: dict[str, Started] = field(default_factory=dict)
    failed: dict[str, WorkStateChanged] = field(default_factory=dict)
    states: dict[str, WorkStateChanged] = field(default_factory=dict)
    carried: dict[str, Event] = field(default_factory=dict)
    leftovers: dict[str, Event] = field(default_factory=dict)
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
        if event.protocol == EAGER:
            if self.received is not None and not self.is_eager:
                self.carried = dict.fromkeys(self.running, event)
            left = set(self.carried) - set(event.assigned)
            self.leftovers.update((work, event) for work in left if work in self.running)
            self.claim = dict.fromkeys(event.assigned, event)
        else:
            self.carried.clear()
            kept = {work: since for work, since in (self.claim or {}).items() if work not in event.revoked}
            self.claim = {**kept, **dict.fromkeys(event.assigned, event)}
        for work in self.failed.keys() - self.claim.keys():
            del self.failed[work]
        if event.error == NO_ERROR:
            self.outdated.clear()
        self.received, self.accepted, self.unstable = event, None, None
        if event.revoked and event.error == NO_ERROR:
            self.gave_up = event

    def accept(self, event: AssignmentAccepted) -> None:
        """It may start the work that the assignment adds."""
        self.accepted = event
        self.carried.clear()
        self.admitted.update(event.work)

    def begin_revocation(self, event: WorkRevocationStarted) -> None:
        """Work that is being stopped may be started again only when it is assigned again.

        Before an eager join a herder that has not started its assignment stops nothing, also where that assignment came
        in place of an incremental one, and work runs (KAFKA-13816).
        """
        if event.reason == EAGER_JOIN and self.accepted is None:
            self.leftovers.update((work, since) for work, since in self.carried.items() if work in self.running)
        self.revoking = event
        self.admitted.difference_update(event.work)

    def end_revocation(self) -> None:
        """A worker that found no coordinator forgets its assignment."""
        if self.revoking is not None and self.revoking.reason == COORDINATOR_UNKNOWN:
            self.claim = None
        self.revoking = None

    def outdate(self, event: Event) -> None:
        """Its work may be given to others from this event on, and it does not know."""
        for work in self.running:
            self.outdated.setdefault(work, event)


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
