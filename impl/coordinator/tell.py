"""The events of the coordinator, told at the moment they happen; nothing is built when nobody listens."""

from __future__ import annotations

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.status import GroupStatus
from rebalance_check.model import events


def incarnation_started(shard: Shard, group: Group) -> None:
    """The group was created or loaded."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(events.IncarnationStarted(incarnation=group.incarnation, generation=group.generation))


def move(shard: Shard, group: Group, target: GroupStatus) -> None:
    """Change the status of a group, and tell."""
    before = group.status
    group.move_to(target, shard.now_ms)
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(
            events.GroupStatusChanged(
                incarnation=group.incarnation,
                generation=group.generation,
                from_status=before.value,
                to_status=target.value,
            )
        )


def member_added(shard: Shard, group: Group, member_id: str) -> None:
    """A member id entered the group."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(
            events.MemberAdded(incarnation=group.incarnation, generation=group.generation, member_id=member_id)
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


def metadata_appended(shard: Shard, group: Group, generation: int, members: tuple[str, ...], offset: int) -> None:
    """A group record is committed; ``generation`` and ``members`` are the record's, not necessarily the group's."""
    recorder = shard.recorder(group.group_id)
    if recorder is not None:
        recorder.emit(
            events.GroupMetadataAppended(
                incarnation=group.incarnation, generation=generation, members=tuple(sorted(members)), offset=offset
            )
        )
