"""kafka-python's consumer as a live member."""

from __future__ import annotations

import contextlib

from rebalance_check.integration.live.assignors import recording_assignors
from rebalance_check.integration.live.clients.consumer import GRACE_MS, GaveUpError
from rebalance_check.integration.live.kafka_python_api import (
    KAFKA_PYTHON_RELEASE,
    KafkaConsumer,
    OffsetAndMetadata,
    errors,
)
from rebalance_check.integration.live.settings import MemberOrder
from rebalance_check.integration.recorders.kafka_python import RecordingKafkaConsumer
from rebalance_check.integration.recorders.observer import Observer


class KafkaPython:
    """A `LiveConsumer`; the leader's assignments are recorded, too."""

    release: str = KAFKA_PYTHON_RELEASE

    def __init__(self, order: MemberOrder, observer: Observer) -> None:
        settings = order.settings
        consumer = KafkaConsumer(
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
        self._consumer = RecordingKafkaConsumer(consumer, observer)
        self._consumer.subscribe([order.topic])
        # News of its topic after a leader has joined makes it join again, and when a poll ends in the middle
        # of that it stays in its join for ever (TRACK_RECORD.md): know the topic before the first poll, which joins.
        self._consumer.topics()

    def poll(self, timeout_ms: int) -> None:
        """See `LiveConsumer`. Raises `GaveUpError` when the group refuses the protocols of the member."""
        try:
            with contextlib.suppress(errors.RetriableError):
                self._consumer.poll(timeout_ms=timeout_ms)
        except errors.InconsistentGroupProtocolError:
            raise GaveUpError("JoinGroup failed with INCONSISTENT_GROUP_PROTOCOL") from None

    def commit(self) -> None:
        """See `LiveConsumer`. Outside a settled generation it refuses to send a commit, so there is none to try; and
        the longer it is away from its poll, the likelier it throws a join away that completes meanwhile."""
        if not self._consumer.membership().settled:
            return
        positions = {tp: self._consumer.position(tp, timeout_ms=0) for tp in sorted(self._consumer.assignment())}
        offsets = {tp: OffsetAndMetadata(at, "", -1) for tp, at in positions.items() if at is not None}
        if offsets:
            with contextlib.suppress(errors.KafkaError):
                self._consumer.commit(offsets, timeout_ms=GRACE_MS)

    def close(self) -> None:
        """See `LiveConsumer`."""
        self._consumer.close(timeout_ms=GRACE_MS)
