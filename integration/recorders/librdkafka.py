"""librdkafka's consumer (the package confluent-kafka), recorded. Its leader computes in C, which stays unknown."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

from confluent_kafka import KafkaError, KafkaException, __version__

from rebalance_check.integration.recorders.membership import Committed, Membership
from rebalance_check.integration.recorders.observer import Observer
from rebalance_check.integration.recorders.wrapped import ACCEPTED, Offset, RecordingConsumer, Shown
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.ids import NO_GENERATION

METADATA_MARK: Final = b"CGMDv2:"
"""Begins the bytes of ``consumer_group_metadata``: then the generation (32 bits of this machine), the group id, the
member id, each with a zero behind it, a one where there is no instance id, or a zero and the instance id. It is meant
for producers, and the one place where librdkafka shows them."""

COOPERATIVE: Final = "cooperative-sticky"
NEW_PROTOCOL: Final = "consumer"
"""``group.protocol`` of KIP-848, whose members have no generation."""


class GroupMetadata(NamedTuple):
    """A consumer's group metadata."""

    generation: int
    group: str
    member_id: str
    instance_id: str


def read_metadata(data: bytes) -> GroupMetadata:
    """A consumer's group metadata; `RebalanceCheckError` when they are written differently."""
    if not data.startswith(METADATA_MARK):
        raise RebalanceCheckError(
            f"librdkafka's group metadata begin with {data[:7]!r}, not with {METADATA_MARK!r}: install a release of "
            "confluent-kafka that this package knows"
        )
    (generation,) = struct.unpack_from("=i", data, len(METADATA_MARK))
    group, member_id, rest = data[len(METADATA_MARK) + 4 :].split(b"\0", 2)
    instance_id = rest[1:].partition(b"\0")[0] if rest[:1] == b"\0" else b""
    return GroupMetadata(generation, group.decode(), member_id.decode(), instance_id.decode())


Callback = Callable[[Any, list[Any]], Any]


class RecordingConfluentConsumer(RecordingConsumer):
    """A ``confluent_kafka.Consumer`` that is recorded from its first `subscribe` on."""

    def __init__(self, consumer: Any, observer: Observer) -> None:
        self._assigned_in = NO_GENERATION
        self._subscribed: tuple[str, ...] | None = None
        super().__init__(consumer, observer)
        observer.topics = lambda: self._subscribed

    def membership(self) -> Membership:
        """See `RecordingConsumer`. The rebalance is complete from the callback that assigns to the one that revokes."""
        try:
            now = read_metadata(self._consumer.consumer_group_metadata())
        except RuntimeError:  # it is closed
            return Membership()
        return Membership(now.generation, now.member_id, now.generation == self._assigned_in != NO_GENERATION)

    def subscribe(
        self, topics: Sequence[str], on_assign: Callback | None = None, on_revoke: Callback | None = None,
        on_lost: Callback | None = None, **named: Any,
    ) -> None:  # fmt: skip
        """See ``Consumer.subscribe``. The topics that a pattern matches are not shown."""

        def assigned(_consumer: Any, partitions: list[Any]) -> None:
            self._assigned_in = self.membership().generation
            self._observer.assigned((tp.topic, tp.partition) for tp in partitions)
            self._call(on_assign, partitions)

        def revoked(_consumer: Any, partitions: list[Any]) -> None:
            self._assigned_in = NO_GENERATION
            try:
                self._call(on_revoke, partitions)
            finally:
                self._observer.revoked((tp.topic, tp.partition) for tp in partitions)

        def lost(_consumer: Any, partitions: list[Any]) -> None:
            self._assigned_in = NO_GENERATION  # it goes on showing the generation that it lost
            self._observer.lost((tp.topic, tp.partition) for tp in partitions)
            self._call(on_lost or on_revoke, partitions)

        self._consumer.subscribe(topics, on_assign=assigned, on_revoke=revoked, on_lost=lost, **named)
        self._subscribed = tuple(sorted(topic for topic in topics if not topic.startswith("^")))

    def unsubscribe(self) -> None:
        """See ``Consumer.unsubscribe``; given up partitions come as a callback."""
        self._consumer.unsubscribe()
        self._subscribed = ()

    def poll(self, *arguments: Any, **named: Any) -> Any:
        """See ``Consumer.poll``."""
        with self._polling():
            return self._consumer.poll(*arguments, **named)

    def consume(self, *arguments: Any, **named: Any) -> Any:
        """See ``Consumer.consume``."""
        with self._polling():
            return self._consumer.consume(*arguments, **named)

    def commit(self, message: Any = None, offsets: Any = None, asynchronous: bool = True) -> Any:
        """See ``Consumer.commit``. How an asynchronous commit ends is not shown."""
        sent = self.membership()
        known = [Offset(message.topic(), message.partition(), message.offset() + 1)] if message is not None else [
            Offset(tp.topic, tp.partition, tp.offset) for tp in offsets or ()
        ]  # fmt: skip
        chosen = {"message": message} if message is not None else {} if offsets is None else {"offsets": offsets}
        try:
            ended = self._consumer.commit(**chosen, asynchronous=asynchronous)
        except KafkaException as failure:
            self._committed(known, error_name(failure.args[0]), sent)
            raise
        if asynchronous:
            self._committed(known, None, sent)
        else:
            self._observer.committed([_outcome(tp) for tp in ended if tp.offset >= 0], sent)  # below: nothing was read
        return ended

    def close(self) -> None:
        """See ``Consumer.close``."""
        self._observer.leaving()
        self._consumer.close()
        self._observer.left()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _call(self, callback: Callback | None, partitions: list[Any]) -> None:
        if callback is not None:
            callback(self, partitions)


def shown(consumer: Any, config: Mapping[str, Any]) -> Shown:
    """The settings that the consumer shows, and the others by ``config``, with which it was made.

    Raises: RebalanceCheckError when it has joined already, or is of a group of KIP-848.
    """
    if config.get("group.protocol") == NEW_PROTOCOL:
        raise RebalanceCheckError("groups of the new consumer protocol (KIP-848) have no generations to record")
    now = read_metadata(consumer.consumer_group_metadata())
    if now.generation != NO_GENERATION:
        raise RebalanceCheckError(
            f"the consumer is in generation {now.generation} already, and its callbacks cannot be seen: record it "
            "before it subscribes"
        )
    assignors = tuple(str(config.get("partition.assignment.strategy", "range,roundrobin")).split(",")) if config else ()
    eager_or_cooperative = "cooperative" if COOPERATIVE in assignors else "eager"
    return Shown(
        group=now.group,
        client="confluent-kafka",
        release=str(__version__),
        protocol=eager_or_cooperative if config else "",
        group_instance_id=now.instance_id,
        assignors=assignors,
        rebalance_timeout_ms=int(config.get("max.poll.interval.ms", 0)),
        session_timeout_ms=int(config.get("session.timeout.ms", 0)),
    )


def error_name(error: KafkaError) -> str | None:
    """Kafka's name of an error that a broker answered; None (unknown) for an error that the client made up itself."""
    return error.name() if error.code() > 0 else None


def _outcome(tp: Any) -> Committed:
    error = ACCEPTED if tp.error is None else error_name(tp.error)
    return Committed(f"{tp.topic}-{tp.partition}", tp.offset, error)
