"""The user data of the sticky assignors in a subscription, byte-exact with Kafka's.

``sticky`` carries its whole previous assignment and, since v1, the generation of it; ``cooperative-sticky`` only the
generation of its last ``onAssignment``. Bytes that cannot be read are no error there: they count as no claim at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_check.impl.protocol.consumer_protocol import (
    by_topic,
    read_grouped_partitions,
    write_grouped_partitions,
)
from rebalance_check.impl.protocol.java_order import hash_map_order
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.protocol.wire import MalformedBytes, Reader, Writer
from rebalance_check.model.vocabulary.ids import NO_GENERATION

_STICKY = "the user data of the sticky assignor"
_COOPERATIVE = "the user data of the cooperative-sticky assignor"


@dataclass(frozen=True, slots=True)
class StickyClaim:
    """The partitions that a member had, and in which generation (None: the bytes do not say)."""

    partitions: tuple[TopicPartition, ...]
    generation: int | None


def write_sticky(partitions: Sequence[TopicPartition], generation: int | None) -> bytes:
    """v1 with a generation, v0 without (None); topics in Java's hash order, partitions as given."""
    writer = Writer()
    indexes = by_topic(partitions)
    write_grouped_partitions(writer, [(topic, indexes[topic]) for topic in hash_map_order(indexes)])
    if generation is not None:
        writer.int32(generation)
    return writer.done()


def read_sticky(data: bytes | None) -> StickyClaim:
    """Null and empty data claim nothing; then v1 is tried, then v0, and bytes that are neither claim nothing at -1."""
    if not data:
        return StickyClaim((), None)
    try:
        return _read_sticky_v1(data)
    except MalformedBytes:
        return _read_sticky_v0(data)


def write_cooperative(generation: int) -> bytes:
    """The generation of the last assignment (-1: none yet)."""
    writer = Writer()
    writer.int32(generation)
    return writer.done()


def read_cooperative(data: bytes | None) -> int | None:
    """The generation; None when there is no user data, -1 when it cannot be read."""
    if data is None:
        return None
    try:
        return Reader(data, _COOPERATIVE).int32("generation")
    except MalformedBytes:
        return NO_GENERATION


def _read_sticky_v1(data: bytes) -> StickyClaim:
    reader = Reader(data, _STICKY)
    partitions = read_grouped_partitions(reader, "previous_assignment")
    return StickyClaim(partitions, reader.int32("generation"))


def _read_sticky_v0(data: bytes) -> StickyClaim:
    try:
        return StickyClaim(read_grouped_partitions(Reader(data, _STICKY), "previous_assignment"), None)
    except MalformedBytes:
        return StickyClaim((), NO_GENERATION)
