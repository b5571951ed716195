"""The state of the classic group protocol: a coordinator, its members, and the messages in flight between them.

A slot is a process. It holds at most one member id that the coordinator knows; a process that comes back while the
coordinator still remembers the old one would be another slot. Partitions are numbered from 0 and sets of them are bit
masks. Generation 0 of a member is "none" (Kafka's -1): the first that a group completes is 1.
"""

from enum import IntEnum
from typing import Annotated, Final, NamedTuple, TypeVar

from rebalance_check.model.checker.layout import (
    SYMMETRIC,
    Age,
    Alias,
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
from rebalance_check.model.vocabulary import group_status
from rebalance_check.model.vocabulary.apis import Api
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
    GroupStatus.DEAD: group_status.GroupStatus.DEAD.value,
    GroupStatus.EMPTY: group_status.GroupStatus.EMPTY.value,
    GroupStatus.PREPARING: group_status.GroupStatus.PREPARING_REBALANCE.value,
    GroupStatus.COMPLETING: group_status.GroupStatus.COMPLETING_REBALANCE.value,
    GroupStatus.STABLE: group_status.GroupStatus.STABLE.value,
}
"""As DescribeGroups spells them."""


class MemberStatus(IntEnum):
    """The status of a process (``AbstractCoordinator.MemberState``, and DOWN for one that does not run)."""

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


REQUEST_APIS: Final = {
    MessageKind.JOIN_REQUEST: Api.JOIN_GROUP,
    MessageKind.SYNC_REQUEST: Api.SYNC_GROUP,
    MessageKind.HEARTBEAT_REQUEST: Api.HEARTBEAT,
    MessageKind.LEAVE_REQUEST: Api.LEAVE_GROUP,
    MessageKind.COMMIT_REQUEST: Api.OFFSET_COMMIT,
}
REPLY_APIS: Final = {
    MessageKind.JOIN_REPLY: Api.JOIN_GROUP,
    MessageKind.SYNC_REPLY: Api.SYNC_GROUP,
    MessageKind.HEARTBEAT_REPLY: Api.HEARTBEAT,
    MessageKind.COMMIT_REPLY: Api.OFFSET_COMMIT,
}
"""Of which request each message is, and which request each reply answers."""


class Phase(IntEnum):
    """Whether there is a coordinator: it serves, it has resigned and there is no other one yet, or it reads its log."""

    SERVING = 0
    CLOSED = 1
    LOADING = 2


class Config(NamedTuple):
    """The bounds as the model reads them, and the tables that follow from them."""

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
    upgrade: int  # the number of the upgrade path, 0 for none; the next seven describe it
    rolling_restarts: int
    upgrade_order: int  # what the operator waits for before a restart (`protocol_vote.may_restart_with_next_list`)
    list_count: int
    list_kept: bool  # whether the coordinator may hold another list than the process has
    lists: tuple[int, ...]  # of each list its names in order of preference, two bits each
    offered: tuple[int, ...]  # of each list its names, as a set
    withholding: tuple[int, ...]  # of each list the names whose assignor withholds, as a set
    cooperative_lists: tuple[int, ...]  # of each list whether a member that has it is COOPERATIVE
    failovers: int
    commits: int
    zombie_coordinators: int
    new_members: bool
    heartbeats_during_sync: int
    target_start: tuple[int, ...]  # where the targets of a group start (`parts.assignment`)
    targets: tuple[int, ...]


# ------------------------------------------------------------------------------------------------ messages


@layout
class Message(Layout):
    """A request or its reply. The bytes are shared by the kinds: each kind has its own names for those that it uses.

    A field that a kind does not use is 0, so that states which differ in nothing else are one state.
    """

    kind: Number
    error: Number
    flag: Number
    generation: Ordinal
    partitions: Number
    group: IndexSet  # JOIN_REPLY to the leader: the members of the generation
    protocol: WhenUpgrade[Number]  # JOIN_REPLY: the selected assignor
    parts: PerMember[Number]
    origin: WhenFailovers[Number]  # JOIN_REPLY: the incarnation in which the generation began

    has_member_id: Annotated[Number, Alias("flag")]  # JOIN_REQUEST
    to_leader: Annotated[Number, Alias("flag")]  # JOIN_REPLY: 1, or `static_members.SKIPS_ASSIGNMENT`
    by_instance_id: Annotated[Number, Alias("flag")]  # LEAVE_REQUEST
    owned_partitions: Annotated[Number, Alias("partitions")]  # JOIN_REQUEST of a COOPERATIVE member (KIP-429) ...
    owned_generation: Annotated[Ordinal, Alias("generation")]  # ... and the generation that assigned them (KIP-792)
    owners: Annotated[list[Number], Alias("parts")]  # JOIN_REPLY to the leader: what each member owns
    claimed_twice: Annotated[Number, Alias("partitions")]  # JOIN_REPLY to the leader: what two members say they own
    assignments: Annotated[list[Number], Alias("parts")]  # SYNC_REQUEST of the leader
    assigned: Annotated[Number, Alias("partitions")]  # SYNC_REPLY
    committed: Annotated[Number, Alias("partitions")]  # COMMIT_REQUEST


@layout
class Duplicate(Layout):
    """The duplicate of a request, which the network delivers later; ``kind`` is NOTHING if there is none."""

    kind: Number
    member: Index
    stale: Number  # 1 once the coordinator has forgotten the member id in it
    list_index: WhenUpgrade[Number]
    generation: Ordinal
    partitions: Number
    parts: PerMember[Number]

    owned_partitions: Annotated[Number, Alias("partitions")]
    owned_generation: Annotated[Ordinal, Alias("generation")]
    assignments: Annotated[list[Number], Alias("parts")]


# ------------------------------------------------------------------------------------------------ members


@layout
class Member(Layout):
    """A process, and the coordinator's knowledge of its member id."""

    # the process
    status: Number
    has_id: Number
    generation: Ordinal
    owned: Number
    # for invariants only: a generation began with a duplicate of its JoinGroup and without the process, so that it did
    # not take account of the process's partitions; 1 until the next assignment
    aux_missed: Number
    # the coordinator: the metadata of the last JoinGroup, and the assignment
    owned_partitions: Number
    owned_generation: Ordinal
    assignment: Number
    # lists of assignors, by their index in the upgrade path: of the process, whether it restarts with the next one, and
    # of the coordinator, which may hold an older list or, from the log, one with a single name
    list_index: WhenUpgrade[Number]
    is_restarting: WhenUpgrade[Number]
    kept_list_index: WhenListKept[Number]
    net: Message
    origin: WhenFailovers[Number]  # the incarnation in which the generation of the process began
    instance_peer: WhenStaticMembers[Index]  # the other process with its instance id, or itself; NIL if dynamic
    heartbeat_reply: WhenHeartbeatsDuringSync[Number]  # 1 + the error of a heartbeat sent while syncing (0: none) ...
    heartbeat_generation: WhenHeartbeatsDuringSync[Ordinal]  # ... and the generation in it


# ------------------------------------------------------------------------------------------------ the group


@layout
class Record(Layout):
    """A GroupMetadata record of the coordinator's log, if ``kind`` is 1 (0: there is none)."""

    kind: Number
    generation: Ordinal
    origin: Number  # the incarnation in which the generation began
    leader: Index
    members: IndexSet
    stale_ids: IndexSet  # members whose process has got another id since
    protocol: WhenUpgrade[Number]
    owned_partitions: PerMember[Number]
    owned_generation: PerMember[Ordinal]
    assignment: PerMember[Number]


@layout
class Memory(Layout):
    """A zombie coordinator's memory of the group; ``status`` is DEAD if there is none."""

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
    """Everything: the group as its coordinator holds it, the processes, and the spent budgets.

    Sets are sets of slots. The fields behind ``deletions`` belong to a concern that the bounds switch on.
    """

    status: Number
    initial_rebalance: Number  # 1 in a rebalance that an Empty group began, which ends by the initial delay
    generation: Counter
    leader: Index
    members: IndexSet
    pending: IndexSet  # ids that were handed out and not used yet (KIP-394)
    joined: IndexSet  # with a parked JoinGroup
    synced: IndexSet  # with a parked SyncGroup
    parked_duplicates: IndexSet  # of these, the ones whose reply reaches no process
    duplicate: Duplicate
    member: PerMember[Member]
    crashes: Spent
    leaves: Spent
    expiries: Spent
    duplicates: Spent
    deletions: Spent
    pending_syncs: WhenTimeouts[IndexSet]  # members that owe the SyncGroup of the generation
    losses: WhenLosses[Spent]
    selected_protocol: WhenUpgrade[Number]
    rolling_restarts: WhenUpgrade[Spent]
    phase: WhenFailovers[Number]
    incarnation: WhenFailovers[Age]  # how often the coordinator changed
    origin: WhenFailovers[Number]  # the incarnation in which the generation began
    stale_ids: WhenFailovers[IndexSet]  # slots of which the coordinator knows another id than the process holds
    log: WhenFailovers[Record]  # the last committed record
    append: WhenFailovers[Record]  # the record that is appended and not committed yet
    commits: WhenCommits[Spent]
    outside_commits: WhenCommits[Spent]  # accepted commits of processes that are no members
    concurrent_commit_reply: WhenCommits[Spent]  # the reply to the last commit on a connection of its own
    replaced_member_owes_sync: WhenReplacedMayOwe[Number]  # a member id that was replaced still owes a SyncGroup
    fenced: WhenStaticMembers[IndexSet]  # processes that ended because another one took their static slot
    zombie_coordinators: WhenZombieCoordinators[Spent]
    zombie_coordinator: WhenZombieCoordinators[Memory]
    new_members: WhenNewMembers[IndexSet]  # members whose first JoinGroup is parked
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
