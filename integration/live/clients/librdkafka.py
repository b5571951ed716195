"""librdkafka's consumer (the package confluent-kafka) as a live member."""

from __future__ import annotations

import contextlib
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition, __version__

from rebalance_check.integration.live.clients.consumer import assignors_of
from rebalance_check.integration.live.settings import MemberOrder
from rebalance_check.integration.recorders.librdkafka import RecordingConfluentConsumer
from rebalance_check.integration.recorders.observer import Observer

ASSIGNORS: Final = {name: name for name in ("range", "roundrobin", "cooperative-sticky")}


class Librdkafka:
    """A `LiveConsumer`. The leader's computation happens in C and stays unknown."""

    release = str(__version__)

    def __init__(self, order: MemberOrder, observer: Observer) -> None:
        settings = order.settings
        consumer = Consumer(
            {
                "bootstrap.servers": order.bootstrap,
                "group.id": order.group,
                "client.id": order.member,
                "partition.assignment.strategy": ",".join(assignors_of(order, ASSIGNORS)),
                "session.timeout.ms": settings.session_timeout_ms,
                "heartbeat.interval.ms": settings.heartbeat_interval_ms,
                "max.poll.interval.ms": settings.max_poll_interval_ms,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "reconnect.backoff.max.ms": 500,
                "broker.address.family": "v4",
            }
        )
        self._consumer = RecordingConfluentConsumer(consumer, observer)
        self._consumer.subscribe([order.topic])

    def poll(self, timeout_ms: int) -> None:
        """See `LiveConsumer`. Errors come as messages; librdkafka recovers from them itself."""
        self._consumer.poll(timeout_ms / 1000)

    def commit(self) -> None:
        """See `LiveConsumer`."""
        read = [tp for tp in self._consumer.position(self._consumer.assignment()) if tp.offset >= 0]
        offsets = [TopicPartition(tp.topic, tp.partition, tp.offset) for tp in read]
        if offsets:
            with contextlib.suppress(KafkaException):
                self._consumer.commit(offsets=offsets, asynchronous=False)

    def close(self) -> None:
        """See `LiveConsumer`."""
        self._consumer.close()
