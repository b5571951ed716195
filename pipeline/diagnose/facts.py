"""Facts: one thing that a line of a log, a record of a topic or a row of a table says about a group, and its place.

A fact says no more than its source does: a field that the source leaves out is None or empty. Times are milliseconds
since 1970 in UTC, or in an unknown zone where the source names none (`Place.zoned`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a fact: the line of a file, counted from 1, or the offset of a record in a partition."""

    source: str
    number: int
    text: str = field(default="", compare=False, repr=False)
    zoned: bool = field(default=True, compare=False, repr=False)
    """Whether the zone of the time is known."""

    def __str__(self) -> str:
        return f"{self.source}:{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """The fields of every fact. ``time_ms`` is None where the source has no times."""

    place: Place
    time_ms: int | None
    group: str = ""


# ---------------------------------------------------------------------------------------------- the coordinator's view


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceBegan(Fact):
    """The coordinator begins a join phase. ``generation`` is the one before it, ``reason`` the broker's sentence."""

    generation: int
    reason: str
    partition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinPhaseEnded(Fact):
    """A generation begins: the coordinator has answered JoinGroup, and waits for the leader's assignment."""

    generation: int
    members: int | None = None
    ids: tuple[str, ...] = ()
    leader: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentStored(Fact):
    """The leader's assignment has arrived: the group is stable."""

    generation: int
    leader: str = ""
    members: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEmptied(Fact):
    """The last member is gone."""

    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLoaded(Fact):
    """A coordinator has read the group from its topic."""

    generation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorMoved(Fact):
    """A node begins or ends to coordinate the groups of a partition of ``__consumer_offsets``."""

    partition: int
    change: Literal["load", "loaded", "unload", "unloaded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberFact(Fact):
    """A fact of one member. ``instance`` is its ``group.instance.id``."""

    member: str
    instance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberIdGiven(MemberFact):
    """A new member has received its id, and has not joined with it yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingMemberExpired(MemberFact):
    """A member never joined with the id that it had received."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAdded(MemberFact):
    """A member has joined for the first time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLeft(MemberFact):
    """A LeaveGroup arrived. ``reason`` is the client's own, as KIP-800 lets it say."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberExpired(MemberFact):
    """The coordinator removes a member that did not send a heartbeat within its session timeout."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersEvicted(Fact):
    """The join phase ends by the rebalance timeout: these members had not joined again."""

    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoMemberJoined(Fact):
    """The join phase begins again: its timeout passed, and no member had joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticMemberReplaced(MemberFact):
    """A process joined with the instance id of a member: ``old`` is the member id before, ``member`` the new one."""

    old: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberFenced(MemberFact):
    """The coordinator refuses a request of a member whose instance id belongs to another member id now."""

    current: str = ""
    operation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDescribed(MemberFact):
    """A member as the coordinator knows it. None: the source leaves it out."""

    client: str = ""
    host: str = ""
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    assignors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModernGroupSeen(Fact):
    """A group of KIP-848, a share group or a streams group. ``epoch`` is its group epoch where the source has it."""

    kind: Literal["consumer", "share", "streams"]
    epoch: int | None = None


# --------------------------------------------------------------------------------------------------- the client's view


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFact(Fact):
    """A fact of a client's own log. ``client`` is its client id, ``member`` its member id where known."""

    client: str
    instance: str = ""
    member: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStarted(ClientFact):
    """A client of this release starts."""

    release: str = ""
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSeen(ClientFact):
    """Config values of a client, by Kafka's own names."""

    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSent(ClientFact):
    """The client sends JoinGroup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejoinDecided(ClientFact):
    """The client says why it will join again."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined(ClientFact):
    """The client's JoinGroup is answered. ``leader`` is None where the line does not say who leads."""

    generation: int | None
    protocol: str = ""
    leader: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced(ClientFact):
    """The client's SyncGroup is answered."""

    generation: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentComputed(ClientFact):
    """The leader has computed the assignments of all members: pairs of a member id and its partitions."""

    generation: int | None
    assignments: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnershipFact(ClientFact):
    """Partitions of the client, named as ``topic-partition``. ``count`` stands for them where only it is known."""

    partitions: tuple[str, ...]
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned(OwnershipFact):
    """The client begins to own partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked(OwnershipFact):
    """The client gives partitions up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost(OwnershipFact):
    """The client notices that it no longer owns partitions: it lost them earlier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollTimedOut(ClientFact):
    """The application did not poll for ``max.poll.interval.ms``. ``over_ms``: by how much, where the line says so."""

    over_ms: int | None = None
    limit_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveSent(ClientFact):
    """The client sends LeaveGroup."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRefused(ClientFact):
    """A request of the client failed. ``request`` is the name of its API, ``error`` Kafka's name or the log's words."""

    request: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipReset(ClientFact):
    """The client forgets its generation, and perhaps its member id."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorUnavailable(ClientFact):
    """The client has lost its coordinator."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsUnassigned(ClientFact):
    """The leader's assignor left subscribed topics out."""

    topics: tuple[str, ...]


# --------------------------------------------------------------------------------------------------- topics and tables


@dataclass(frozen=True, slots=True)
class RecordedMember:
    """A member as the coordinator stores it. ``claimed_generation`` is the one of its claim (KIP-792), -1 for none."""

    member: str
    instance: str = ""
    client: str = ""
    host: str = ""
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    topics: tuple[str, ...] = ()
    owned: tuple[str, ...] = ()
    claimed_generation: int | None = None
    assignment: tuple[str, ...] | None = None
    """None where the source leaves the assignments out."""
    worker: str = ""
    """The host and port of a Connect worker, as statuses name it. Its ``owned`` is the work that it claimed, its
    ``assignment`` the work after the round: connectors by name, tasks as ``connector-number``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecorded(Fact):
    """A record of the group in ``__consumer_offsets``: one completed generation.

    ``state_time_ms`` is the end of its join phase, ``partition`` the one of ``__consumer_offsets`` where the source
    names it. Kafka 4 writes a record of generation 0 and no protocol type when it creates a group.
    """

    generation: int
    leader: str
    protocol: str
    protocol_type: str
    members: tuple[RecordedMember, ...]
    state_time_ms: int | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDeleted(Fact):
    """A tombstone of the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetRecorded(Fact):
    """A commit that the coordinator accepted. ``offset`` None: a tombstone. The record names no member."""

    partition: str
    offset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescribed(Fact):
    """A row of ``kafka-consumer-groups --state`` or of ``--list --state``. ``assignor`` empty: none is shown."""

    state: str
    members: int | None = None
    assignor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRowDescribed(MemberFact):
    """A row of ``--members``. ``partitions`` None: the table has only ``count``; ``count`` None: it is hidden."""

    client: str
    host: str
    count: int | None
    partitions: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDescribed(Fact):
    """A row of ``kafka-consumer-groups --describe``. ``member`` None: no member owns it, or the group rebalances."""

    partition: str
    committed: int | None
    end: int | None
    member: str | None
    client: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentsHidden(Fact):
    """``kafka-consumer-groups`` warns that the group rebalances. The table next to the warning, in most cases the one
    behind it, shows no assignments or old ones: a partition without a member in it may have an owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolTypeSeen(Fact):
    """The protocol type of a group: ``kafka-groups`` lists it, ``kafka-consumer-groups`` refuses all but consumer."""

    protocol_type: str


# ------------------------------------------------------------------------------------------------------- Kafka Connect


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFact(ClientFact):
    """A fact of a Connect worker's log. ``worker`` is its url or host and port, as statuses name it."""

    worker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerJoined(WorkerFact):
    """A worker has its assignment: connectors by name, tasks as ``connector-number``."""

    generation: int
    error: str
    leader: str
    leader_url: str
    config_offset: int
    assigned: tuple[str, ...]
    revoked: tuple[str, ...]
    delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFact(WorkerFact):
    """A fact of one connector or task (``work``)."""

    work: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStarted(WorkFact):
    """The worker starts a connector or task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStopRequested(WorkFact):
    """The worker asks a connector or task to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStopped(WorkFact):
    """A connector or task has stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStopFailed(WorkFact):
    """A connector or task did not stop within ``task.shutdown.graceful.timeout.ms``: it may still run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFailed(WorkFact):
    """A connector or task failed."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStopsFinished(WorkerFact):
    """All work that the worker was asked to stop has stopped, or was given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigBehind(WorkerFact):
    """The worker has not read the config topic up to the offset of its assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRecorded(Fact):
    """A status of a connector or task, from the status topic or from REST. ``state`` None: a tombstone."""

    work: str
    state: str | None
    worker: str
    generation: int | None = None
    trace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRecorded(Fact):
    """A record of the config topic. No values but counts and target states: configs hold passwords.

    ``deleted``: it is a tombstone.
    """

    key: str
    value: str = ""
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A line or a record that speaks of groups, and that no template matches."""

    place: Place
    why: str = ""
