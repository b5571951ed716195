"""The join phase of a rebalance: how it begins, when it ends, and the replies to the members.

A rebalance begins when a member joins, leaves or expires. The coordinator parks the JoinGroup of each member until all
of them have joined, or a timer ends the phase; then the next generation begins, and every parked JoinGroup gets it.
"""

from rebalance_check.model.classic.parts.assignment import clean_owned_partitions
from rebalance_check.model.classic.parts.group_log import write_group
from rebalance_check.model.classic.parts.network import may_answer, put, refuse
from rebalance_check.model.classic.parts.protocol_vote import vote
from rebalance_check.model.classic.state import Config, GroupStatus, MessageKind, State, has, minus, with_, without
from rebalance_check.model.vocabulary.errors import Error

# ---------------------------------------------------------------------------------------- its beginning and its end


def prepare_rebalance(c: Config, s: State) -> None:
    """The join phase begins, unless it is under way.

    Parked SyncGroups get REBALANCE_IN_PROGRESS: the assignment they wait for will not come. A group that was empty
    waits for the initial rebalance delay, so that members that start together share one generation.

    Source: ``GroupMetadataManager.prepareRebalance``; KIP-134.
    """
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
    """Whether every member has joined and every pending id was used or forgotten.

    Source: ``ClassicGroup.hasAllMembersJoined``; KIP-394.
    """
    return s.joined == s.members and s.pending == 0


def maybe_complete_join(c: Config, s: State) -> None:
    """The join phase ends as soon as no member is missing; the initial one ends by its timer only.

    Source: ``GroupMetadataManager.maybeCompleteJoinPhase``.
    """
    if s.status == GroupStatus.PREPARING and s.initial_rebalance == 0 and all_joined(s):
        complete_join(c, s)


def complete_join(c: Config, s: State) -> None:
    """The join phase ends, and with it the old generation.

    The members vote for a protocol, every parked JoinGroup gets the new generation, and the coordinator waits for the
    leader's SyncGroup. Without members the group is Empty, which goes to the log. ``aux_missed`` notes an owner whose
    partitions this generation did not take into account; it serves invariants only.

    Source: ``GroupMetadataManager.completeClassicGroupJoin``; ``ClassicGroup.initNextGeneration``.
    """
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
    """Whether the coordinator knows the partitions of x, and since which generation."""
    me = s.member[x]
    return me.owned_partitions == me.owned and me.owned_generation == me.generation


# ---------------------------------------------------------------------------------------- parked requests and replies


def park(s: State, m: int, is_duplicate: bool) -> None:
    """The coordinator holds the reply back. A later request of the same member takes the place of an earlier one.

    The reply to a duplicate reaches no process: its client has given that request up.
    """
    if is_duplicate:
        s.parked_duplicates = with_(s.parked_duplicates, m)
    else:
        s.parked_duplicates = without(s.parked_duplicates, m)
        put(s.member[m].net, MessageKind.NOTHING)


def reply_to_join(c: Config, s: State, m: int) -> None:
    """The coordinator replies with the generation. The leader alone learns who owns what, because it assigns.

    Source: ``ClassicGroup.currentClassicGroupMembers``.
    """
    reply_with_generation(s, m)
    if m == s.leader:
        s.member[m].net.to_leader = 1
        clean_owned_partitions(c, s, s.member[m].net)


def reply_with_generation(s: State, m: int) -> None:
    """The coordinator writes a JoinGroup reply with the current generation and its protocol."""
    net = s.member[m].net
    put(net, MessageKind.JOIN_REPLY)
    net.generation = s.generation
    net.protocol = s.selected_protocol
    net.origin = s.origin
