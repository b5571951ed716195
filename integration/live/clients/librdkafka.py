"""librdkafka's consumer (the package confluent-kafka) as a live member."""

from __future__ import annotations

import struct
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition, __version__

from rebalance_check.integration.live.clients.consumer import Committed, Membership, assignors_of
from rebalance_check.integration.live.observer import Observer, names
from rebalance_check.integration.live.settings import MemberOrder
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.ids import NO_GENERATION

METADATA_MARK: Final = b"CGMDv2:"
"""Begins what ``consumer_group_metadata`` returns: then the generation (32 bits of this machine), the group id and the
member id, each with a zero behind it. It is meant for producers, and the one place where librdkafka shows both."""

ASSIGNORS: Final = {name: name for name in ("range", "roundrobin", "cooperative-sticky")}


def read_metadata(data: bytes) -> tuple[int, str]:
    """Generation and member id in a consumer's group metadata; `RebalanceCheckError` when it is written differently."""
    if not data.startswith(METADATA_MARK):
        raise RebalanceCheckError(
            f"librdkafka's group metadata begin with {data[:7]!r}, not with {METADATA_MARK!r}: install a release of "
            "confluent-kafka that this package knows"
        )
    (generation,) = struct.unpack_from("=i", data, len(METADATA_MARK))
    _group, member_id, _rest = data[len(METADATA_MARK) + 4 :].split(b"\0", 2)
    return generation, member_id.decode()


class Librdkafka:
    """A `LiveConsumer`. What its leader computes happens in C and stays unknown"""

    release = str(__version__)

    def __init__(self, order: MemberOrder, observer: Observer) -> None:
        settings = order.settings
        self._observer = observer
        self._assigned_in = NO_GENERATION
        self._consumer: Any = Consumer(
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
        observer.membership = self.membership
        self._consumer.subscribe(
            [order.topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    def _on_assign(self, _consumer: Any, partitions: list[Any]) -> None:
        self._assigned_in = self.membership().generation
        self._observer.assigned((tp.topic, tp.partition) for tp in partitions)

    def _on_revoke(self, _consumer: Any, partitions: list[Any]) -> None:
        self._assigned_in = NO_GENERATION
        self._observer.revoked((tp.topic, tp.partition) for tp in partitions)

    def _on_lost(self, _consumer: Any, partitions: list[Any]) -> None:
        self._assigned_in = NO_GENERATION  # it goes on showing the generation that it lost
        self._observer.lost((tp.topic, tp.partition) for tp in partitions)

    def poll(self, timeout_ms: int) -> None:
        """See `LiveConsumer`. Errors come as messages; librdkafka recovers from them itself."""
        self._consumer.poll(timeout_ms / 1000)

    def membership(self) -> Membership:
        """See `LiveConsumer`. The rebalance is complete from the callback that assigns to the one that revokes."""
        generation, member_id = read_metadata(self._consumer.consumer_group_metadata())
        return Membership(generation, member_id, generation == self._assigned_in != NO_GENERATION)

    def owned(self) -> tuple[str, ...]:
        """See `LiveConsumer`."""
        return names((tp.topic, tp.partition) for tp in self._consumer.assignment())

    def commit(self) -> list[Committed]:
        """See `LiveConsumer`."""
        read = [tp for tp in self._consumer.position(self._consumer.assignment()) if tp.offset >= 0]
        offsets = [TopicPartition(tp.topic, tp.partition, tp.offset) for tp in read]
        if not offsets:
            return []
        try:
            answered = self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as failure:
            error = kafka_name(failure.args[0])
            return [Committed(f"{tp.topic}-{tp.partition}", tp.offset, error) for tp in offsets]
        errors = {(tp.topic, tp.partition): "NONE" if tp.error is None else kafka_name(tp.error) for tp in answered}
        return [
            Committed(f"{tp.topic}-{tp.partition}", tp.offset, errors.get((tp.topic, tp.partition))) for tp in offsets
        ]

    def close(self) -> None:
        """See `LiveConsumer`."""
        self._consumer.close()


def kafka_name(error: KafkaError) -> str | None:
    """Kafka's name of an error that a broker answered; None (unknown) for what the client made up itself."""
    return error.name() if error.code() > 0 else None
