"""A generation as one member sees it, from its JoinGroup to its assignment, and what happens until it joins again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    ConnectionBroken,
    ConnectionClosed,
    CoordinatorMoved,
    MemberEvent,
    MembershipLost,
    ProcessSignalled,
    ReplyObserved,
    RequestObserved,
)
from rebalance_check.model.vocabulary.ids import topic_of


def topics_of(partitions: Iterable[str]) -> set[str]:
    """The topics of partitions' names."""
    return {topic_of(partition) for partition in partitions}


@dataclass(slots=True, eq=False)
class Answered:
    """A request and the reply to it, which the client received."""

    request: RequestObserved
    reply: ReplyObserved

    @property
    def time_ms(self) -> int:
        """When the reply passed."""
        return self.reply.time_ms


@dataclass(slots=True, eq=False)
class Round:
    """A generation as one member sees it: its JoinGroup, the reply to it, and the reply to its SyncGroup."""

    join: RequestObserved
    joined: ReplyObserved
    synced: ReplyObserved | None = None

    @property
    def generation(self) -> int:
        """The generation that the reply to the JoinGroup names."""
        return self.joined.reply_generation

    @property
    def assignment(self) -> frozenset[str]:
        """The assignment in the reply to the SyncGroup; nothing while there is none."""
        return frozenset(self.synced.assignment if self.synced else ())

    @property
    def revoked(self) -> frozenset[str]:
        """The partitions that the member claimed in its JoinGroup and was not assigned again."""
        return frozenset(self.join.owned) - self.assignment if self.synced else frozenset()

    def fits(self, *joins: RequestObserved) -> bool:
        """Whether the member subscribes to all that it was assigned, in that JoinGroup and in these; if not, it may
        ignore the assignment."""
        return all(topics_of(self.assignment) <= set(join.topics) for join in (self.join, *joins))


@dataclass(slots=True, eq=False)
class Since:
    """Events of a client since it sent its last JoinGroup; each the last of its kind."""

    errors: dict[str, Answered] = field(default_factory=dict)
    closed: ConnectionClosed | ConnectionBroken | None = None
    gave_up: ConnectionClosed | None = None
    """It closed the connection on which its JoinGroup was open."""
    unseen: ReplyObserved | None = None
    paused: ProcessSignalled | None = None
    left: RequestObserved | MembershipLost | None = None
    left_late: bool = False
    """Its application was away for the rebalance timeout, or that is unknown: its heartbeat thread may have left."""
    metadata: ReplyObserved | None = None
    learned: ReplyObserved | None = None
    """The metadata that it was listed before, while it led: a leader joins again for it, also once it leads no more."""
    moved: CoordinatorMoved | None = None
    asked: MemberEvent | None = None
    """Its application changed the subscription, or enforced a rebalance."""
    reset: MembershipLost | None = None
    completed: AssignmentCompleted | None = None
    heartbeats: int = 0
    """It sent so many while its JoinGroup was open."""
    was_silent: bool = False
    """More than a session timeout lay between two accepted requests."""

    @property
    def closed_itself(self) -> bool:
        """Whether it closed a connection itself."""
        return isinstance(self.closed, ConnectionClosed) and self.closed.closed_by == "client"
