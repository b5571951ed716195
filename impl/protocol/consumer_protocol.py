"""The consumer protocol (type ``consumer``): the bytes of members in JoinGroup and of the leader in SyncGroup.

Versions 0-3 of both (KIP-429 owned partitions in v1, KIP-792 generation in v2, KIP-881 rack in v3); byte-exact with
``org.apache.kafka.clients.consumer.internals.ConsumerProtocol``. Nothing is negotiated: a writer uses its own highest
version, a reader parses with the lower of that and its own highest and ignores the bytes that follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.protocol.java_order import utf16_key
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.protocol.wire import Reader, Writer
from rebalance_check.model.vocabulary.ids import NO_GENERATION

PROTOCOL_TYPE: Final = "consumer"
HIGHEST_VERSION: Final = 3
_OWNED_SINCE: Final = 1
_GENERATION_SINCE: Final = 2
_RACK_SINCE: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A member's topics, and the partitions that it claims to own.

    ``generation`` is the generation of the claims (None: absent, written as -1), ``group_instance_id`` is not in the
    bytes: the leader adds it from the JoinGroup reply.
    """

    topics: tuple[str, ...] = ()
    user_data: bytes | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    rack: str | None = None
    group_instance_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A member's partitions."""

    partitions: tuple[TopicPartition, ...] = ()
    user_data: bytes | None = None


def write_subscription(subscription: Subscription, version: int = HIGHEST_VERSION) -> bytes:
    """The bytes of ``subscription``, its lists sorted; a version above the highest writes the highest."""
    version = min(version, HIGHEST_VERSION)
    writer = Writer()
    writer.int16(version)
    _write_topics(writer, subscription.topics)
    writer.nullable_bytes(subscription.user_data)
    if version >= _OWNED_SINCE:
        owned = sorted(subscription.owned, key=lambda tp: (utf16_key(tp.topic), tp.partition))
        write_grouped_partitions(writer, by_topic(owned).items())
    if version >= _GENERATION_SINCE:
        writer.int32(_generation_field(subscription.generation))
    if version >= _RACK_SINCE:
        writer.nullable_string(subscription.rack)
    return writer.done()


def read_subscription(data: bytes) -> Subscription:
    """The subscription in ``data``, in wire order; `MalformedBytes` where Kafka's reader throws."""
    reader = Reader(data, "a consumer subscription")
    version = _read_version(reader)
    topics = tuple(reader.string("topics") for _ in range(reader.count("topics")))
    user_data = reader.nullable_bytes("userData")
    owned = read_grouped_partitions(reader, "ownedPartitions") if version >= _OWNED_SINCE else ()
    generation = reader.int32("generationId") if version >= _GENERATION_SINCE else NO_GENERATION
    rack = reader.nullable_string("rackId") if version >= _RACK_SINCE else None
    return Subscription(
        topics=topics,
        user_data=user_data,
        owned=owned,
        generation=generation if generation >= 0 else None,
        rack=rack or None,
    )


def read_claimed_generation(data: bytes) -> int | None:
    """The generation of the claims in ``data``, -1 where it says none, None where its version has no place for one;
    `MalformedBytes` as above."""
    if _read_version(Reader(data, "a consumer subscription")) < _GENERATION_SINCE:
        return None
    generation = read_subscription(data).generation
    return NO_GENERATION if generation is None else generation


def read_topics(data: bytes) -> tuple[str, ...]:
    """The topics alone, as a coordinator reads them: any version as the lowest; `MalformedBytes` as above."""
    reader = Reader(data, "a consumer subscription")
    _read_version(reader)
    topics = tuple(reader.string("topics") for _ in range(reader.count("topics")))
    reader.nullable_bytes("userData")
    return topics


def write_assignment(assignment: Assignment, version: int = HIGHEST_VERSION) -> bytes:
    """The bytes of ``assignment``: topics in first-seen order, partitions in the given order."""
    writer = Writer()
    writer.int16(min(version, HIGHEST_VERSION))
    write_grouped_partitions(writer, by_topic(assignment.partitions).items())
    writer.nullable_bytes(assignment.user_data)
    return writer.done()


def read_assignment(data: bytes) -> Assignment:
    """The assignment in ``data``, in wire order; `MalformedBytes` where Kafka's reader throws (zero bytes included)."""
    reader = Reader(data, "a consumer assignment")
    _read_version(reader)
    partitions = read_grouped_partitions(reader, "assignedPartitions")
    return Assignment(partitions=partitions, user_data=reader.nullable_bytes("userData"))


def write_grouped_partitions(writer: Writer, groups: Iterable[tuple[str, Sequence[int]]]) -> None:
    """An array of {topic, partitions}, in the given order."""
    listed = list(groups)
    writer.int32(len(listed))
    for topic, indexes in listed:
        writer.string(topic)
        writer.int32(len(indexes))
        for index in indexes:
            writer.int32(index)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """The indexes of each topic, topics in first-seen order."""
    grouped: dict[str, list[int]] = {}
    for topic, index in partitions:
        grouped.setdefault(topic, []).append(index)
    return grouped


def read_grouped_partitions(reader: Reader, field: str) -> tuple[TopicPartition, ...]:
    """An array of {topic, partitions} that may not be null, flattened in wire order."""
    partitions: list[TopicPartition] = []
    for _ in range(reader.count(field)):
        topic = reader.string(f"{field}.topic")
        indexes = f"{field}.partitions"
        partitions += [TopicPartition(topic, reader.int32(indexes)) for _ in range(reader.count(indexes))]
    return tuple(partitions)


def _read_version(reader: Reader) -> int:
    version = reader.int16("version")
    if version < 0:
        raise reader.fail("version", f"is {version}; the lowest is 0")
    return min(version, HIGHEST_VERSION)


def _write_topics(writer: Writer, topics: Sequence[str]) -> None:
    writer.int32(len(topics))
    for topic in sorted(topics, key=utf16_key):
        writer.string(topic)


def _generation_field(generation: int | None) -> int:
    return NO_GENERATION if generation is None or generation < 0 else generation
