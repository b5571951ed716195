"""``range``: each topic by itself, in contiguous ranges over the members (``RangeAssignor``, without racks)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rebalance_check.impl.assignors.assignor import Assignments, subscribed_topics
from rebalance_check.impl.codecs.consumer_protocol import Subscription
from rebalance_check.impl.topic_partition import TopicPartition
from rebalance_check.model.bounds import RebalanceProtocol


class RangeAssignor:
    """Of n partitions and k subscribers the first n mod k get one more; equal subscriptions get equal indexes.

    Stateless. ``defects`` switches on planted defects by name (`rebalance_check.impl.mutants`).
    """

    name = "range"
    protocols = frozenset({RebalanceProtocol.EAGER})

    def __init__(self, defects: frozenset[str] = frozenset()) -> None:
        self.defects = defects

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:  # noqa: ARG002 - part of the interface
        """None: nothing is remembered."""
        return None

    def assign(self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> Assignments:
        """Contiguous ranges, topic by topic."""
        assigned: dict[str, list[TopicPartition]] = {member: [] for member in subscriptions}
        for topic, members in subscribed_topics(partitions_per_topic, subscriptions, self.defects).items():
            for member, indexes in self._ranges(partitions_per_topic[topic], members):
                assigned[member] += [TopicPartition(topic, index) for index in indexes]
        return {member: tuple(partitions) for member, partitions in assigned.items()}

    def on_assignment(self, partitions: Sequence[TopicPartition], generation: int) -> None:
        """Nothing is remembered."""

    def _ranges(self, partitions: int, members: Sequence[str]) -> Iterator[tuple[str, range]]:
        quota, extra = divmod(partitions, len(members))
        if "sarama-range-differs-from-reference" in self.defects:
            yield from _rounded_ranges(partitions, members)
            return
        start = 0
        for position, member in enumerate(members):
            length = quota + (1 if position < extra else 0)
            if "range-boundary-given-twice" in self.defects and position > 0:
                yield member, range(start - 1, start + length)
            else:
                yield member, range(start, start + length)
            start += length


def _rounded_ranges(partitions: int, members: Sequence[str]) -> Iterator[tuple[str, range]]:
    """Boundaries at rounded fractions: 7 partitions are 2, 3 and 2, where Kafka's rule gives 3, 2 and 2."""
    bounds = [round(position * partitions / len(members)) for position in range(len(members) + 1)]
    for member, start, end in zip(members, bounds, bounds[1:], strict=False):
        yield member, range(start, end)
