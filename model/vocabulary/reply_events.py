"""Events at the coordinator's door: requests that it keeps, and its answers (part of `model.vocabulary.events`)."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.event_base import CoordinatorEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestParked(CoordinatorEvent):
    """The coordinator keeps a request to answer it later: in a phase of the rebalance, or behind earlier writes.

    ``request`` numbers the requests that reach this coordinator, ``member_id`` is the one it is kept for (an id that
    was made for it, if it came without), ``instance_id`` the one it carries ("" for none), ``request_generation`` its generation.
    A JoinGroup lists ``protocols``, most preferred first, and the timeouts of its member (0: not told).
    """

    api: str
    request: int
    member_id: str
    instance_id: str = ""
    request_generation: int = -1
    protocols: tuple[str, ...] = ()
    rebalance_timeout_ms: int = 0
    session_timeout_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyEvent(CoordinatorEvent):
    """The coordinator answers a request. Fields as of `RequestParked`, ``member_id`` as the request carries it.

    ``incarnation`` and ``generation`` are the group's when it is answered, -1 where there is no such group or it is
    still being read from the log.
    """

    request: int
    error: str
    member_id: str = ""
    instance_id: str = ""
    request_generation: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroupReplied(ReplyEvent):
    """``reply_generation`` is the generation of the answer, ``assigned_member_id`` its member id, ``leader`` and ``protocol`` as there.

    ``listed_members`` are the member ids whose metadata it carries (only a leader gets any), ``skip_assignment`` its skipAssignment,
    ``protocols`` those that the request lists.
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
    """``assignment`` stands for the bytes of the answer as in `GroupMetadataAppended`."""

    assignment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatReplied(ReplyEvent):
    """A heartbeat was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroupReplied(ReplyEvent):
    """A LeaveGroup was answered; of a batch, ``member_id`` and ``instance_id`` are those of its first entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitReplied(ReplyEvent):
    """An OffsetCommit was answered: ``error`` is that of the whole, else the first of a partition."""
