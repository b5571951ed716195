"""The state of the classic group protocol: a coordinator, its members, and what is in flight between them.

A slot is a process. It holds at most one member id that the coordinator knows; a process that comes back while the
coordinator still remembers the old one would be another slot. Partitions are numbered from 0 and sets of them are bit
masks. Generation 0 of a member is "none" (Kafka's -1): the first that a group completes is 1.
"""

from enum import IntEnum
from typing import Annotated, Final, NamedTuple, TypeVar

from rebalance_check.model.checker.layout import (
    SYMMETRIC,
    Age,
    Counter,
    Index,
    IndexSet,
    Layout,
    Number,
    Ordinal,
    PerMember,
    Spent,
    When,
    layout,
)
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol

T = TypeVar("T")

# Fields that exist only where the bounds switch a concern on; else they read 0 (an Index NIL) and take no byte.
WhenUpgrade = Annotated[T, When("upgrade")]
WhenListKept = Annotated[T, When("list_kept")]
WhenFailovers = Annotated[T, When("failovers")]
WhenZombieCoordinators = Annotated[T, When("zombie_coordinators")]
WhenTimeouts = Annotated[T, When("timeouts")]
WhenLosses = Annotated[T, When("losses")]
WhenCommits = Annotated[T, When("commits")]
WhenStaticMembers = Annotated[T, When("static_members")]
WhenReplacedMayOwe = Annotated[T, When("replaced_may_owe")]
WhenNewMembers = Annotated[T, When("new_members")]
WhenHeartbeatsDuringSync = Annotated[T, When("heartbeats_during_sync")]


class GroupStatus(IntEnum):
    """The coordinator's status of the group (``ClassicGroupState``); DEAD is also a group that does not exist."""

    DEAD = 0
    EMPTY = 1
    PREPARING = 2
    COMPLETING = 3
    STABLE = 4


STATUS_NAMES: Final = {
    GroupStatus.DEAD: "Dead",
    GroupStatus.EMPTY: "Empty",
    GroupStatus.PREPARING: "PreparingRebalance",
    GroupStatus.COMPLETING: "CompletingRebalance",
    GroupStatus.STABLE: "Stable",
}
"""As DescribeGroups spells them."""


class MemberStatus(IntEnum):
    """What the process is doing (``AbstractCoordinator.MemberState``, and DOWN for one that does not run)."""

    UNJOINED = 0
    JOINING = 1
    SYNCING = 2
    STABLE = 3
    DOWN = 4


class MessageKind(IntEnum):
    """The one message between a process and the coordinator."""

    NOTHING = 0
    JOIN_REQUEST = 1
    JOIN_REPLY = 2
    SYNC_REQUEST = 3
    SYNC_REPLY = 4
    HEARTBEAT_REQUEST = 5
    HEARTBEAT_REPLY = 6
    LEAVE_REQUEST = 7
    COMMIT_REQUEST = 8
    COMMIT_REPLY = 9


class Phase(IntEnum):
    """Whether there is a coordinator: it serves, it has resigned and there is no other one yet, or it reads its log."""

    SERVING = 0
    CLOSED = 1
    LOADING = 2


class Config(NamedTuple):
    """The bounds as the model reads them, with the table of targets (`model.classic.parts.assignment`)."""

    members: int
    partitions: int
    generations: int
    crashes: int
    leaves: int
    expiries: int
    duplicates: int
    deletions: int
    cooperative: bool
    initial_delay: bool
    member_id_required: bool
    timeouts: bool
    static_members: int
    shared_instances: int
    losses: int
    upgrade: int
    rolling_restarts: int
    upgrade_order: int
    list_count: int
    list_kept: bool
    lists: tuple[int, ...]
    offered: tuple[int, ...]
    withholding: tuple[int, ...]
    cooperative_lists: tuple[int, ...]
    failovers: int
    commits: int
    zombie_coordinators: int
    new_members: bool
    heartbeats_during_sync: int
    target_start: tuple[int, ...]
    targets: tuple[int, ...]


@layout
class Message(Layout):
    """A request or its reply. A field that the kind does not use is 0.

    JOIN_REQUEST: ``flag`` carries a member id; ``partitions`` and ``generation`` are the claims and their generation.
    JOIN_REPLY: ``error``, ``generation``, ``flag`` to the leader, which also gets the ``group``, for each member the
    partitions that it owns once the claims are cleaned (``parts``), and those claimed twice (``partitions``); the
    ``protocol`` selected.
    SYNC_REQUEST: ``generation``; ``flag`` from the leader, with the assignment in ``parts``.
    JOIN_REPLY also has the ``origin`` of the generation, where there are failovers.
    SYNC_REPLY: ``error``, assigned ``partitions``. HEARTBEAT_REQUEST: ``generation``. HEARTBEAT_REPLY: ``error``.
    COMMIT_REQUEST: ``generation``, ``partitions``. COMMIT_REPLY: ``error``.
    """

    kind: Number
    error: Number
    flag: Number
    generation: Ordinal
    partitions: Number
    group: IndexSet
    protocol: WhenUpgrade[Number]
    parts: PerMember[Number]
    origin: WhenFailovers[Number]


@layout
class Duplicate(Layout):
    """A request of ``member`` that the network keeps for later; ``stale`` once the coordinator forgot the id in it."""

    kind: Number
    member: Index
    stale: Number
    list_index: WhenUpgrade[Number]
    generation: Ordinal
    partitions: Number
    parts: PerMember[Number]


@layout
class Member(Layout):
    """A process (the first five), and what the coordinator keeps about its member id (the next three).

    ``aux_missed`` only serves the claims: a generation began with a copy of the member's JoinGroup, and without the
    member, so that nobody took account of what it owns; it stays so until its next assignment. ``step`` is the list of
    assignors that the process has, by its place in the path; a ``bouncing`` process comes back with the next one.
    ``listed`` is the list that the coordinator has of the member, an older one while a static member restarts, and one
    with a single name after a failover (``upgrade`` with ``static_members`` or ``failovers``). ``origin`` is the incarnation
    in which the member's generation began (``failovers``), ``twin`` the other process with the instance id of a static
    member, itself if there is none, and NIL of a dynamic one (``static_members``).
    ``beat`` is the answer to a heartbeat beside a SyncGroup, 1 more than its error (0: there is none), and
    ``beat_generation`` the generation that it was sent in (``heartbeats_during_sync``).
    """

    status: Number
    has_id: Number
    generation: Ordinal
    owned: Number
    aux_missed: Number
    owned_partitions: Number
    owned_generation: Ordinal
    assignment: Number
    list_index: WhenUpgrade[Number]
    is_restarting: WhenUpgrade[Number]
    kept_list_index: WhenListKept[Number]
    net: Message
    origin: WhenFailovers[Number]
    instance_peer: WhenStaticMembers[Index]
    heartbeat_reply: WhenHeartbeatsDuringSync[Number]
    heartbeat_generation: WhenHeartbeatsDuringSync[Ordinal]


@layout
class Record(Layout):
    """A record of the group in the coordinator's log, if ``kind`` is 1 (0: there is none).

    ``old`` are the members whose process has been given another id since. ``origin`` is the incarnation in which the
    generation began.
    """

    kind: Number
    generation: Ordinal
    origin: Number
    leader: Index
    members: IndexSet
    stale_ids: IndexSet
    protocol: WhenUpgrade[Number]
    owned_partitions: PerMember[Number]
    owned_generation: PerMember[Ordinal]
    assignment: PerMember[Number]


@layout
class Memory(Layout):
    """What a coordinator that was deposed remembers of the group; ``status`` is DEAD where there is none."""

    status: Number
    generation: Ordinal
    origin: Number
    leader: Index
    members: IndexSet
    owned_partitions: PerMember[Number]
    owned_generation: PerMember[Ordinal]
    assignment: PerMember[Number]


@layout
class State(Layout):
    """Everything. The sets say which slots' ids the coordinator holds as members, as pending ids (KIP-394), and with a
    parked JoinGroup or SyncGroup; ``orphans`` have a parked *copy*, whose answer goes nowhere. ``initial`` marks a
    rebalance entered from Empty. Then five count the disturbances so far.

    What follows belongs to a concern of `Bounds`, and is absent when that is off: ``owing`` are the members that still
    owe the SyncGroup of the generation (``timeouts``), ``losses`` counts what the network lost, ``selected`` is the
    protocol that the members voted for and ``rolling_restarts`` counts the members bounced (``upgrade``). The
    rest is there with ``failovers``: how many there were (``incarnation``), in which of them the generation began
    (``origin``), the last record in the log and the one that is being appended, and the slots of which the coordinator
    knows another id than the process does (``strangers``). With ``commits`` it counts them, and those from ``outside``
    the group that were accepted; ``beside`` is what the last one was answered that went beside a member's join. With
    ``static_members``, ``ghost`` says that a member id owes a SyncGroup which was replaced since, and ``fenced`` are the
    processes that ended because another one took their seat. ``zombie`` is the coordinator that was
    ``zombie_coordinators`` and still answers. With ``new_members``, ``fresh`` are the members whose first JoinGroup is parked;
    ``heartbeats_during_sync`` counts the heartbeats beside a SyncGroup.
    """

    status: Number
    initial_rebalance: Number
    generation: Counter
    leader: Index
    members: IndexSet
    pending: IndexSet
    joined: IndexSet
    synced: IndexSet
    parked_duplicates: IndexSet
    duplicate: Duplicate
    member: PerMember[Member]
    crashes: Spent
    leaves: Spent
    expiries: Spent
    duplicates: Spent
    deletions: Spent
    pending_syncs: WhenTimeouts[IndexSet]
    losses: WhenLosses[Spent]
    selected_protocol: WhenUpgrade[Number]
    rolling_restarts: WhenUpgrade[Spent]
    phase: WhenFailovers[Number]
    incarnation: WhenFailovers[Age]
    origin: WhenFailovers[Number]
    stale_ids: WhenFailovers[IndexSet]
    log: WhenFailovers[Record]
    append: WhenFailovers[Record]
    commits: WhenCommits[Spent]
    outside_commits: WhenCommits[Spent]
    concurrent_commit_reply: WhenCommits[Spent]
    replaced_member_owes_sync: WhenReplacedMayOwe[Number]
    fenced: WhenStaticMembers[IndexSet]
    zombie_coordinators: WhenZombieCoordinators[Spent]
    zombie_coordinator: WhenZombieCoordinators[Memory]
    new_members: WhenNewMembers[IndexSet]
    heartbeats_during_sync: WhenHeartbeatsDuringSync[Spent]


def sizes(bounds: Bounds) -> dict[str, int]:
    """The dimensions of the state."""
    return {
        SYMMETRIC: bounds.members,
        "timeouts": int(bounds.timeouts),
        "losses": min(bounds.losses, 1),
        "upgrade": min(bounds.upgrade, 1),
        "failovers": min(bounds.failovers, 1),
        "list_kept": int(bounds.upgrade > 0 and bounds.static_members + bounds.failovers > 0),
        "commits": min(bounds.commits, 1),
        "static_members": min(bounds.static_members, 1),
        "replaced_may_owe": int(bounds.timeouts and bounds.static_members > 0),
        "zombie_coordinators": min(bounds.zombie_coordinators, 1),
        "new_members": int(bounds.new_members),
        "heartbeats_during_sync": min(bounds.heartbeats_during_sync, 1),
    }


def is_cooperative(bounds: Bounds) -> bool:
    """Whether members keep their partitions while they rebalance."""
    return bounds.protocol is RebalanceProtocol.COOPERATIVE


# ------------------------------------------------------------------------------------------------ sets


def has(mask: int, x: int) -> bool:
    """Whether x is in the set."""
    return (mask >> x) & 1 == 1


def with_(mask: int, x: int) -> int:
    """The set and x."""
    return mask | (1 << x)


def without(mask: int, x: int) -> int:
    """The set but x."""
    return mask & ~(1 << x)


def minus(mask: int, other: int) -> int:
    """The set without the elements of another."""
    return mask ^ (mask & other)


def size(mask: int) -> int:
    """How many are in the set."""
    count = 0
    for x in range(8):
        if has(mask, x):
            count += 1
    return count


def nth(mask: int, k: int) -> int:
    """The k-th element of the set, from 0; the set has more than k."""
    x = 0
    while k > 0 or not has(mask, x):
        if has(mask, x):
            k -= 1
        x += 1
    return x
