"""Old offsets are deleted, and with the last one their group (``GroupCoordinatorShard.cleanupGroupMetadata``)."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.coordinator.describe import Removal
from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.offset_ledger import StoredOffset, TopicIndex
from rebalance_check.impl.coordinator.records import GroupTombstone, OffsetTombstone, Record
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.writes import append
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus

MINUTE_MS: Final = 60_000


def delete_what_is_old(shard: Shard) -> None:
    """One pass over all groups, written as one unit; if that fails nothing has happened, until the next pass."""
    expired = {group_id: expired_offsets(shard, group) for group_id, group in sorted(shard.groups.items())}
    gone = [group_id for group_id, keys in expired.items() if is_used_up(shard.groups[group_id], keys)]
    records: list[Record] = []
    for group_id, keys in expired.items():
        records += [OffsetTombstone(group_id, *key) for key in keys]
        records += [GroupTombstone(group_id)] if group_id in gone else []
    if not records:
        return
    groups = {group_id: shard.groups[group_id] for group_id in expired}
    removals = [Removal(shard, group_id) for group_id in gone]

    def on_commit(offset: int) -> None:
        for group_id, keys in expired.items():
            for key in keys:
                groups[group_id].offsets.drop(key)
        for removal in removals:
            removal.finish(offset)

    def on_answer(error: Error) -> None:
        for removal in removals:
            removal.settle(error)

    append(shard, tuple(records), on_answer, on_commit)


def expired_offsets(shard: Shard, group: Group) -> list[TopicIndex]:
    """The partitions whose offsets are old: not those that an open transaction or a subscription holds."""
    if not can_expire(group):
        return []
    return [
        key
        for key, stored in sorted(group.offsets.committed.items())
        if not group.is_subscribed(key[0]) and not group.offsets.is_pending(key) and is_old(shard, group, stored)
    ]


def can_expire(group: Group) -> bool:
    """Whether offsets of the group may expire at all: of a simple or an Empty one, or of a stable consumer group."""
    if group.protocol_type is None or group.status is GroupStatus.EMPTY:
        return True
    return group.status is GroupStatus.STABLE and group.is_consumer_group() and group.subscribed_topics is not None


def is_old(shard: Shard, group: Group, stored: StoredOffset) -> bool:
    """Whether the retention is over since the group emptied, else since the commit; a commit may set its own end."""
    if stored.expire_ms is not None:
        return shard.now_ms >= stored.expire_ms
    has_emptied = group.protocol_type is not None and group.status is GroupStatus.EMPTY
    since = group.status_since_ms if has_emptied else stored.commit_ms
    return shard.now_ms - since >= shard.config.offsets_retention_minutes * MINUTE_MS


def is_used_up(group: Group, expired: list[TopicIndex]) -> bool:
    """Whether the group itself goes: it is Empty, every offset has expired, and no transaction is open."""
    return group.status is GroupStatus.EMPTY and len(expired) == len(group.offsets.committed) and not group.offsets.open
