"""Events that a recorder between clients and brokers observes (part of `model.vocabulary.events`).

The recorder sees connections, requests and replies, and nothing inside a client or a coordinator. Its order is the
order in which frames passed it: one source, one clock. The harness that starts the clients records what it did to their
processes.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.event_base import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEvent(Event):
    """Something that the harness did to a client's process, or saw of it; ``process`` is its name (``p0``)."""

    process: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStarted(ProcessEvent):
    """The harness started a client's process; ``run`` counts from 1 how often a process of this name was started."""

    run: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSignalled(ProcessEvent):
    """The harness sent the process a signal: ``terminate`` (asks it to close), ``kill``, ``pause`` or ``resume``."""

    signal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnded(ProcessEvent):
    """The process ended with ``exit_status``, negative for the number of a signal; ``asked``: after a signal."""

    exit_status: int
    asked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorMoved(Event):
    """From here on ``node`` coordinates the group; other nodes reply NOT_COORDINATOR."""

    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WireEvent(Event):
    """Observed on ``connection``, a number that the recorder gives; ``process`` is the client's, "" where unknown."""

    connection: int
    process: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOpened(WireEvent):
    """A client connected to ``node``."""

    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionClosed(WireEvent):
    """The connection ended; ``closed_by``: client, broker, or fault (the recorder closed it on purpose)."""

    closed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestObserved(WireEvent):
    """A request passed; ``request`` numbers those of the recorder, ``version`` is that of the api.

    ``member_id`` and ``instance_id`` are the sender's ("" for none), ``request_generation`` the generation it sends (-1
    for none). A JoinGroup has timeouts in ms, its ``protocols``, the most preferred first, and what its first
    subscription says: ``topics``, the ``owned`` partitions with their ``owned_generation`` (-1 for none or unknown),
    ``subscription_version`` (-1 where it is no consumer's, or unreadable); ``metadata`` is a checksum of all its
    protocols with their bytes. ``assignments`` are those of a leader's
    SyncGroup, by member id. ``malformed`` has the bytes, in hex, of each subscription, by protocol, and of each
    assignment, by member id, that Kafka's consumer cannot read. ``leaving`` are the (member id, instance id) pairs of a
    LeaveGroup, ``offsets`` the (partition, offset) pairs of a commit, ``partitions`` those that a Fetch, OffsetFetch or
    Metadata names, ``reason`` why a client joins or leaves (KIP-800).
    """

    request: int
    api: str
    version: int
    client_id: str = ""
    member_id: str = ""
    instance_id: str = ""
    request_generation: int = -1
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = 0
    protocol_type: str = ""
    protocols: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    subscription_version: int = -1
    owned: tuple[str, ...] = ()
    owned_generation: int = -1
    metadata: str = ""
    assignments: tuple[tuple[str, tuple[str, ...]], ...] = ()
    malformed: tuple[tuple[str, str], ...] = ()
    leaving: tuple[tuple[str, str], ...] = ()
    offsets: tuple[tuple[str, int], ...] = ()
    partitions: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyObserved(WireEvent):
    """The reply to ``request`` passed, with its ``error``: its own, or the first of an item that it refuses.

    A JoinGroup reply has the ``reply_generation``, the ``assigned_member_id``, the ``leader`` and the ``protocol``, the
    leader's also ``members``, (member id, instance id) pairs, and ``skip_assignment`` (KIP-814); a SyncGroup reply the
    partitions of its ``assignment``; a commit's the errors by partition. ``node`` is the coordinator that a
    FindCoordinator reply names (-1: none), ``partitions`` those that a Metadata reply lists. ``fault`` is what the
    recorder did to the request or the reply on purpose, "" for nothing; with ``drop-reply``, ``close-before`` and
    ``close-after`` the client never sees it.
    """

    request: int
    api: str
    error: str = "NONE"
    reply_generation: int = -1
    assigned_member_id: str = ""
    leader: str = ""
    protocol: str = ""
    members: tuple[tuple[str, str], ...] = ()
    skip_assignment: bool = False
    assignment: tuple[str, ...] = ()
    partition_errors: tuple[tuple[str, str], ...] = ()
    node: int = -1
    partitions: tuple[str, ...] = ()
    fault: str = ""
