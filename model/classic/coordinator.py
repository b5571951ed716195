"""The broker side of the classic protocol: Kafka's group coordinator (``GroupMetadataManager``, ``ClassicGroup``).

Each request is answered at once or *parked* until the phase it waits for is over. Timers are actions that may happen
at any time. Where `classic_timeouts` is off, `expire_session` stands for the session, rebalance and sync timeouts
alike, since all remove a member.
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL, reset
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.parts.assignment import clean_owned_partitions
from rebalance_check.model.classic.parts.group_log import (
    begin_append,
    give_new_id,
    is_held,
    is_turned_away,
    is_writing,
    must_wait,
    write_group,
    write_replacement,
)
from rebalance_check.model.classic.parts.network import is_abandoned, is_parked, may_answer, put, refuse
from rebalance_check.model.classic.parts.new_members import expires_while_parked, note_new_member
from rebalance_check.model.classic.parts.protocol_vote import (
    is_compatible,
    joins_with_its_list,
    keep_list,
    vote,
    would_change_the_protocol,
)
from rebalance_check.model.classic.parts.static_members import (
    SKIPS_ASSIGNMENT,
    holder,
    is_static,
    or_fenced,
    replace_static_member,
)
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
    MessageKind,
    State,
    has,
    minus,
    nth,
    size,
    with_,
    without,
)
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error

# ------------------------------------------------------------------------------------------------ JoinGroup


def join_group(c: Config, s: State, m: int) -> bool:
    """A JoinGroup arrives: the decision order of ``classicGroupJoinToClassicGroup``."""
    net = s.member[m].net
    if net.kind != MessageKind.JOIN_REQUEST or must_wait(c, s, m):
        return False
    if is_turned_away(s, m):
        return True
    if not is_compatible(c, s, m):
        refuse(s, m, MessageKind.JOIN_REPLY, Error.INCONSISTENT_GROUP_PROTOCOL)
    elif net.flag == 0:
        join_without_id(c, s, m)
    elif has(s.pending, m):
        add_member(c, s, m, net.partitions, net.generation, False)
    elif not has(s.members, m):
        refuse(s, m, MessageKind.JOIN_REPLY, or_fenced(s, m, Error.UNKNOWN_MEMBER_ID))
    elif joins_with_its_list(c, s, m, False) and is_answered_at_once(s, m, net.partitions, net.generation):
        reply_to_join(c, s, m)
    else:
        rejoin(c, s, m, net.partitions, net.generation, False)
    return True


def join_without_id(c: Config, s: State, m: int) -> None:
    """A newcomer creates the group if need be; it becomes a member, or is told the id to come back with (KIP-394).

    A static member is never told to come back, and takes its seat if there is one.
    """
    net = s.member[m].net
    if s.status == GroupStatus.DEAD:
        s.status = GroupStatus.EMPTY
        write_group(c, s)
    give_new_id(s, m)
    if holder(s, m) != NIL:
        rejoin_static_member(c, s, holder(s, m), m)
    elif c.member_id_required and not is_static(s, m):
        s.pending = with_(s.pending, m)
        refuse(s, m, MessageKind.JOIN_REPLY, Error.MEMBER_ID_REQUIRED)
    else:
        add_member(c, s, m, net.partitions, net.generation, False)


def rejoin_static_member(c: Config, s: State, old: int, m: int) -> None:
    """A static member comes back under a new id (``updateStaticMemberThenRebalanceOrCompleteJoin``).

    A STABLE group does not rebalance, unless the member's list makes it select another protocol: the member goes on
    with the assignment that was its seat's. A COMPLETING one starts over, because the leader may know the old id.
    """
    owned_partitions = s.member[m].net.partitions
    owned_generation = s.member[m].net.generation
    replace_static_member(s, old, m)
    keep_list(c, s, m, s.member[m].list_index)
    if s.status != GroupStatus.STABLE or would_change_the_protocol(c, s):
        rejoin(c, s, m, owned_partitions, owned_generation, False)
        return
    s.member[m].owned_partitions = owned_partitions
    s.member[m].owned_generation = owned_generation
    write_replacement(c, s)
    reply_with_generation(s, m)
    if m == s.leader:
        s.member[m].net.flag = SKIPS_ASSIGNMENT
        s.member[m].net.group = s.members


def is_answered_at_once(s: State, m: int, owned_partitions: int, owned_generation: int) -> bool:
    """Whether a member that joins again learns the current generation without a rebalance.

    So it is when its metadata did not change: while COMPLETING for anyone, while STABLE for a follower. Those of an
    EAGER member never do.
    """
    me = s.member[m]
    if s.status == GroupStatus.PREPARING or (s.status == GroupStatus.STABLE and m == s.leader):
        return False
    return me.owned_partitions == owned_partitions and me.owned_generation == owned_generation


def add_member(c: Config, s: State, m: int, owned_partitions: int, owned_generation: int, is_duplicate: bool) -> None:
    """A new member, parked until the join phase is over; the first one leads."""
    s.members = with_(s.members, m)
    s.pending = without(s.pending, m)
    note_new_member(c, s, m)
    if s.leader == NIL:
        s.leader = m
    rejoin(c, s, m, owned_partitions, owned_generation, is_duplicate)


def rejoin(c: Config, s: State, m: int, owned_partitions: int, owned_generation: int, is_duplicate: bool) -> None:
    """A member joins: its metadata is replaced, its request parked, and a rebalance is under way."""
    prepare_rebalance(c, s)
    s.member[m].owned_partitions = owned_partitions
    s.member[m].owned_generation = owned_generation
    keep_list(c, s, m, s.duplicate.list_index if is_duplicate else s.member[m].list_index)
    s.joined = with_(s.joined, m)
    park(s, m, is_duplicate)
    if s.initial_rebalance == 1 and not c.initial_delay:
        complete_join(c, s)
    else:
        maybe_complete_join(c, s)


def park(s: State, m: int, is_duplicate: bool) -> None:
    """Hold back the answer. A later request of the same member takes the place of an earlier one."""
    if is_duplicate:
        s.parked_duplicates = with_(s.parked_duplicates, m)
    else:
        s.parked_duplicates = without(s.parked_duplicates, m)
        put(s.member[m].net, MessageKind.NOTHING)


def reply_to_join(c: Config, s: State, m: int) -> None:
    """Tell m the current generation, and the leader who owned_partitions what."""
    reply_with_generation(s, m)
    if m == s.leader:
        s.member[m].net.flag = 1
        clean_owned_partitions(c, s, s.member[m].net)


def reply_with_generation(s: State, m: int) -> None:
    """A JoinGroup reply to m with the current generation."""
    net = s.member[m].net
    put(net, MessageKind.JOIN_REPLY)
    net.generation = s.generation
    net.protocol = s.selected_protocol
    net.origin = s.origin


# ------------------------------------------------------------------------------------------------ the join phase


def prepare_rebalance(c: Config, s: State) -> None:
    """Begin the join phase unless it has begun; parked SyncGroups are told to join again (``prepareRebalance``)."""
    s.replaced_member_owes_sync = 0
    s.pending_syncs = 0
    if s.status == GroupStatus.COMPLETING:
        for x in range(c.members):
            s.member[x].assignment = 0
            if has(s.synced, x) and may_answer(s, x):
                refuse(s, x, MessageKind.SYNC_REPLY, Error.REBALANCE_IN_PROGRESS)
        s.parked_duplicates = minus(s.parked_duplicates, s.synced)
        s.synced = 0
    if s.status == GroupStatus.EMPTY:
        s.initial_rebalance = 1
    s.status = GroupStatus.PREPARING


def all_joined(s: State) -> bool:
    """Whether every member has joined and no id that was handed out is still to come (``hasAllMembersJoined``)."""
    return s.joined == s.members and s.pending == 0


def maybe_complete_join(c: Config, s: State) -> None:
    """End the join phase when nobody is missing; the first one of an empty group ends by its timer only."""
    if s.status == GroupStatus.PREPARING and s.initial_rebalance == 0 and all_joined(s):
        complete_join(c, s)


def complete_join(c: Config, s: State) -> None:
    """The join phase ends: the next generation begins, and all who joined are told (``completeClassicGroupJoin``)."""
    s.initial_rebalance = 0
    s.generation += 1
    vote(c, s)
    s.origin = s.incarnation
    s.status = GroupStatus.EMPTY if s.members == 0 else GroupStatus.COMPLETING
    for x in range(c.members):
        if has(s.joined, x) and may_answer(s, x):
            reply_to_join(c, s, x)
        elif has(s.members, x) and s.member[x].owned != 0 and not (c.losses > 0 and ownership_is_known(s, x)):
            s.member[x].aux_missed = 1
    s.parked_duplicates = minus(s.parked_duplicates, s.joined)
    s.joined = 0
    s.new_members = 0
    if s.members == 0:
        write_group(c, s)
    if c.timeouts:
        s.pending_syncs = s.members


def ownership_is_known(s: State, x: int) -> bool:
    """Whether the coordinator has heard what x owns, and since which generation."""
    me = s.member[x]
    return me.owned_partitions == me.owned and me.owned_generation == me.generation


def expire_initial_delay(c: Config, s: State) -> bool:
    """The initial rebalance delay is over."""
    if s.initial_rebalance == 0:
        return False
    complete_join(c, s)
    return True


# ------------------------------------------------------------------------------------------------ SyncGroup, Heartbeat


def fence(s: State, m: int, generation: int) -> int:
    """What is wrong with a request of m for a generation: the checks that SyncGroup and Heartbeat share, in order."""
    if not has(s.members, m):
        return Error.UNKNOWN_MEMBER_ID
    if generation != s.generation:
        return Error.ILLEGAL_GENERATION
    if s.status == GroupStatus.PREPARING:
        return Error.REBALANCE_IN_PROGRESS
    return Error.NONE


def sync_group(c: Config, s: State, m: int) -> bool:
    """A SyncGroup arrives (``classicGroupSyncToClassicGroup``): a follower is parked until the leader's has arrived."""
    net = s.member[m].net
    if net.kind != MessageKind.SYNC_REQUEST or must_wait(c, s, m):
        return False
    if is_turned_away(s, m):
        return True
    error = fence(s, m, net.generation)
    error = or_fenced(s, m, error)
    if error == Error.NONE:
        s.pending_syncs = without(s.pending_syncs, m)
    if error != Error.NONE:
        refuse(s, m, MessageKind.SYNC_REPLY, error)
    elif s.status == GroupStatus.COMPLETING and (m != s.leader or c.failovers > 0):
        if m == s.leader:
            begin_append(c, s, net)
        s.synced = with_(s.synced, m)
        park(s, m, False)
    else:
        if s.status == GroupStatus.COMPLETING:
            for x in range(c.members):
                s.member[x].assignment = net.parts[x] if has(s.members, x) else 0
            propagate(c, s)
        reply_to_sync(s, m)
    return True


def propagate(c: Config, s: State) -> None:
    """The assignment is known: the group is stable, and everyone who waits for it is answered."""
    s.status = GroupStatus.STABLE
    for x in range(c.members):
        if has(s.synced, x) and may_answer(s, x):
            reply_to_sync(s, x)
    s.parked_duplicates = minus(s.parked_duplicates, s.synced)
    s.synced = 0


def reply_to_sync(s: State, m: int) -> None:
    """Tell m its assignment."""
    put(s.member[m].net, MessageKind.SYNC_REPLY)
    s.member[m].net.partitions = s.member[m].assignment


def heartbeat(c: Config, s: State, m: int) -> bool:
    """A Heartbeat arrives (``classicGroupHeartbeatToClassicGroup``)."""
    net = s.member[m].net
    if net.kind != MessageKind.HEARTBEAT_REQUEST or must_wait(c, s, m):
        return False
    if is_turned_away(s, m):
        return True
    refusal = fence(s, m, net.generation)
    refusal = or_fenced(s, m, refusal)
    put(net, MessageKind.HEARTBEAT_REPLY)
    net.error = refusal
    return True


# ------------------------------------------------------------------------------------------------ members that go


def next_leader_candidates(s: State, m: int) -> int:
    """How many may lead after m: hash order decides among those who remain (``ClassicGroup.remove``)."""
    others = size(without(s.members, m))
    return others if m == s.leader and others > 0 else 1


def remove_member(s: State, m: int, k: int) -> None:
    """The coordinator forgets m's id, and a copy sent under it is stale; the k-th that remains leads."""
    s.members = without(s.members, m)
    s.pending = without(s.pending, m)
    s.joined = without(s.joined, m)
    s.synced = without(s.synced, m)
    s.parked_duplicates = without(s.parked_duplicates, m)
    s.new_members = without(s.new_members, m)
    s.member[m].owned_partitions = 0
    s.member[m].owned_generation = 0
    s.member[m].assignment = 0
    s.member[m].kept_list_index = 0
    if s.leader == m:
        s.leader = NIL if s.members == 0 else nth(s.members, k)
    if s.duplicate.member == m:
        s.duplicate.stale = 1


def rebalance_without(c: Config, s: State) -> None:
    """A member or pending id is gone: those who remain share its partitions out.

    A group that nobody is left in becomes empty at once, whatever ids are pending: its rebalance timeout is 0.
    """
    if s.status == GroupStatus.COMPLETING or s.status == GroupStatus.STABLE:
        prepare_rebalance(c, s)
        if s.members == 0:
            complete_join(c, s)
    maybe_complete_join(c, s)


def refuse_join_of_removed(s: State, m: int) -> None:
    """A member that is removed while its JoinGroup is parked is told so; a parked SyncGroup is never answered."""
    if has(s.joined, m) and may_answer(s, m):
        refuse(s, m, MessageKind.JOIN_REPLY, Error.UNKNOWN_MEMBER_ID)


def leaving_slot(s: State, m: int) -> int:
    """Who goes when m's LeaveGroup arrives: a static process names its instance id, and so whoever has that seat."""
    return holder(s, m) if is_static(s, m) else m


def leave_choices(s: State, m: int) -> int:
    """Who leads next."""
    return next_leader_candidates(s, leaving_slot(s, m)) if s.member[m].net.kind == MessageKind.LEAVE_REQUEST else 1


def leave_group(c: Config, s: State, m: int, k: int) -> bool:
    """A LeaveGroup arrives; it carries no generation, so it is never fenced by one."""
    net = s.member[m].net
    if net.kind != MessageKind.LEAVE_REQUEST or must_wait(c, s, m):
        return False
    if is_turned_away(s, m):
        return True
    put(net, MessageKind.NOTHING)
    gone = leaving_slot(s, m)
    if gone != NIL and has(s.members | s.pending, gone):
        refuse_join_of_removed(s, gone)
        remove_member(s, gone, k)
        rebalance_without(c, s)
    return True


def expire_choices(s: State, m: int) -> int:
    """Who leads next."""
    return next_leader_candidates(s, m)


def expire_session(c: Config, s: State, m: int, k: int) -> bool:
    """A member was silent for too long; one whose request is parked never is, unless it is new."""
    if not has(s.members | s.pending, m) or is_writing(s) or (is_parked(s, m) and not expires_while_parked(s, m)):
        return False
    if is_held(c, s, m) and not is_abandoned(s, m):
        if s.expiries >= c.expiries:
            return False
        s.expiries += 1
    was_member = has(s.members, m)
    refuse_join_of_removed(s, m)
    remove_member(s, m, k)
    if s.status == GroupStatus.PREPARING:
        if all_joined(s):  # an expiry may end even the initial rebalance early, a leave may not
            complete_join(c, s)
    elif was_member:
        rebalance_without(c, s)
    return True


def delete_group(c: Config, s: State) -> bool:
    """DeleteGroups removes the empty group; the next one of its name counts its generations from 0 again."""
    if s.status != GroupStatus.EMPTY or s.deletions >= c.deletions:
        return False
    s.deletions += 1
    reset(s.log)
    s.status = GroupStatus.DEAD
    s.generation = 0
    s.pending = 0
    s.selected_protocol = 0
    s.duplicate.stale = 1 if s.duplicate.kind != MessageKind.NOTHING else 0
    return True


COORDINATOR: Final = Concern(
    rules=(
        Rule(ActionKind.JOIN_GROUP, join_group, fair=True),
        Rule(ActionKind.SYNC_GROUP, sync_group, fair=True),
        Rule(ActionKind.HEARTBEAT, heartbeat, fair=True),
        Rule(ActionKind.LEAVE_GROUP, leave_group, leave_choices, fair=True),
        Rule(ActionKind.EXPIRE_SESSION, expire_session, expire_choices, fair=True),
        Rule(ActionKind.EXPIRE_INITIAL_DELAY, expire_initial_delay, members=False, fair=True),
        Rule(ActionKind.DELETE_GROUP, delete_group, members=False),
    ),
)
