"""What a coordinator keeps of a group: read out for those who judge a group at rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.member import GroupMember
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.protocol.consumer_protocol import PROTOCOL_TYPE, read_assignment
from rebalance_check.impl.protocol.resting_state import slots_of, state_of
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import CoordinatorRested


def rested(shard: Shard, group: Group) -> CoordinatorRested:
    """Everything that is kept of ``group``, with the timers that are armed for it; nothing changes."""
    members = group.members.values()
    return CoordinatorRested(
        incarnation=group.incarnation,
        generation=group.generation,
        leader=group.leader or "",
        offers=tuple((member.member_id, member.protocol_names()) for member in members),
        timeouts=tuple(
            (member.member_id, member.session_timeout_ms, member.rebalance_timeout_ms) for member in members
        ),
        parked=tuple(_parked(group)),
        pending_joins=tuple(sorted(group.pending_join)),
        pending_syncs=tuple(sorted(group.pending_sync)),
        static_members=tuple(sorted(group.static_members.items())),
        supported=tuple(sorted((name, count) for name, count in group.supported.items() if count)),
        subscribed=tuple(sorted(group.subscribed_topics or ())),
        timers=tuple(_timers(shard, group)),
        committed=tuple(
            (TopicPartition(*key).name, stored.committed.offset)
            for key, stored in sorted(group.offsets.committed.items())
        ),
    )


BY_HISTORY: Final = (
    "generation", "incarnation", "status_since_ms", "previous_status", "is_created", "offsets", "leader", "members",
    "static_members", "pending_join", "pending_sync", "new_member_added",
    "supported",
)  # fmt: skip
"""Fields of a group in which two groups of the same members may differ, or that claims of their own are about.

``new_member_added`` outlives the initial delay that it prolongs, as in Kafka
(``tryCompleteInitialRebalanceElseSchedule``)."""

OF_THE_SHARD: Final = ("doomed", "pending_writes", "refused", "unanswered", "unrecorded")
"""Fields of the coordinator that are about single groups and requests, and empty when nothing is under way."""


def remembered(shard: Shard, group: Group) -> list[tuple[str, dict[str, str]]]:
    """The role and all fields of the coordinator, then of each member that it keeps."""
    under_way = state_of(shard, shard.now_ms, but=set(slots_of(Shard)) - set(OF_THE_SHARD))
    sizes = sorted(len(_partitions(member)) for member in group.members.values())
    whole = {
        **state_of(group, shard.now_ms, but=BY_HISTORY),
        **under_way,
        "timers aside": str(len(shard.timers.put_off)),
        "partitions of its members": ", ".join(map(str, sizes)),
    }
    kept = [state_of(member, shard.now_ms, but=("assignment", "protocols")) for member in group.members.values()]
    return [("coordinator", whole), *(("member at the coordinator", one) for one in kept)]


def _partitions(member: GroupMember) -> tuple[TopicPartition, ...]:
    """What is assigned to a consumer; nothing of other groups."""
    if member.protocol_type != PROTOCOL_TYPE or not member.assignment:
        return ()
    return tuple(read_assignment(member.assignment).partitions)


def _parked(group: Group) -> Iterator[tuple[str, str]]:
    """The member of each request that waits, and its API."""
    for member in group.members.values():
        if member.awaiting_join is not None:
            yield member.member_id, Api.JOIN_GROUP.value
        if member.awaiting_sync is not None:
            yield member.member_id, Api.SYNC_GROUP.value


def _timers(shard: Shard, group: Group) -> Iterator[tuple[str, str, int]]:
    """Kind, member id, and ms until it is due, of each timer of the group."""
    for timer in shard.timers.armed():
        if timer.key.group_id == group.group_id:
            yield timer.key.kind.value, timer.key.member_id, timer.deadline_ms - shard.now_ms
