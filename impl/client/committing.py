"""Committing offsets as a member of a group: when it may be sent, and the meaning of each answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rebalance_check.impl.client.core import Sent
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.client.fetching import Fetching
from rebalance_check.impl.client.generation import Generation, MemberState
from rebalance_check.impl.client.metrics import register_commits
from rebalance_check.impl.protocol.messages import CommittedOffset, GroupReply, OffsetCommitReply, OffsetCommitRequest
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.metrics import Metrics, Sensor
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import OffsetCommitted


class CommitOutcome(StrEnum):
    """The outcome of a commit."""

    PENDING = "pending"
    COMMITTED = "committed"
    RETRIABLE = "retriable"
    """Not done, or (after a disconnect) the outcome is unknown; trying again may help."""
    REBALANCE_IN_PROGRESS = "rebalance in progress"
    """Refused because of a rebalance that the member is part of: poll, then commit again for partitions still owned."""
    COMMIT_FAILED = "commit failed"
    """The member is not part of the group any more; its partitions may belong to others."""
    FENCED = "fenced"
    REJECTED = "rejected"
    """This commit is unacceptable (size, authorisation, an unexpected error), from any member."""


@dataclass(slots=True)
class Commit:
    """A commit and its outcome; ``error`` is the coordinator's answer, None when it gave none."""

    offsets: Mapping[TopicPartition, int]
    outcome: CommitOutcome = CommitOutcome.PENDING
    error: Error | None = None


_NO_DEDUCTION: Final = {
    Error.COORDINATOR_LOAD_IN_PROGRESS: CommitOutcome.RETRIABLE,
    Error.UNKNOWN_TOPIC_OR_PARTITION: CommitOutcome.RETRIABLE,
}
"""Answers that say nothing about membership; those not listed anywhere are rejections."""

_COORDINATOR_GONE: Final = frozenset({Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR, Error.REQUEST_TIMED_OUT})
_REBALANCING: Final = frozenset({MemberState.PREPARING_REBALANCE, MemberState.COMPLETING_REBALANCE})


class Committing(Fetching):
    """A coordinator that commits offsets, too (``ConsumerCoordinator.OffsetCommitResponseHandler``)."""

    commit_sensor: Sensor
    _fenced: GroupError | None = None

    def register_metrics(self, metrics: Metrics) -> None:
        """As the base class, and how long commits take."""
        super().register_metrics(metrics)
        register_commits(self.metric_group(metrics), self.commit_sensor)

    def poll(self, now_ms: int) -> None:
        """As `Coordinator.poll`. Once a commit was answered FENCED_INSTANCE_ID every poll raises that, for good.

        The poll interval is not started anew by such a poll, so heartbeats go on until it expires.
        """
        if self._fenced is not None:
            raise self._fenced
        super().poll(now_ms)

    def commit(self, offsets: Mapping[TopicPartition, int], now_ms: int) -> Commit:
        """Send a commit of ``offsets`` (the next to read), tagged with the present generation; the outcome comes later.

        Only a STABLE member sends anything; otherwise the outcome is there at once. Raises `GroupError` after this
        member was fenced.
        """
        self._now_ms = now_ms
        if self._fenced is not None:
            raise self._fenced
        return self._commit(offsets)

    def _commit(self, offsets: Mapping[TopicPartition, int]) -> Commit:
        commit = Commit(dict(sorted(offsets.items())))
        generation = self.generation_if_stable()
        if not offsets:
            commit.outcome = CommitOutcome.COMMITTED
        elif generation is None:
            commit.outcome = (
                CommitOutcome.REBALANCE_IN_PROGRESS if self._state in _REBALANCING else CommitOutcome.COMMIT_FAILED
            )
        elif self.coordinator_unknown():
            commit.outcome = CommitOutcome.RETRIABLE
        else:
            self._send_commit(commit, generation)
        return commit

    def _send_commit(self, commit: Commit, generation: Generation) -> None:
        request = OffsetCommitRequest(
            group_id=self.config.group_id,
            version=self.config.offset_commit_version,
            client_id=self.config.client_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self.config.group_instance_id,
            offsets=tuple(CommittedOffset(tp.topic, tp.partition, offset) for tp, offset in commit.offsets.items()),
        )
        self._send(request, lambda sent, reply: self._commit_answered(commit, sent, reply))

    def _commit_answered(self, commit: Commit, sent: Sent, reply: GroupReply | None) -> None:
        errors = _errors(commit, reply)
        for partition, offset in commit.offsets.items():
            error = errors.get(partition)
            self.recorder.emit(
                OffsetCommitted(
                    member=self.member,
                    generation=getattr(sent.request, "generation_id", -1),
                    member_id=getattr(sent.request, "member_id", ""),
                    partition=partition.name,
                    offset=offset,
                    error=None if error is None else error.name,
                )
            )
        if reply is None:
            commit.outcome = CommitOutcome.RETRIABLE
            return
        self.commit_sensor.record(self._now_ms - sent.at_ms, self._now_ms)
        commit.error = next((error for error in errors.values() if error is not Error.NONE), Error.NONE)
        commit.outcome = self._outcome(sent, commit.error)

    def _outcome(self, sent: Sent, error: Error) -> CommitOutcome:
        """The table of answers, with the effect of each on the membership."""
        if error is Error.NONE:
            return CommitOutcome.COMMITTED
        if error in _COORDINATOR_GONE:
            self._forget_coordinator()
            return CommitOutcome.RETRIABLE
        if error is Error.FENCED_INSTANCE_ID:
            return self._commit_fenced(sent)
        if error is Error.REBALANCE_IN_PROGRESS:
            self.request_rejoin("offset commit failed since group is already rebalancing")
            return CommitOutcome.REBALANCE_IN_PROGRESS
        if error in {Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION}:
            return self._commit_refused(sent, error)
        return _NO_DEDUCTION.get(error, CommitOutcome.REJECTED)

    def _commit_fenced(self, sent: Sent) -> CommitOutcome:
        if self._unchanged(sent):
            meaning = "another process uses this group instance id"
            self._fenced = GroupError(Api.OFFSET_COMMIT, Error.FENCED_INSTANCE_ID, meaning)
            return CommitOutcome.FENCED
        preparing = self._state is MemberState.PREPARING_REBALANCE
        return CommitOutcome.REBALANCE_IN_PROGRESS if preparing else CommitOutcome.COMMIT_FAILED

    def _commit_refused(self, sent: Sent, error: Error) -> CommitOutcome:
        """Kafka resets here even for an answer of an older generation, unless a JoinGroup is in flight."""
        if not self._unchanged(sent) and self._state is MemberState.PREPARING_REBALANCE:
            return CommitOutcome.REBALANCE_IN_PROGRESS
        self._reset(keep_member=self._keeps_member_id(error), reason=error.name)
        return CommitOutcome.COMMIT_FAILED


def _errors(commit: Commit, reply: GroupReply | None) -> dict[TopicPartition, Error]:
    """The error of each partition; an error of the whole counts for all, no answer leaves the dictionary empty."""
    if reply is None:
        return {}
    if reply.error is not Error.NONE or not isinstance(reply, OffsetCommitReply):
        return dict.fromkeys(commit.offsets, reply.error)
    return {TopicPartition(topic, partition): error for topic, partition, error in reply.partitions}
