"""The events of the coordinator, told at the moment they happen; nothing is built when nobody listens."""

from __future__ import annotations

from collections.abc import Hashable

from rebalance_check.impl.coordinator import emit_replies
from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.records import GroupRecord
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.status import GroupStatus
from rebalance_check.model.vocabulary import events


def incarnation_started(shard: Shard, group: Group) -> None:
    """The group was created or loaded."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        members = sorted(group.members.values(), key=lambda member: member.member_id)
        recorder.emit(
            events.IncarnationStarted(
                incarnation=group.incarnation,
                generation=group.generation,
                status=group.status.value,
                members=tuple(member.member_id for member in members),
                instances=tuple((m.member_id, m.group_instance_id) for m in members if m.group_instance_id is not None),
                leader=group.leader or "",
                protocol=group.protocol_name or "",
                max_size=shard.config.max_size,
            )
        )


def incarnation_ended(shard: Shard, group: Group, *, deposed: bool = False) -> None:
    """The coordinator of the group is none any more; ``deposed``: and does not know it yet."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(
            events.IncarnationEnded(incarnation=group.incarnation, generation=group.generation, deposed=deposed)
        )


def move(shard: Shard, group: Group, target: GroupStatus) -> None:
    """Change the status of a group, and emit."""
    before = group.status
    group.move_to(target, shard.now_ms)
    moved(shard, group, before)


def moved(shard: Shard, group: Group, before: GroupStatus) -> None:
    """The group has left the status ``before``."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(
            events.GroupStatusChanged(
                incarnation=group.incarnation,
                generation=group.generation,
                from_status=before.value,
                to_status=group.status.value,
            )
        )


def member_added(shard: Shard, group: Group, member_id: str) -> None:
    """A member id entered the group."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(
            events.MemberAdded(
                incarnation=group.incarnation,
                generation=group.generation,
                member_id=member_id,
                instance_id=group.members[member_id].group_instance_id or "",
            )
        )


def member_removed(shard: Shard, group: Group, member_id: str, reason: str) -> None:
    """A member id left the group, for one of the reasons that the event lists."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(
            events.MemberRemoved(
                incarnation=group.incarnation, generation=group.generation, member_id=member_id, reason=reason
            )
        )


def generation_started(shard: Shard, group: Group) -> None:
    """The join phase of the group's generation is complete."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(
            events.GenerationStarted(
                incarnation=group.incarnation,
                generation=group.generation,
                members=tuple(sorted(group.members)),
                leader=group.leader or "",
                protocol=group.protocol_name or "",
            )
        )


def metadata_written(shard: Shard, group: Group, record: GroupRecord) -> None:
    """A group record is handed to the log."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        members = tuple(sorted(member.member_id for member in record.members))
        recorder.emit(
            events.GroupMetadataWritten(incarnation=group.incarnation, generation=record.generation, members=members)
        )


def metadata_appended(shard: Shard, group: Group, record: GroupRecord, offset: int) -> None:
    """A group record is committed; generation and members are the record's, not necessarily the group's."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        assigned = tuple(
            sorted((member.member_id, emit_replies.text_of(member.assignment)) for member in record.members)
        )
        recorder.emit(
            events.GroupMetadataAppended(
                incarnation=group.incarnation,
                generation=record.generation,
                members=tuple(member_id for member_id, _ in assigned),
                offset=offset,
                assignments=assigned,
            )
        )


def group_deleted(shard: Shard, group: Group) -> None:
    """The group's tombstone is handed to the log."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(
            events.GroupDeleted(incarnation=group.incarnation, generation=group.generation, status=group.status.value)
        )


def parked(shard: Shard, group: Group, member_id: str, token: Hashable) -> None:
    """A request is kept for ``member_id``, to be answered later."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None and isinstance(token, emit_replies.Ticket):
        recorder.emit(emit_replies.parked(token, member_id, group.incarnation, group.generation))
