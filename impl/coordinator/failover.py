"""Taking a coordinator's groups out of service, and reading them back from the log (``onUnloaded``, ``onLoaded``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.member import GroupMember
from rebalance_check.impl.coordinator.offset_ledger import OffsetLedger
from rebalance_check.impl.coordinator.rebalance import prepare_rebalance
from rebalance_check.impl.coordinator.records import (
    GroupRecord,
    GroupTombstone,
    MemberRecord,
    OffsetRecord,
    OffsetTombstone,
    Record,
    TransactionMarker,
)
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.protocol.messages import JoinGroupReply, JoinProtocol, SyncGroupReply
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus

NO_REBALANCE_TIMEOUT = -1
"""The rebalance timeout, in ms, of a record that has none (``GroupMetadataValue``, version 0)."""


def unload(shard: Shard) -> None:
    """Fail uncommitted writes, then let every group die: parked requests are answered NOT_COORDINATOR."""
    shard.timers.clear()
    pending, shard.pending_writes = shard.pending_writes, {}
    for waiting in pending.values():
        waiting(Error.NOT_COORDINATOR)
    shard.timers.clear()
    for group in shard.groups.values():
        shard.move(group, GroupStatus.DEAD)
        for member in group.members.values():
            dismiss(shard, group, member)
        shard.emit.incarnation_ended(group)
    shard.groups.clear()
    shard.doomed.clear()


def dismiss(shard: Shard, group: Group, member: GroupMember) -> None:
    """Answer what ``member`` has parked; it must go to the next coordinator."""
    parked_join = group.unpark_join(member)
    if parked_join is not None:
        shard.answer(parked_join.token, JoinGroupReply(error=Error.NOT_COORDINATOR, member_id=member.member_id))
    parked_sync, member.awaiting_sync = member.awaiting_sync, None
    if parked_sync is not None:
        shard.answer(parked_sync.token, SyncGroupReply(error=Error.NOT_COORDINATOR))


def die(shard: Shard) -> None:
    """Drop everything in memory: no request is answered, only events say so."""
    for group in shard.groups.values():
        shard.emit.incarnation_ended(group)
    forget(shard)


def depose(shard: Shard) -> None:
    """Every group has another coordinator from now on, which this one does not know: only events say so."""
    for group in shard.groups.values():
        shard.emit.incarnation_ended(group, deposed=True)


def forget(shard: Shard) -> None:
    """Drop everything in memory, without answers and without events."""
    shard.timers.clear()
    shard.pending_writes.clear()
    shard.unanswered.clear()
    shard.refused.clear()
    shard.groups.clear()
    shard.doomed.clear()
    shard.take_answers()


def load(shard: Shard, records: Iterable[Record]) -> None:
    """Bring the groups back as in their last records, with a new session for every member."""
    latest, offsets = replay(records)
    for group_id in sorted(latest.keys() | offsets.keys()):
        record = latest.get(group_id)
        group = Group(group_id=group_id, incarnation=shard.next_incarnation(group_id))
        if record is not None:
            restore(group, record)
            group.subscribed_topics = group.read_subscriptions()
        group.offsets = offsets.get(group_id, group.offsets)
        shard.groups[group_id] = group
        shard.emit.incarnation_started(group)
        resume(shard, group)


def replay(records: Iterable[Record]) -> tuple[dict[str, GroupRecord], dict[str, OffsetLedger]]:
    """The last record of each group, and its offsets; tombstones take both away."""
    groups: dict[str, GroupRecord] = {}
    offsets: defaultdict[str, OffsetLedger] = defaultdict(OffsetLedger)
    for at, record in enumerate(records):
        match record:
            case GroupRecord():
                groups[record.group_id] = record
            case GroupTombstone():
                groups.pop(record.group_id, None)
            case OffsetRecord():
                offsets[record.group_id].keep(record, at)
            case OffsetTombstone():
                offsets[record.group_id].drop((record.topic, record.partition))
            case TransactionMarker():
                for ledger in offsets.values():
                    ledger.end(record.producer_id, is_committed=record.is_committed)
    return groups, {group_id: kept for group_id, kept in offsets.items() if kept}


def restore(group: Group, record: GroupRecord) -> None:
    """The surviving part: generation, protocol, leader, and the members of the record, each with one protocol."""
    group.generation = record.generation
    group.protocol_type = record.protocol_type or None
    group.protocol_name = record.protocol_name
    group.status_since_ms = record.timestamp_ms
    for member_record in record.members:
        group.add(restored_member(record, member_record))
    group.protocol_type = record.protocol_type or None
    group.leader = record.leader
    group.status = GroupStatus.STABLE if record.members else GroupStatus.EMPTY


def restored_member(record: GroupRecord, member: MemberRecord) -> GroupMember:
    """A member as in its record; it is not new, and nothing of it is parked."""
    return GroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=timeout_on_record(member),
        session_timeout_ms=member.session_timeout_ms,
        protocol_type=record.protocol_type,
        protocols=(JoinProtocol(record.protocol_name or "", member.subscription),),
        assignment=member.assignment,
    )


def timeout_on_record(member: MemberRecord) -> int:
    """The rebalance timeout, in ms: a record that says -1 has none, and the session timeout serves (``replay``)."""
    is_missing = member.rebalance_timeout_ms == NO_REBALANCE_TIMEOUT
    return member.session_timeout_ms if is_missing else member.rebalance_timeout_ms


def resume(shard: Shard, group: Group) -> None:
    """Start the sessions anew; a group that has outgrown the limit rebalances at once."""
    for member_id in shard.choices.in_turn(group.members):
        shard.arm_session(group, member_id, group.members[member_id].session_timeout_ms)
    if len(group.members) > shard.config.max_size:
        prepare_rebalance(shard, group)
