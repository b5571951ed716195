"""``roundrobin``: all partitions dealt in a circle, skipping who does not subscribe (``RoundRobinAssignor``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalance_check.impl.assignors.assignor import (
    Assignments,
    GroupSubscription,
    PartitionAssignor,
    Racks,
    member_order,
    subscribed_topics,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition


class RoundRobinAssignor(PartitionAssignor):
    """Balanced within one partition when all subscribe to the same topics. Stateless."""

    name = "roundrobin"

    def assign(
        self,
        partitions_per_topic: Mapping[str, int],
        subscriptions: GroupSubscription,
        racks: Racks | None = None,  # noqa: ARG002 - part of the interface; KIP-881 leaves roundrobin as it is
    ) -> Assignments:
        """Topics in order, partitions in order, each to the next member in the circle that subscribes to its topic."""
        assigned: dict[str, list[TopicPartition]] = {member: [] for member in subscriptions}
        circle, last = member_order(subscriptions), -1
        for topic, members in subscribed_topics(partitions_per_topic, subscriptions).items():
            for index in range(partitions_per_topic[topic]):
                last = _next(circle, last, members)
                assigned[circle[last]].append(TopicPartition(topic, index))
        return {member: tuple(partitions) for member, partitions in assigned.items()}


def _next(circle: Sequence[str], last: int, subscribers: Sequence[str]) -> int:
    """The place of the next subscriber in the circle after place ``last``; there is one."""
    place = (last + 1) % len(circle)
    while circle[place] not in subscribers:
        place = (place + 1) % len(circle)
    return place
