"""What a coordinator keeps of a group: read out for those who judge a group at rest."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.shard import Shard
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
