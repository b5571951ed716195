"""DescribeGroups, ListGroups and DeleteGroups."""

from __future__ import annotations

from collections.abc import Collection

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.member import GroupMember
from rebalance_check.impl.coordinator.records import GroupTombstone, OffsetTombstone, Record
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.writes import append, write_error
from rebalance_check.impl.protocol.messages import DescribedGroup, DescribedMember, ListedGroup
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus

CLASSIC = "classic"
"""The type of every group here, as ListGroups filters by it (KIP-848)."""

NOT_FOUND_SINCE = 6
"""The first DescribeGroups version with an error for an absent group; older ones call it Dead."""


def describe(shard: Shard, group_id: str, version: int) -> DescribedGroup:
    """A group as it stands; metadata and protocol are shown only while it is Stable."""
    group = visible(shard, group_id)
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
    """One member; its assignment is the one in memory, in any status."""
    return DescribedMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        metadata=member.metadata(group.protocol_name) if stable else b"",
        assignment=member.assignment,
    )


def visible(shard: Shard, group_id: str) -> Group | None:
    """A group as readers see it, who read committed records: one whose tombstone is under way is still there."""
    return shard.doomed.get(group_id) or shard.groups.get(group_id)


def list_groups(shard: Shard, states: Collection[str] = (), types: Collection[str] = ()) -> tuple[ListedGroup, ...]:
    """Every group in one of ``states`` and of one of ``types``, in any spelling, sorted by id; none given: all."""
    wanted = {state.lower() for state in states}
    if types and CLASSIC not in {name.lower() for name in types}:
        return ()
    groups = {**shard.groups, **shard.doomed}
    return tuple(
        ListedGroup(group_id, group.protocol_type or "", group.status.value)
        for group_id, group in sorted(groups.items())
        if group.is_created and (not wanted or group.status.value.lower() in wanted)
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
    tombstones: list[Record] = [OffsetTombstone(group_id, *key) for key in group.offsets.partitions()]
    outcomes: list[Error] = []
    removal = Removal(shard, group_id)

    def on_answer(error: Error) -> None:
        outcomes.append(error)
        removal.settle(error)

    append(shard, (*tombstones, GroupTombstone(group_id)), on_answer, removal.finish)
    return write_error(outcomes[0]) if outcomes else Error.NONE


class Removal:
    """A group goes as its tombstone is *written*: who joins from now on founds another. Readers see it for longer."""

    __slots__ = ("_group", "_shard")

    def __init__(self, shard: Shard, group_id: str) -> None:
        self._shard = shard
        self._group = shard.groups.pop(group_id)
        shard.emit.group_deleted(self._group)
        shard.doomed[group_id] = self._group

    def finish(self, _offset: int) -> None:
        """The tombstone is committed."""
        self._shard.doomed.pop(self._group.group_id, None)

    def settle(self, error: Error) -> None:
        """The outcome of the write: one that failed brings the group back, one that timed out is still under way."""
        if error not in {Error.NONE, Error.REQUEST_TIMED_OUT, Error.NOT_COORDINATOR}:
            self.finish(-1)
            self._shard.groups[self._group.group_id] = self._group
