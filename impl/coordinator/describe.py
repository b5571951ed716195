"""DescribeGroups, ListGroups and DeleteGroups."""

from __future__ import annotations

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.member import GroupMember
from rebalance_check.impl.coordinator.records import GroupTombstone, OffsetTombstone, Record
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.status import GroupStatus
from rebalance_check.impl.coordinator.writes import append, write_error
from rebalance_check.impl.messages import DescribedGroup, DescribedMember, ListedGroup
from rebalance_check.model.errors import Error

NOT_FOUND_SINCE = 6
"""The first DescribeGroups version with an error for an absent group; older ones call it Dead."""


def describe(shard: Shard, group_id: str, version: int) -> DescribedGroup:
    """A group as it stands; metadata and protocol are shown only while it is Stable."""
    group = shard.groups.get(group_id)
    if group is None or not group.is_created:
        error = Error.GROUP_ID_NOT_FOUND if version >= NOT_FOUND_SINCE else Error.NONE
        return DescribedGroup(
            error=error, group_id=group_id, state=GroupStatus.DEAD.value, protocol_type="", protocol_name=""
        )
    stable = group.status is GroupStatus.STABLE
    return DescribedGroup(
        group_id=group_id,
        state=group.status.value,
        protocol_type=group.protocol_type or "",
        protocol_name=(group.protocol_name or "") if stable else "",
        members=tuple(described(group, member, stable) for member in group.members.values()),
    )


def described(group: Group, member: GroupMember, stable: bool) -> DescribedMember:
    """One member; its assignment is whatever memory holds, in any status."""
    return DescribedMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        metadata=member.metadata(group.protocol_name) if stable else b"",
        assignment=member.assignment,
    )


def list_groups(shard: Shard) -> tuple[ListedGroup, ...]:
    """Every group, sorted by id."""
    return tuple(
        ListedGroup(group_id, group.protocol_type or "", group.status.value)
        for group_id, group in sorted(shard.groups.items())
    )


def delete(shard: Shard, group_id: str) -> Error:
    """Delete an Empty group with its offsets; NON_EMPTY_GROUP or GROUP_ID_NOT_FOUND otherwise.

    NONE on a log that withholds the outcome means that the deletion is under way.
    """
    group = shard.groups.get(group_id)
    if group is None or group.status is GroupStatus.DEAD:
        return Error.GROUP_ID_NOT_FOUND
    if group.status is not GroupStatus.EMPTY:
        return Error.NON_EMPTY_GROUP
    tombstones: list[Record] = [OffsetTombstone(group_id, *key) for key in sorted(group.offsets)]
    outcomes: list[Error] = []

    def on_commit(_: int) -> None:
        shard.groups.pop(group_id, None)
        shard.timers.cancel_group(group_id)

    append(shard, (*tombstones, GroupTombstone(group_id)), outcomes.append, on_commit)
    return write_error(outcomes[0]) if outcomes else Error.NONE
