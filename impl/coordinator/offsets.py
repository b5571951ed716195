"""OffsetCommit, TxnOffsetCommit, OffsetFetch and OffsetDelete (``OffsetMetadataManager``)."""

from __future__ import annotations

from collections.abc import Hashable

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.records import NO_PRODUCER, OffsetRecord, OffsetTombstone, TransactionMarker
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.writes import after_writes, append, settle_unrecorded, write_error
from rebalance_check.impl.protocol.java_order import utf16_key
from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    OffsetCommitReply,
    OffsetCommitRequest,
    OffsetDeleteReply,
    OffsetDeleteRequest,
    OffsetFetchReply,
    OffsetFetchRequest,
    TxnOffsetCommitReply,
    TxnOffsetCommitRequest,
)
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.group_status import GroupStatus

NETWORK_ERROR = Error.COORDINATOR_LOAD_IN_PROGRESS
"""How a commit is answered whose write met NETWORK_EXCEPTION; other requests are answered that error itself."""

NO_EPOCH = -1

NOT_FOUND_SINCE = 9
"""The first OffsetCommit version that answers GROUP_ID_NOT_FOUND where older ones say ILLEGAL_GENERATION."""

Commit = OffsetCommitRequest | TxnOffsetCommitRequest


# ------------------------------------------------------------------------------------------------ commit


def offset_commit(shard: Shard, token: Hashable, request: Commit) -> None:
    """Commit offsets, fenced by member and generation; a commit outside a group creates a simple one.

    In a transaction they count when that ends; such a commit does not prolong the session of its member.
    """
    group = shard.groups.get(request.group_id)
    error = refusal(group, request)
    if error is not Error.NONE:
        shard.answer(token, commit_reply(request, error))
        return
    is_first = group is None
    if group is None:
        group = create_simple_group(shard, request.group_id)
    member = group.members.get(request.member_id)
    is_alive = group.status in {GroupStatus.STABLE, GroupStatus.PREPARING_REBALANCE}
    if member is not None and is_alive and isinstance(request, OffsetCommitRequest):
        shard.arm_session(group, member.member_id, member.session_timeout_ms)
    write(shard, group, token, request, is_first=is_first)


def refusal(group: Group | None, request: Commit) -> Error:
    """Why a commit is refused (``ClassicGroup.validateOffsetCommit``), first match first; NONE where it is not."""
    in_transaction = isinstance(request, TxnOffsetCommitRequest)
    if group is None:
        if request.generation_id < 0:
            return Error.NONE
        tells_absence = request.version >= NOT_FOUND_SINCE and not in_transaction
        return Error.GROUP_ID_NOT_FOUND if tells_absence else Error.ILLEGAL_GENERATION
    if group.status is GroupStatus.DEAD:
        return Error.COORDINATOR_NOT_AVAILABLE
    if request.generation_id < 0 and group.status is GroupStatus.EMPTY:
        return Error.NONE
    if request.generation_id < 0 and not request.member_id and request.group_instance_id is None:
        return Error.NONE if in_transaction else Error.UNKNOWN_MEMBER_ID
    error = fencing(group, request)
    if error is Error.NONE and group.status is GroupStatus.COMPLETING_REBALANCE and not in_transaction:
        return Error.REBALANCE_IN_PROGRESS
    return error


def fencing(group: Group, request: Commit) -> Error:
    """Whether this member may commit in this generation."""
    error = group.validate_member(request.member_id, request.group_instance_id)
    if error is Error.NONE and request.generation_id != group.generation:
        return Error.ILLEGAL_GENERATION
    return error


def create_simple_group(shard: Shard, group_id: str) -> Group:
    """A group that only stores offsets: Empty, without protocol type and without a record of its own."""
    incarnation = shard.next_incarnation(group_id)
    group = Group(group_id=group_id, incarnation=incarnation, status_since_ms=shard.now_ms, is_created=False)
    shard.groups[group_id] = group
    shard.emit.incarnation_started(group)
    return group


def write(shard: Shard, group: Group, token: Hashable, request: Commit, *, is_first: bool) -> None:
    """Write what fits, and answer when it is committed; metadata that is too long is refused by itself.

    ``is_first``: the group is there for this write alone, and goes if it fails.
    """
    limit = shard.config.offset_metadata_max_bytes
    records = tuple(
        offset_record(shard, request, offset) for offset in request.offsets if utf16_units(offset.metadata) <= limit
    )

    if records and lacks_epoch(request):
        if is_first:
            shard.unrecorded.append(group)
        settle_unrecorded(shard, shard.take_unrecorded(), Error.UNKNOWN_SERVER_ERROR)
        shard.answer(token, commit_reply(request, Error.UNKNOWN_SERVER_ERROR))
        return
    if is_first and not records:
        shard.unrecorded.append(group)

    def on_commit(last: int) -> None:
        group.is_created = group.is_created or bool(records)
        for at, record in enumerate(records, last + 1 - len(records)):
            group.offsets.keep(record, at)

    def on_answer(error: Error) -> None:
        if is_first and error not in {Error.NONE, Error.REQUEST_TIMED_OUT}:
            shard.groups.pop(group.group_id, None)
        answered = NETWORK_ERROR if error is Error.NETWORK_EXCEPTION else write_error(error)
        shard.answer(token, commit_reply(request, answered, limit))

    append(shard, records, on_answer, on_commit)
    if isinstance(request, OffsetCommitRequest) and not shard.has_answered(token):
        shard.emit.parked(group, request.member_id, token)


def lacks_epoch(request: Commit) -> bool:
    """Whether a commit names a producer without an epoch, for which no batch can be made (``MemoryRecordsBuilder``)."""
    if not isinstance(request, TxnOffsetCommitRequest):
        return False
    return request.producer_id != NO_PRODUCER and request.producer_epoch == NO_EPOCH


def offset_record(shard: Shard, request: Commit, offset: CommittedOffset) -> OffsetRecord:
    """The record of one partition's commit."""
    if isinstance(request, TxnOffsetCommitRequest):
        return OffsetRecord(request.group_id, offset, shard.now_ms, None, request.producer_id)
    expire_ms = None if request.retention_time_ms < 0 else shard.now_ms + request.retention_time_ms
    return OffsetRecord(request.group_id, offset, shard.now_ms, expire_ms, NO_PRODUCER)


def commit_reply(request: Commit, error: Error, limit: int | None = None) -> OffsetCommitReply | TxnOffsetCommitReply:
    """``error`` for each partition; longer metadata than ``limit`` units of UTF-16 is an error of its own."""
    too_large = Error.OFFSET_METADATA_TOO_LARGE
    partitions = tuple(
        (
            offset.topic,
            offset.partition,
            too_large if limit is not None and utf16_units(offset.metadata) > limit else error,
        )
        for offset in request.offsets
    )
    if isinstance(request, TxnOffsetCommitRequest):
        return TxnOffsetCommitReply(error=error, partitions=partitions)
    return OffsetCommitReply(error=error, partitions=partitions)


def utf16_units(text: str) -> int:
    """How long Java takes a string for (``String.length``); the limit is called one of bytes, and is one of these."""
    return len(utf16_key(text)) // 2


def end_transaction(shard: Shard, producer_id: int, *, is_committed: bool) -> Error:
    """The marker of a transaction arrives (``completeTransaction``): what the producer committed counts, or never did.

    The error of the write as it is, for no client sees it; NONE on a log that withholds the outcome means that the
    end is under way.
    """
    outcomes: list[Error] = []

    def on_commit(_: int) -> None:
        for group in shard.groups.values():
            group.offsets.end(producer_id, is_committed=is_committed)

    append(shard, (TransactionMarker(producer_id, is_committed),), outcomes.append, on_commit)
    return outcomes[0] if outcomes else Error.NONE


# ------------------------------------------------------------------------------------------------ fetch


def offset_fetch(shard: Shard, token: Hashable, request: OffsetFetchRequest) -> None:
    """Read committed offsets; classic groups fence no reader. ``require_stable`` waits for earlier writes."""
    if request.require_stable:
        after_writes(shard, lambda error: shard.answer(token, fetch_reply(shard, request, error)))
    else:
        shard.answer(token, fetch_reply(shard, request, Error.NONE))


def fetch_reply(shard: Shard, request: OffsetFetchRequest, error: Error) -> OffsetFetchReply:
    """Each requested partition, -1 where nothing is committed; all that are committed where none is named.

    With ``require_stable``, those that an open transaction may change are UNSTABLE_OFFSET_COMMIT (KIP-447).
    """
    if error is not Error.NONE:
        answered = write_error(error)
        unavailable = answered is Error.COORDINATOR_NOT_AVAILABLE
        return OffsetFetchReply(error=Error.NOT_COORDINATOR if unavailable else answered)
    group = shard.groups.get(request.group_id)
    if group is None:
        return OffsetFetchReply(offsets=tuple(CommittedOffset(*key, -1) for key in request.partitions or ()))
    ledger = group.offsets
    requested = sorted(ledger.committed) if request.partitions is None else request.partitions
    unstable = {key for key in requested if request.require_stable and ledger.is_pending(key)}
    return OffsetFetchReply(
        offsets=tuple(
            CommittedOffset(*key, -1)
            if key in unstable or key not in ledger.committed
            else ledger.committed[key].committed
            for key in requested
        ),
        errors=tuple((*key, Error.UNSTABLE_OFFSET_COMMIT) for key in requested if key in unstable),
    )


# ------------------------------------------------------------------------------------------------ delete


def offset_delete(shard: Shard, token: Hashable, request: OffsetDeleteRequest) -> None:
    """Forget offsets of partitions whose topics no member subscribes to (``validateOffsetDelete``)."""
    group = shard.groups.get(request.group_id)
    if group is None or group.status is GroupStatus.DEAD:
        shard.answer(token, OffsetDeleteReply(error=Error.GROUP_ID_NOT_FOUND))
        return
    if group.status is not GroupStatus.EMPTY and not group.is_consumer_group():
        shard.answer(token, OffsetDeleteReply(error=Error.NON_EMPTY_GROUP))
        return
    free = [key for key in request.partitions if not group.is_subscribed(key[0])]
    known = [key for key in free if key in group.offsets.committed or group.offsets.is_pending(key)]

    def on_commit(_: int) -> None:
        for key in known:
            group.offsets.drop(key)

    def on_answer(error: Error) -> None:
        answered = write_error(error)
        if answered is not Error.NONE:
            shard.answer(token, OffsetDeleteReply(error=answered))
            return
        errors = (Error.NONE if key in free else Error.GROUP_SUBSCRIBED_TO_TOPIC for key in request.partitions)
        partitions = tuple((*key, error) for key, error in zip(request.partitions, errors, strict=True))
        shard.answer(token, OffsetDeleteReply(partitions=partitions))

    append(shard, tuple(OffsetTombstone(request.group_id, *key) for key in known), on_answer, on_commit)


def forget_topic(shard: Shard, topic: str) -> None:
    """A topic is gone, and with it every offset that groups or their open transactions have of it
    (``onPartitionsDeleted``)."""
    found = [
        (group, key)
        for _, group in sorted(shard.groups.items())
        for key in group.offsets.partitions()
        if key[0] == topic
    ]

    def on_commit(_: int) -> None:
        for group, key in found:
            group.offsets.drop(key)

    if found:
        records = tuple(OffsetTombstone(group.group_id, *key) for group, key in found)
        append(shard, records, lambda _: None, on_commit)
