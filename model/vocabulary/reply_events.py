"""Events at the coordinator's API boundary: parked requests and replies (part of `model.vocabulary.events`)."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.event_base import CoordinatorEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestParked(CoordinatorEvent):
    """The coordinator parks a request and replies later: at the end of a rebalance phase, or after earlier writes.

    ``request`` numbers the requests that reach this coordinator. ``member_id`` is the id under which the request is
    parked; if the request carries none, the coordinator generated it. ``instance_id`` is the one in the request ("" for
    none) and ``request_generation`` its generation (-1 for none). A JoinGroup lists ``protocols``, the most
    preferred first, and the timeouts of its member (0: unknown); ``metadata`` is a checksum of these protocols and
    of what the member sends for each ("" where the subject cannot see it).
    """

    api: str
    request: int
    member_id: str
    instance_id: str = ""
    request_generation: int = -1
    protocols: tuple[str, ...] = ()
    rebalance_timeout_ms: int = 0
    session_timeout_ms: int = 0
    metadata: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyEvent(CoordinatorEvent):
    """The coordinator replies to a request. Fields as of `RequestParked`, ``member_id`` as the request carries it.

    ``error`` is Kafka's name of the error code (``NONE`` for success). ``incarnation`` and ``generation`` are the
    group's at the time of the reply, -1 where the group does not exist or is being loaded.
    """

    request: int
    error: str
    member_id: str = ""
    instance_id: str = ""
    request_generation: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroupReplied(ReplyEvent):
    """The coordinator replies to a JoinGroup.

    ``reply_generation``, ``assigned_member_id``, ``leader``, ``protocol`` and ``skip_assignment`` (KIP-814) are fields
    of the reply. ``listed_members`` are the member ids whose metadata it carries; only the leader gets any.
    ``protocols`` are those that the request lists.
    """

    reply_generation: int = -1
    assigned_member_id: str = ""
    leader: str = ""
    protocol: str = ""
    listed_members: tuple[str, ...] = ()
    skip_assignment: bool = False
    protocols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroupReplied(ReplyEvent):
    """The coordinator replies to a SyncGroup; ``assignment`` is a text as in `GroupMetadataAppended.assignments`."""

    assignment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatReplied(ReplyEvent):
    """The coordinator replies to a Heartbeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroupReplied(ReplyEvent):
    """The coordinator replies to a LeaveGroup; ``member_id`` and ``instance_id`` are a batch's first entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitReplied(ReplyEvent):
    """The coordinator replies to an OffsetCommit; ``error`` is that of the request, else the first of a partition."""
