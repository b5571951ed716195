"""kafka-python's consumer as a live member."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from rebalance_check.integration.live.assignors import recording_assignors
from rebalance_check.integration.live.clients.consumer import GRACE_MS, UNKNOWN_NODE, Committed, GaveUpError, Membership
from rebalance_check.integration.live.kafka_python_api import (
    KAFKA_PYTHON_RELEASE,
    ConsumerRebalanceListener,
    KafkaConsumer,
    MemberState,
    OffsetAndMetadata,
    errors,
)
from rebalance_check.integration.live.observer import Observer, names
from rebalance_check.integration.live.settings import MemberOrder


class _Listener(ConsumerRebalanceListener):
    """Its callbacks run in the consumer's own event loop."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        self._observer.assigned(assigned)

    def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        self._observer.revoked(revoked)

    def on_partitions_lost(self, lost: Iterable[Any]) -> None:
        self._observer.lost(lost)


class KafkaPython:
    """A `LiveConsumer`; the leader's assignments are recorded, too."""

    release: str = KAFKA_PYTHON_RELEASE

    def __init__(self, order: MemberOrder, observer: Observer) -> None:
        settings = order.settings
        self._consumer = KafkaConsumer(
            bootstrap_servers=order.bootstrap.split(","),
            group_id=order.group,
            client_id=order.member,
            partition_assignment_strategy=recording_assignors(order, observer),
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            max_poll_interval_ms=settings.max_poll_interval_ms,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_records=1,
            metrics_enabled=False,
            reconnect_backoff_max_ms=500,
        )
        observer.membership = self.membership
        self._consumer.subscribe([order.topic], listener=_Listener(observer))
        # What a leader learns of its topic after it has joined makes it join again, and when a poll ends in the middle
        # of that it stays in its join for ever (TRACK_RECORD.md): know the topic before the first poll, which joins.
        self._consumer.topics()

    def poll(self, timeout_ms: int) -> None:
        """See `LiveConsumer`. Raises `GaveUpError` when the group refuses the protocols of the member."""
        try:
            with contextlib.suppress(errors.RetriableError):
                self._consumer.poll(timeout_ms=timeout_ms)
        except errors.InconsistentGroupProtocolError:
            raise GaveUpError("JoinGroup failed with INCONSISTENT_GROUP_PROTOCOL") from None

    def membership(self) -> Membership:
        """See `LiveConsumer`. The consumer does not show its coordinator; the part of it that talks to one does."""
        now = self._consumer.group_metadata()
        found = str(self._consumer._coordinator.coordinator_id or UNKNOWN_NODE)  # such as coordinator-2
        node = int(found.removeprefix("coordinator-"))
        return Membership(now.generation_id, now.member_id, now.state == MemberState.STABLE, node)

    def owned(self) -> tuple[str, ...]:
        """See `LiveConsumer`."""
        return names(self._consumer.assignment())

    def commit(self) -> list[Committed]:
        """See `LiveConsumer`. Outside a settled generation it refuses to send a commit, so there is none to try; and
        the longer it is away from its poll, the likelier it throws a join away that completes meanwhile."""
        if not self.membership().settled:
            return []
        positions = {tp: self._consumer.position(tp, timeout_ms=0) for tp in sorted(self._consumer.assignment())}
        offsets = {tp: OffsetAndMetadata(at, "", -1) for tp, at in positions.items() if at is not None}
        error: str | None = "NONE"
        if offsets:
            try:
                self._consumer.commit(offsets, timeout_ms=GRACE_MS)
            except errors.KafkaTimeoutError:
                error = None
            except errors.KafkaError as failure:
                error = kafka_name(failure)
        return [Committed(f"{tp.topic}-{tp.partition}", at.offset, error) for tp, at in offsets.items()]

    def close(self) -> None:
        """See `LiveConsumer`."""
        self._consumer.close(timeout_ms=GRACE_MS)


def kafka_name(failure: Exception) -> str | None:
    """Kafka's name of an error that a broker answered; None (unknown) for what the client made up itself."""
    return getattr(failure, "message", None) if getattr(failure, "errno", -1) > 0 else None
