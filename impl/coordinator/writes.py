"""Writing to the log: the time limit of a write, the error of a failed one in an answer, and the record of a group."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from rebalance_check.impl.coordinator.group import Group
from rebalance_check.impl.coordinator.records import GroupRecord, MemberRecord, Record
from rebalance_check.impl.coordinator.shard import Shard
from rebalance_check.impl.coordinator.timers import TimerKey, TimerKind
from rebalance_check.impl.protocol.messages import GroupReply
from rebalance_check.model.vocabulary.errors import Error

OnAnswer = Callable[[Error], None]

WRITE_ERRORS: Final[dict[Error, Error]] = {
    Error.UNKNOWN_TOPIC_OR_PARTITION: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_ENOUGH_REPLICAS: Error.COORDINATOR_NOT_AVAILABLE,
    Error.REQUEST_TIMED_OUT: Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_LEADER_OR_FOLLOWER: Error.NOT_COORDINATOR,
    Error.KAFKA_STORAGE_ERROR: Error.NOT_COORDINATOR,
    Error.MESSAGE_TOO_LARGE: Error.UNKNOWN_SERVER_ERROR,
    Error.RECORD_LIST_TOO_LARGE: Error.UNKNOWN_SERVER_ERROR,
    Error.INVALID_FETCH_SIZE: Error.UNKNOWN_SERVER_ERROR,
}
"""The error that answers a request whose write failed; errors that are not listed stay as they are."""


def append(
    shard: Shard,
    records: tuple[Record, ...],
    on_answer: OnAnswer,
    on_commit: Callable[[int], None] | None = None,
) -> None:
    """Write ``records``. ``on_answer`` is called once: with NONE, a failure, or REQUEST_TIMED_OUT after the limit.

    A time-out is no failure: ``on_commit`` gets the offset whenever the records are committed, however late.
    """
    waiter = Waiter(shard, on_answer)

    unrecorded = shard.take_unrecorded() if records else []

    def on_outcome(error: Error, offset: int) -> None:
        settle_unrecorded(shard, unrecorded, error)
        if error is Error.NONE and on_commit is not None:
            on_commit(offset)
        waiter.resolve(error)

    shard.log.append(records, on_outcome)
    waiter.limit()


def settle_unrecorded(shard: Shard, groups: list[Group], error: Error) -> None:
    """The outcome of the first write after ``groups`` were created without a record. If it failed, Kafka takes back
    what is in memory beyond its last write, and with it these groups and the members that have joined them meanwhile.
    """
    for group in groups:
        group.is_created = error is Error.NONE
        if error is not Error.NONE and shard.groups.get(group.group_id) is group:
            del shard.groups[group.group_id]


def after_writes(shard: Shard, on_answer: OnAnswer) -> None:
    """Call ``on_answer`` once every earlier write has its outcome, at most the limit later."""
    waiter = Waiter(shard, on_answer)
    shard.log.barrier(lambda error, _: waiter.resolve(error))
    waiter.limit()


def refuse_after_writes(shard: Shard, token: Hashable, refusal: Callable[[Error], GroupReply]) -> None:
    """A request that was parked while writes are under way is refused if these fail or take too long.

    To Kafka it is a write of its own, be it an empty one, behind the others (``scheduleWriteOperation``). A request
    that is refused so stays parked in the group, and its member stays a member.
    """
    if shard.has_answered(token):
        return
    shard.unanswered.add(token)

    def on_outcome(error: Error) -> None:
        is_waiting = token in shard.unanswered
        shard.unanswered.discard(token)
        if is_waiting and error is not Error.NONE:
            shard.answer(token, refusal(write_error(error)))
            shard.refused.add(token)

    after_writes(shard, on_outcome)


class Waiter:
    """Waits for a write: resolved once, by the outcome or by the time limit, whichever comes first."""

    __slots__ = ("_is_resolved", "_key", "_on_answer", "_shard")

    def __init__(self, shard: Shard, on_answer: OnAnswer) -> None:
        self._shard = shard
        self._on_answer = on_answer
        self._is_resolved = False
        self._key: TimerKey | None = None

    def limit(self) -> None:
        """From now on the time runs; nothing to do when the outcome was there at once."""
        if not self._is_resolved:
            self._key = TimerKey(TimerKind.WRITE, "", str(self._shard.next_write()))
            self._shard.timers.arm(self._key, self._shard.now_ms + self._shard.config.write_timeout_ms)
            self._shard.pending_writes[self._key] = self.resolve

    def resolve(self, error: Error) -> None:
        """The outcome; the second and later ones are ignored."""
        if self._is_resolved:
            return
        self._is_resolved = True
        if self._key is not None:
            self._shard.timers.cancel(self._key)
            self._shard.pending_writes.pop(self._key, None)
        self._on_answer(error)


def on_write_timer(shard: Shard, key: TimerKey) -> None:
    """A write took too long."""
    if key in shard.pending_writes:
        shard.pending_writes[key](Error.REQUEST_TIMED_OUT)


def write_error(error: Error) -> Error:
    """The error that answers a request whose write ended with ``error``."""
    return WRITE_ERRORS.get(error, error)


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


def append_group(shard: Shard, group: Group, record: GroupRecord, on_answer: OnAnswer) -> None:
    """Write ``record``, emit its commit, and report the outcome as `append` does."""

    def on_commit(offset: int) -> None:
        group.is_created = True
        shard.emit.metadata_appended(group, record, offset)

    shard.emit.metadata_written(group, record)
    append(shard, (record,), on_answer, on_commit)
