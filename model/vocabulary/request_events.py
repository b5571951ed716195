"""The requests of a member to its coordinator, and their fate (part of `model.vocabulary.events`)."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.event_base import Event, MemberEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSent(Event):
    """A member sent a request. ``request`` numbers those of one member; ``generation`` is -1 where none is sent.

    A JoinGroup has the names of its ``protocols``, most preferred first, a checksum of them and what the member sends
    for each (``metadata``, "" where the subject cannot see it), and the partitions that its first one claims
    (``owned``); ``claimed_generation`` is the generation that it gives for them (-1: none), None where its metadata has
    no place for one (KIP-792) or the subject cannot see it. ``version`` is that of the request (-1: unknown).
    ``member_id`` is the one that the request carries ("" for none, and where the subject cannot see it).
    """

    member: str
    api: str
    request: int
    generation: int = -1
    metadata: str = ""
    owned: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    member_id: str = ""
    claimed_generation: int | None = None
    version: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAnswered(Event):
    """The member got a reply, or gave the request up (``error=None``: the outcome stays unknown).

    ``leader`` is a member, ``members`` the subscriptions in the leader's reply as (member, owned partitions),
    ``assignment`` the partitions of a SyncGroup reply, and ``assigned_member_id`` the id in a JoinGroup reply; each is
    empty where the reply carries none.
    """

    member: str
    api: str
    request: int
    error: str | None
    generation: int = -1
    leader: str = ""
    protocol: str = ""
    members: tuple[tuple[str, tuple[str, ...]], ...] = ()
    assignment: tuple[str, ...] = ()
    assigned_member_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUpSent(MemberEvent):
    """The member sent FindCoordinator, to any node; ``request`` is numbered as those of `RequestSent` are."""

    request: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUpAnswered(MemberEvent):
    """A FindCoordinator was answered, or given up (``error=None``); ``node`` is the coordinator (-1 for none)."""

    request: int
    error: str | None
    node: int = -1
