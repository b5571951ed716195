"""Asking for committed offsets as a member of a group: where to go on, and the meaning of each answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.protocol.messages import GroupReply, OffsetFetchReply, OffsetFetchRequest
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.errors import Error


class FetchOutcome(StrEnum):
    """The outcome of a question for offsets."""

    PENDING = "pending"
    FETCHED = "fetched"
    RETRIABLE = "retriable"
    """Nothing is known yet: fetch again, after looking up the coordinator where it moved."""
    REJECTED = "rejected"
    """The coordinator refuses this fetch for good."""


@dataclass(slots=True)
class OffsetFetch:
    """A question for committed offsets and its outcome.

    ``offsets`` holds the partitions for which there is one; ``error`` is the coordinator's answer, None when it gave
    none.
    """

    partitions: tuple[TopicPartition, ...]
    outcome: FetchOutcome = FetchOutcome.PENDING
    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    error: Error | None = None


_COORDINATOR_MOVED: Final = frozenset({Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR})
_RETRIABLE: Final = frozenset(
    {Error.COORDINATOR_LOAD_IN_PROGRESS, Error.REQUEST_TIMED_OUT, Error.UNSTABLE_OFFSET_COMMIT, Error.NETWORK_EXCEPTION}
)


class Fetching(Coordinator):
    """A coordinator that fetches offsets (``ConsumerCoordinator.OffsetFetchResponseHandler``)."""

    def committed(self, partitions: Iterable[TopicPartition], now_ms: int) -> OffsetFetch:
        """Fetch the committed offsets of ``partitions``; the outcome comes later.

        Offsets that an open transaction may still change are waited for (KIP-447). No membership is needed, and none
        is lost by the answer.
        """
        self._now_ms = now_ms
        fetch = OffsetFetch(tuple(sorted(set(partitions))))
        if not fetch.partitions:
            fetch.outcome = FetchOutcome.FETCHED
        elif self.coordinator_unknown():
            fetch.outcome = FetchOutcome.RETRIABLE
        else:
            request = OffsetFetchRequest(
                group_id=self.config.group_id,
                version=self.config.offset_fetch_version,
                client_id=self.config.client_id,
                partitions=tuple((tp.topic, tp.partition) for tp in fetch.partitions),
                require_stable=True,
            )
            self._send(request, lambda _, reply: self._fetch_answered(fetch, reply))
        return fetch

    def _fetch_answered(self, fetch: OffsetFetch, reply: GroupReply | None) -> None:
        """The error of the whole counts first, then the worst of a partition: one unstable offset is fetched again
        with all the others."""
        if reply is None:
            fetch.outcome = FetchOutcome.RETRIABLE
            return
        fetch.error = _worst(reply)
        if fetch.error in _COORDINATOR_MOVED:
            self._forget_coordinator()
        if fetch.error is Error.NONE and isinstance(reply, OffsetFetchReply):
            fetch.outcome = FetchOutcome.FETCHED
            fetch.offsets = {TopicPartition(o.topic, o.partition): o.offset for o in reply.offsets if o.offset >= 0}
        else:
            again = fetch.error in _COORDINATOR_MOVED or fetch.error in _RETRIABLE
            fetch.outcome = FetchOutcome.RETRIABLE if again else FetchOutcome.REJECTED


def _worst(reply: GroupReply) -> Error:
    """A refusal that is final beats one that is not."""
    if reply.error is not Error.NONE or not isinstance(reply, OffsetFetchReply):
        return reply.error
    errors = [error for _, _, error in reply.errors]
    final = [error for error in errors if error not in _RETRIABLE]
    return next(iter([*final, *errors]), Error.NONE)
