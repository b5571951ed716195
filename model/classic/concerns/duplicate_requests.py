"""Concern *duplicate requests*: the network delivers a request a second time, when its member may have gone on.

Retries below the client, or a slow connection that was given up, let a coordinator see a request that its sender has
forgotten. Nothing in a classic request says that it is a repetition.
"""

from typing import Final

from rebalance_check.model.checker.layout import reset
from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.coordinator import add_member, fence, is_answered_at_once, propagate, rejoin
from rebalance_check.model.classic.parts.departures import next_leader_candidates, rebalance_without, remove_member
from rebalance_check.model.classic.parts.join_phase import park
from rebalance_check.model.classic.parts.protocol_vote import (
    is_compatible_duplicate,
    joins_with_its_list,
)
from rebalance_check.model.classic.state import (
    Config,
    GroupStatus,
    MessageKind,
    State,
    has,
    with_,
    without,
)
from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.model.vocabulary.errors import Error


def duplicate_request(c: Config, s: State, m: int) -> bool:
    """The network keeps a duplicate of a request, to be delivered later.

    A JoinGroup without a member id, a Heartbeat and a LeaveGroup by instance id are not duplicated: the first is a
    second process that joins and dies, the second changes nothing, and the third is an administrator who removes the
    member of that instance id.

    Source: KIP-394 (what repeated JoinGroups do to a group); ``NetworkClient``.
    Leaves unchanged: the request itself, the member and the coordinator.
    """
    net = s.member[m].net
    if s.duplicate.kind != MessageKind.NOTHING or s.duplicates >= c.duplicates:
        return False
    if not (
        (net.kind == MessageKind.JOIN_REQUEST and net.has_member_id == 1)
        or net.kind == MessageKind.SYNC_REQUEST
        or (net.kind == MessageKind.LEAVE_REQUEST and net.by_instance_id == 0)
    ):
        return False
    s.duplicates += 1
    s.duplicate.kind = net.kind
    s.duplicate.member = m
    s.duplicate.stale = 0 if has(s.members | s.pending, m) else 1
    s.duplicate.generation = net.generation
    s.duplicate.partitions = net.partitions
    s.duplicate.list_index = s.member[m].list_index
    for x in range(c.members):
        s.duplicate.parts[x] = net.parts[x]
    return True


def deliver_choices(s: State, m: int) -> int:
    """How many members may lead next, when the duplicate is a LeaveGroup."""
    return (
        next_leader_candidates(s, m) if s.duplicate.kind == MessageKind.LEAVE_REQUEST and s.duplicate.member == m else 1
    )


def deliver_duplicate(c: Config, s: State, m: int, k: int) -> bool:
    """The duplicate arrives at the coordinator, and its reply goes nowhere.

    Under a member id that the coordinator has removed it is refused with UNKNOWN_MEMBER_ID. Otherwise it is handled
    like the request itself, and may replace a parked request of the member.

    Source: ``ClassicGroup.updateMember``; ``GroupMetadataManager.classicGroupJoinExistingMember``.
    Leaves unchanged: the process and its messages.
    """
    if s.duplicate.kind == MessageKind.NOTHING or s.duplicate.member != m:
        return False
    if s.duplicate.stale == 0:
        if s.duplicate.kind == MessageKind.JOIN_REQUEST:
            join_group_duplicate(c, s, m)
        elif s.duplicate.kind == MessageKind.SYNC_REQUEST:
            sync_group_duplicate(c, s, m)
        else:
            remove_member(s, m, k)
            rebalance_without(c, s)
    reset(s.duplicate)
    return True


def join_group_duplicate(c: Config, s: State, m: int) -> None:
    """`join_group` for a duplicate."""
    owned_partitions = s.duplicate.owned_partitions
    owned_generation = s.duplicate.owned_generation
    if not is_compatible_duplicate(c, s):
        return
    if has(s.pending, m):
        add_member(c, s, m, owned_partitions, owned_generation, True)
    elif not (joins_with_its_list(c, s, m, True) and is_answered_at_once(s, m, owned_partitions, owned_generation)):
        rejoin(c, s, m, owned_partitions, owned_generation, True)


def sync_group_duplicate(c: Config, s: State, m: int) -> None:
    """`sync_group` for a duplicate."""
    if fence(s, m, s.duplicate.generation) == Error.NONE:
        s.pending_syncs = without(s.pending_syncs, m)
    if fence(s, m, s.duplicate.generation) == Error.NONE and s.status == GroupStatus.COMPLETING:
        if m == s.leader:
            for x in range(c.members):
                s.member[x].assignment = s.duplicate.assignments[x] if has(s.members, x) else 0
            propagate(c, s)
        else:
            s.synced = with_(s.synced, m)
            park(s, m, True)


DUPLICATE_REQUESTS: Final = Concern(
    rules=(
        Rule(ActionKind.DUPLICATE_REQUEST, duplicate_request),
        Rule(ActionKind.DELIVER_DUPLICATE, deliver_duplicate, deliver_choices),
    ),
)
