"""The topics of a request as it names them, which the reply repeats: a topic named twice is answered twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeVar

from rebalance_check.integration.wire.kafka_python import consumer as wire
from rebalance_check.integration.wire.requests import OFFSET_FETCH_BATCH_VERSION

T = TypeVar("T")

Shape = Sequence[tuple[str, int]]
"""The topics of a request, in its order and as often as it names them, each with how many partitions it names there."""

Exists = Callable[[str, int | None], bool]
"""Whether a topic has a partition; None: whether there is such a topic."""


def topic_shapes(request: Any) -> list[Shape | None]:
    """The shape of a decoded group request, or of each group of a batched OffsetFetch; None where no topics stand."""
    if isinstance(request, wire.OffsetFetchRequest):
        groups = request.groups if request.API_VERSION >= OFFSET_FETCH_BATCH_VERSION else [request]
        return [_shape(group.topics, "partition_indexes") for group in groups]
    return [_shape(getattr(request, "topics", None), "partitions")]


def _shape(topics: Sequence[Any] | None, partitions: str) -> Shape | None:
    return None if topics is None else [(topic.name, len(getattr(topic, partitions))) for topic in topics]


def shape_of_commit(topics: Sequence[Any], exists: Exists) -> Shape:
    """The shape of an answer to a commit or a deletion of offsets: the topics that are refused, without a partition, in
    the order in which Kafka refuses them; where all exist, those that name a partition."""
    refused = [
        topic.name
        for topic in topics
        if not exists(topic.name, None)
        or not all(exists(topic.name, each.partition_index) for each in topic.partitions)
    ]
    if refused:
        return [(name, 0) for name in refused]
    return [(topic.name, len(topic.partitions)) for topic in topics if topic.partitions]


def by_topic(found: Sequence[tuple[str, T]], shape: Shape | None) -> list[tuple[str, list[T]]]:
    """The findings of each topic: in the shape of the request where every partition was answered, else by name."""
    if shape is None or sum(count for _, count in shape) != len(found):
        by_name: dict[str, list[T]] = {}
        for name, one in found:
            by_name.setdefault(name, []).append(one)
        return [*by_name.items()]
    answers = (one for _, one in found)
    return [(name, [*islice(answers, count)]) for name, count in shape]
