"""Writing a group to the log, and what a failed write becomes in an answer."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.impl.coordinator import tell
from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.records import GroupRecord, MemberRecord
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.model.errors import Error


def group_record(group: Group, now_ms: int, assignments: dict[str, bytes] | None = None) -> GroupRecord:
    """The record of a group as it stands; ``assignments`` replaces those in memory (a leader's SyncGroup)."""
    return GroupRecord(
        group_id=group.group_id,
        generation=group.generation,
        protocol_type=group.protocol_type or "",
        protocol_name=group.protocol_name,
        leader=group.leader,
        timestamp_ms=group.status_since_ms or now_ms,
        members=tuple(
            MemberRecord(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=member.rebalance_timeout_ms,
                session_timeout_ms=member.session_timeout_ms,
                subscription=member.metadata(group.protocol_name),
                assignment=member.assignment if assignments is None else assignments.get(member.member_id, b""),
            )
            for member in group.members.values()
        ),
    )


def append_group(shard: Shard, group: Group, record: GroupRecord, on_outcome: Callable[[Error], None]) -> None:
    """Write ``record``; ``on_outcome`` gets NONE, or the error of the write."""

    def told(error: Error, offset: int) -> None:
        if error is Error.NONE:
            members = tuple(member.member_id for member in record.members)
            tell.metadata_appended(shard, group, record.generation, members, offset)
        on_outcome(error)

    shard.log.append((record,), told)
