"""The broker side of the classic protocol: Kafka's group coordinator (``GroupMetadataManager``, ``ClassicGroup``).

The coordinator replies to a request at once, or *parks* it until the phase that it waits for is over. Timers are
actions that may happen at any time. A group goes through Preparing (members join), Completing (the leader assigns) and
Stable; every end of the join phase begins a generation.
"""

from typing import Final

from rebalance_check.model.checker.layout import NIL, reset
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.parts.departures import (
    next_leader_candidates,
    rebalance_without,
    refuse_join_of_removed,
    remove_member,
)
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
from rebalance_check.model.classic.parts.join_phase import (
    all_joined,
    complete_join,
    maybe_complete_join,
    park,
    prepare_rebalance,
    reply_to_join,
    reply_with_generation,
)
from rebalance_check.model.classic.parts.network import is_abandoned, is_parked, may_answer, put, refuse
from rebalance_check.model.classic.parts.new_members import expires_while_parked, note_new_member
from rebalance_check.model.classic.parts.protocol_vote import (
    is_compatible,
    joins_with_its_list,
    keep_list,
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
    with_,
    without,
)
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error

# ---------------------------------------------------------------------------------------- JoinGroup


def join_group(c: Config, s: State, m: int) -> bool:
    """JoinGroup arrives at the coordinator.

    The checks come in Kafka's order: protocols first, then the member id. A member that only repeats what the
    coordinator knows of it gets the current generation at once; any other JoinGroup is parked and a rebalance is under
    way.

    Source: ``GroupMetadataManager.classicGroupJoinToClassicGroup``; KIP-394.
    Leaves unchanged: the generation, which only the end of the join phase changes, and the log unless the group is new.
    """
    net = s.member[m].net
    if net.kind != MessageKind.JOIN_REQUEST or must_wait(c, s, m):
        return False
    if is_turned_away(s, m):
        return True
    if not is_compatible(c, s, m):
        refuse(s, m, MessageKind.JOIN_REPLY, Error.INCONSISTENT_GROUP_PROTOCOL)
    elif net.has_member_id == 0:
        join_without_id(c, s, m)
    elif has(s.pending, m):
        add_member(c, s, m, net.owned_partitions, net.owned_generation, False)
    elif not has(s.members, m):
        refuse(s, m, MessageKind.JOIN_REPLY, or_fenced(s, m, Error.UNKNOWN_MEMBER_ID))
    elif joins_with_its_list(c, s, m, False) and is_answered_at_once(s, m, net.owned_partitions, net.owned_generation):
        reply_to_join(c, s, m)
    else:
        rejoin(c, s, m, net.owned_partitions, net.owned_generation, False)
    return True


def join_without_id(c: Config, s: State, m: int) -> None:
    """A JoinGroup without a member id creates the group if need be.

    A dynamic member is admitted, or gets an id to come back with (MEMBER_ID_REQUIRED), so that a client which gives up
    while it waits leaves no member behind. A static member is admitted at once: its instance id identifies it, and if a
    member has that instance id the new process replaces it.

    Source: KIP-394; KIP-345; ``GroupMetadataManager.classicGroupJoinNewMember``.
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
        add_member(c, s, m, net.owned_partitions, net.owned_generation, False)


def rejoin_static_member(c: Config, s: State, old: int, m: int) -> None:
    """A static member comes back under a new member id.

    A STABLE group does not rebalance, unless the member's list makes the group select another protocol: the process
    goes on with the assignment of the id that it replaces, and a leader gets skipAssignment (KIP-814). A COMPLETING
    group starts over, because the leader may be assigning to the old id.

    Source: ``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``; KIP-345; KIP-814.
    """
    owned_partitions = s.member[m].net.owned_partitions
    owned_generation = s.member[m].net.owned_generation
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
        s.member[m].net.to_leader = SKIPS_ASSIGNMENT
        s.member[m].net.group = s.members


def is_answered_at_once(s: State, m: int, owned_partitions: int, owned_generation: int) -> bool:
    """Whether a member that joins again gets the current generation without a rebalance.

    It does if its metadata did not change: in COMPLETING any member, because its first reply may be lost; in STABLE a
    follower only, because a leader that joins again wants to assign anew. Metadata of an EAGER member never change.

    Source: ``GroupMetadataManager.classicGroupJoinExistingMember``; ``ClassicGroupMember.matches``.
    """
    me = s.member[m]
    if s.status == GroupStatus.PREPARING or (s.status == GroupStatus.STABLE and m == s.leader):
        return False
    return me.owned_partitions == owned_partitions and me.owned_generation == owned_generation


def add_member(c: Config, s: State, m: int, owned_partitions: int, owned_generation: int, is_duplicate: bool) -> None:
    """A member is added, and its JoinGroup is parked until the join phase ends. The first member leads.

    Source: ``GroupMetadataManager.addMemberThenRebalanceOrCompleteJoin``; ``ClassicGroup.add``.
    """
    s.members = with_(s.members, m)
    s.pending = without(s.pending, m)
    note_new_member(c, s, m)
    if s.leader == NIL:
        s.leader = m
    rejoin(c, s, m, owned_partitions, owned_generation, is_duplicate)


def rejoin(c: Config, s: State, m: int, owned_partitions: int, owned_generation: int, is_duplicate: bool) -> None:
    """The coordinator replaces a member's metadata, parks its JoinGroup, and has a rebalance under way.

    Source: ``GroupMetadataManager.updateMemberThenRebalanceOrCompleteJoin``.
    """
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


# ---------------------------------------------------------------------------------------- the initial delay


def expire_initial_delay(c: Config, s: State) -> bool:
    """The initial rebalance delay ends, and the first generation of an empty group begins.

    Kafka extends the delay while members keep arriving; here it may end at any time, which covers every extension.

    Source: KIP-134; ``GroupMetadataManager.tryCompleteInitialRebalanceElseSchedule``.
    Leaves unchanged: who is a member: all that have joined by now begin the generation.
    """
    if s.initial_rebalance == 0:
        return False
    complete_join(c, s)
    return True


# ------------------------------------------------------------------------------------------------ SyncGroup, Heartbeat


def fence(s: State, m: int, generation: int) -> int:
    """The error of a request for a generation: the checks that SyncGroup and Heartbeat share, in Kafka's order.

    A stale member must learn that it is unknown before it learns that its generation is old, because only the first
    makes it drop its id.

    Source: ``GroupMetadataManager.validateSyncGroup``; ``GroupMetadataManager.validateClassicGroupHeartbeat``.
    """
    if not has(s.members, m):
        return Error.UNKNOWN_MEMBER_ID
    if generation != s.generation:
        return Error.ILLEGAL_GENERATION
    if s.status == GroupStatus.PREPARING:
        return Error.REBALANCE_IN_PROGRESS
    return Error.NONE


def sync_group(c: Config, s: State, m: int) -> bool:
    """SyncGroup arrives at the coordinator.

    A follower waits for the leader's assignment; in a Stable group it gets its assignment at once, so that a lost reply
    can be asked for again. The leader's assignment makes the group Stable: at once, or with ``failovers`` once its
    record is committed (`commit_append`).

    Source: ``GroupMetadataManager.classicGroupSyncToClassicGroup``.
    Leaves unchanged: members, leader and generation.
    """
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
                s.member[x].assignment = net.assignments[x] if has(s.members, x) else 0
            propagate(c, s)
        reply_to_sync(s, m)
    return True


def propagate(c: Config, s: State) -> None:
    """The assignment is known: the group is Stable, and every parked SyncGroup gets its part.

    Source: ``GroupMetadataManager.propagateAssignment``.
    """
    s.status = GroupStatus.STABLE
    for x in range(c.members):
        if has(s.synced, x) and may_answer(s, x):
            reply_to_sync(s, x)
    s.parked_duplicates = minus(s.parked_duplicates, s.synced)
    s.synced = 0


def reply_to_sync(s: State, m: int) -> None:
    """The coordinator replies with the member's assignment."""
    put(s.member[m].net, MessageKind.SYNC_REPLY)
    s.member[m].net.assigned = s.member[m].assignment


def heartbeat(c: Config, s: State, m: int) -> bool:
    """Heartbeat arrives at the coordinator.

    A member learns from the reply that it is alive, that a rebalance is under way, or that it is not a member of this
    generation any more. Completing answers without an error, although the member has no assignment yet.

    Source: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``.
    Leaves unchanged: everything but the message; session timers are not modelled as numbers.
    """
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


# ---------------------------------------------------------------------------------------- LeaveGroup, session expiry


def leaving_slot(s: State, m: int) -> int:
    """The slot that leaves: a static process names its instance id, and with it whichever slot holds that.

    Source: KIP-345.
    """
    return holder(s, m) if is_static(s, m) else m


def leave_choices(s: State, m: int) -> int:
    """One choice for each member that may lead next."""
    return next_leader_candidates(s, leaving_slot(s, m)) if s.member[m].net.kind == MessageKind.LEAVE_REQUEST else 1


def leave_group(c: Config, s: State, m: int, k: int) -> bool:
    """LeaveGroup arrives at the coordinator.

    It names a member id, or an instance id for a static member, and no generation: nothing fences it but the id. The
    members that remain rebalance.

    Source: ``GroupMetadataManager.classicGroupLeaveToClassicGroup``; KIP-345.
    Leaves unchanged: a group that does not know the id.
    """
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


def expire_session(c: Config, s: State, m: int, k: int) -> bool:
    """A member or pending id sent nothing for its session timeout, and the coordinator removes it.

    A member whose request is parked counts as alive, except a new one (``new_members``). The process may live on and
    notice later: then it is a zombie, for which the bounds have a budget. Without ``timeouts`` this stands for the
    rebalance and sync timeouts, too, since all of them remove members.

    Source: ``GroupMetadataManager.expireClassicGroupMemberHeartbeat``.
    Leaves unchanged: the process and what it owns; it learns of the removal by its next request.
    """
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
    """DeleteGroups removes an Empty group.

    The next group of this name counts its generations from 0 again, which is why a stale member must be fenced by its
    id.

    Source: ``GroupMetadataManager.createGroupTombstoneRecords``; KIP-229.
    Leaves unchanged: the processes; pending ids are forgotten with the group.
    """
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
        Rule(ActionKind.EXPIRE_SESSION, expire_session, next_leader_candidates, fair=True),
        Rule(ActionKind.EXPIRE_INITIAL_DELAY, expire_initial_delay, members=False, fair=True),
        Rule(ActionKind.DELETE_GROUP, delete_group, members=False),
    ),
)
