"""OffsetCommit and OffsetFetch, non-transactional (``OffsetMetadataManager``)."""

from __future__ import annotations

from collections.abc import Hashable

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.records import OffsetRecord
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.status import GroupStatus
from rebalance_check.impl.coordinator.writes import after_writes, append, write_error
from rebalance_check.impl.messages import (
    CommittedOffset,
    OffsetCommitReply,
    OffsetCommitRequest,
    OffsetFetchReply,
    OffsetFetchRequest,
)
from rebalance_check.model.errors import Error

NETWORK_ERROR = Error.COORDINATOR_LOAD_IN_PROGRESS
"""What a commit is told when its write met NETWORK_EXCEPTION; other requests hear that error itself."""

NOT_FOUND_SINCE = 9
"""The first OffsetCommit version that answers GROUP_ID_NOT_FOUND where older ones say ILLEGAL_GENERATION."""


def offset_commit(shard: Shard, token: Hashable, request: OffsetCommitRequest) -> None:
    """Commit offsets, fenced by member and generation; a commit outside a group creates a simple one."""
    group = shard.groups.get(request.group_id)
    error = refusal(shard, group, request)
    if error is not Error.NONE:
        shard.answer(token, commit_reply(request, error))
        return
    is_first = group is None
    if group is None:
        group = create_simple_group(shard, request.group_id)
    member = group.members.get(request.member_id)
    if member is not None and group.status in {GroupStatus.STABLE, GroupStatus.PREPARING_REBALANCE}:
        shard.arm_session(group, member.member_id, member.session_timeout_ms)
    write(shard, group, token, request, is_first=is_first)


def refusal(shard: Shard, group: Group | None, request: OffsetCommitRequest) -> Error:
    """Why a commit is refused (``ClassicGroup.validateOffsetCommit``), first match first; NONE where it is not."""
    if group is None:
        if request.generation_id < 0:
            return Error.NONE
        return Error.GROUP_ID_NOT_FOUND if request.version >= NOT_FOUND_SINCE else Error.ILLEGAL_GENERATION
    if group.status is GroupStatus.DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    if request.generation_id < 0 and group.status is GroupStatus.EMPTY:
        return Error.NONE
    if request.generation_id < 0 and not request.member_id and request.group_instance_id is None:
        return Error.UNKNOWN_MEMBER_ID
    error = fencing(shard, group, request)
    if error is Error.NONE and group.status is GroupStatus.COMPLETING_REBALANCE:
        return Error.REBALANCE_IN_PROGRESS
    return error


def fencing(shard: Shard, group: Group, request: OffsetCommitRequest) -> Error:
    """Whether this member may commit in this generation."""
    if "commit-not-fenced" in shard.defects:
        return Error.NONE
    error = group.validate_member(request.member_id, request.group_instance_id)
    if error is Error.NONE and request.generation_id != group.generation:
        return Error.ILLEGAL_GENERATION
    return error


def create_simple_group(shard: Shard, group_id: str) -> Group:
    """A group that only stores offsets: Empty, without protocol type and without a record of its own."""
    incarnation = shard.next_incarnation(group_id)
    group = Group(group_id=group_id, incarnation=incarnation, status_since_ms=shard.now_ms, is_created=False)
    shard.groups[group_id] = group
    return group


def write(shard: Shard, group: Group, token: Hashable, request: OffsetCommitRequest, *, is_first: bool) -> None:
    """Write what fits, and answer when it is committed; metadata that is too long is refused by itself.

    ``is_first``: the group is there for this write alone, and goes if it fails.
    """
    limit = shard.config.offset_metadata_max_bytes
    fitting = tuple(offset for offset in request.offsets if len(offset.metadata.encode()) <= limit)

    def on_commit(_: int) -> None:
        group.is_created = True
        group.offsets.update({(offset.topic, offset.partition): offset for offset in fitting})

    def on_answer(error: Error) -> None:
        if is_first and error not in {Error.NONE, Error.REQUEST_TIMED_OUT}:
            shard.groups.pop(group.group_id, None)
        told = NETWORK_ERROR if error is Error.NETWORK_EXCEPTION else write_error(error)
        shard.answer(token, commit_reply(request, told, limit))

    append(shard, tuple(OffsetRecord(group.group_id, offset) for offset in fitting), on_answer, on_commit)


def commit_reply(request: OffsetCommitRequest, error: Error, limit: int | None = None) -> OffsetCommitReply:
    """``error`` for each partition; longer metadata than ``limit`` bytes is an error of its own."""
    too_large = Error.OFFSET_METADATA_TOO_LARGE
    return OffsetCommitReply(
        error=error,
        partitions=tuple(
            (
                offset.topic,
                offset.partition,
                too_large if limit is not None and len(offset.metadata.encode()) > limit else error,
            )
            for offset in request.offsets
        ),
    )


def offset_fetch(shard: Shard, token: Hashable, request: OffsetFetchRequest) -> None:
    """Read committed offsets; classic groups fence no reader. ``require_stable`` waits for earlier writes."""
    if request.require_stable:
        after_writes(shard, lambda error: shard.answer(token, fetch_reply(shard, request, error)))
    else:
        shard.answer(token, fetch_reply(shard, request, Error.NONE))


def fetch_reply(shard: Shard, request: OffsetFetchRequest, error: Error) -> OffsetFetchReply:
    """Each partition asked for, -1 where nothing is committed; all that are committed where none is named."""
    if error is not Error.NONE:
        told = write_error(error)
        unavailable = told is Error.COORDINATOR_NOT_AVAILABLE
        return OffsetFetchReply(error=Error.NOT_COORDINATOR if unavailable else told)
    group = shard.groups.get(request.group_id)
    committed = group.offsets if group is not None else {}
    asked = sorted(committed) if request.partitions is None else request.partitions
    nothing = [CommittedOffset(topic, partition, -1) for topic, partition in asked]
    found = tuple(committed.get((none.topic, none.partition), none) for none in nothing)
    return OffsetFetchReply(offsets=found)
