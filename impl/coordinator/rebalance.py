"""The course of a rebalance: prepare, wait for joins, complete the join phase, wait for syncs."""

from __future__ import annotations

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.member import GroupMember
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.writes import OnAnswer, append_group, group_record
from rebalance_check.impl.protocol.messages import JoinGroupReply, SyncGroupReply
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus


def prepare_rebalance(shard: Shard, group: Group, on_empty: OnAnswer | None = None) -> None:
    """Start a rebalance (``prepareRebalance``); from Empty the initial delay runs, else all may have joined already.

    ``on_empty`` gets the fate of the record that a group writes which this leaves Empty.
    """
    if group.status is GroupStatus.COMPLETING_REBALANCE:
        refuse_syncs(shard, group, Error.REBALANCE_IN_PROGRESS)
    group.pending_sync.clear()
    shard.cancel_sync(group)
    is_initial = group.status is GroupStatus.EMPTY
    shard.move(group, GroupStatus.PREPARING_REBALANCE)
    if is_initial:
        delay = shard.config.initial_rebalance_delay_ms
        shard.arm_join(group, delay, delay, max(group.rebalance_timeout_ms() - delay, 0))
    elif group.has_all_members_joined():
        complete_join(shard, group, on_empty)
    else:
        shard.arm_join(group, group.rebalance_timeout_ms())


def refuse_syncs(shard: Shard, group: Group, error: Error) -> None:
    """Wipe all assignments and answer every parked SyncGroup with ``error``; those members get a new session."""
    for member in group.members.values():
        member.assignment = b""
        answer_sync(shard, group, member, error)


def answer_sync(shard: Shard, group: Group, member: GroupMember, error: Error) -> None:
    """Answer the parked SyncGroup of ``member``, if any, and restart its session; an error carries no protocol."""
    parked, member.awaiting_sync = member.awaiting_sync, None
    if parked is None:
        return
    shard.answer(parked.token, sync_reply(group, member, error))
    shard.arm_session(group, member.member_id, member.session_timeout_ms)


def sync_reply(group: Group, member: GroupMember, error: Error = Error.NONE) -> SyncGroupReply:
    """The reply to ``member``: its assignment under the group's protocol, or an error."""
    if error is not Error.NONE:
        return SyncGroupReply(error=error)
    return SyncGroupReply(
        protocol_type=group.protocol_type, protocol_name=group.protocol_name, assignment=member.assignment
    )


def maybe_complete_join(shard: Shard, group: Group, on_empty: OnAnswer | None = None) -> None:
    """End the join phase when all have joined; an initial rebalance ends by its timer only."""
    initial = group.previous_status is GroupStatus.EMPTY
    if group.status is GroupStatus.PREPARING_REBALANCE and not initial and group.has_all_members_joined():
        complete_join(shard, group, on_empty)


def on_join_timer(shard: Shard, group: Group, arguments: tuple[int, ...]) -> None:
    """The join timer fired: prolong an initial rebalance that new members joined, else end the join phase.

    ``arguments`` are (delay just spent, remaining), in ms, in an initial rebalance and absent otherwise. The timer may
    be that of a group that never was, because its first record failed, and meet an Empty one: Kafka then throws, but
    only after it has begun a generation.
    """
    if group.status is GroupStatus.EMPTY:
        group.generation += 1
    if group.status is not GroupStatus.PREPARING_REBALANCE:
        return
    if arguments and group.new_member_added and arguments[1]:
        delay, remaining = arguments
        group.new_member_added = False
        next_delay = min(shard.config.initial_rebalance_delay_ms, remaining)
        shard.arm_join(group, next_delay, next_delay, max(remaining - delay, 0))
    else:
        complete_join(shard, group)


def complete_join(shard: Shard, group: Group, on_empty: OnAnswer | None = None) -> None:
    """End the join phase: drop who did not rejoin, elect, start the next generation (``completeClassicGroupJoin``)."""
    shard.cancel_join(group)
    remove_silent_dynamic_members(shard, group)
    if not elect_joined_leader(shard, group):
        shard.arm_join(group, group.rebalance_timeout_ms())
        return
    start_generation(shard, group)
    if group.status is GroupStatus.EMPTY:
        append_group(shard, group, group_record(group, shard.now_ms), on_empty or (lambda _: None))
    else:
        answer_joins(shard, group)


def remove_silent_dynamic_members(shard: Shard, group: Group) -> None:
    """Drop every dynamic member that does not wait in JoinGroup; static ones stay until their session ends."""
    for member in list(group.members.values()):
        if member.awaiting_join is None and not member.is_static:
            shard.cancel_session(group, member.member_id)
            group.remove(member.member_id, shard.choices)
            shard.emit.member_removed(group, member.member_id, "rebalance timeout")


def elect_joined_leader(shard: Shard, group: Group) -> bool:
    """Make sure that a member that joined leads; False when there are members but none of them joined."""
    if group.leader is None or group.members[group.leader].awaiting_join is not None:
        return True
    joined = [member.member_id for member in group.members.values() if member.awaiting_join is not None]
    if joined:
        group.leader = shard.choices.leader(joined)
    return bool(joined)


def start_generation(shard: Shard, group: Group) -> None:
    """Begin the next generation, also when the group has become empty (``initNextGeneration``)."""
    group.generation += 1
    group.pending_sync.clear()
    group.protocol_name = group.select_protocol(shard.choices) if group.members else None
    group.subscribed_topics = group.read_subscriptions()
    shard.move(group, GroupStatus.COMPLETING_REBALANCE if group.members else GroupStatus.EMPTY)
    shard.emit.generation_started(group)


def answer_joins(shard: Shard, group: Group) -> None:
    """Answer every parked JoinGroup; each member, also a silent one, gets a new session and owes a SyncGroup."""
    for member in map(group.members.__getitem__, shard.choices.in_turn(group.members)):
        parked = group.unpark_join(member)
        if parked is not None:
            shard.answer(parked.token, join_reply(group, member.member_id))
        shard.arm_session(group, member.member_id, member.session_timeout_ms)
        member.is_new = False
        group.pending_sync.add(member.member_id)
    shard.arm_sync(group)


def join_reply(group: Group, member_id: str, *, with_members: bool = True) -> JoinGroupReply:
    """A successful JoinGroup for the present generation; the leader learns the members, if ``with_members``."""
    leads = member_id == group.leader
    return JoinGroupReply(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader or "",
        member_id=member_id,
        members=group.joined_members() if leads and with_members else (),
    )


def on_sync_timer(shard: Shard, group: Group, generation: int) -> None:
    """Members that owe their SyncGroup since the start of ``generation`` are removed, and the rest rebalances."""
    awaited = group.status in {GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}
    if group.generation != generation or not awaited or not group.pending_sync:
        return
    for member_id in sorted(group.pending_sync & group.members.keys()):
        shard.cancel_session(group, member_id)
        group.remove(member_id, shard.choices)
        shard.emit.member_removed(group, member_id, "sync timeout")
    prepare_rebalance(shard, group)
