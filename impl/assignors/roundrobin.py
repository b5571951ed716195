"""``roundrobin``: all partitions dealt in a circle, skipping who does not subscribe (``RoundRobinAssignor``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

from rebalance_check.impl.assignors.assignor import Assignments, member_order, subscribed_topics
from rebalance_check.impl.codecs.consumer_protocol import Subscription
from rebalance_check.impl.topic_partition import TopicPartition
from rebalance_check.model.bounds import RebalanceProtocol


class RoundRobinAssignor:
    """Balanced within one partition when all subscribe to the same topics. Stateless."""

    name = "roundrobin"
    protocols = frozenset({RebalanceProtocol.EAGER})

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:  # noqa: ARG002 - part of the interface
        """None: nothing is remembered."""
        return None

    def assign(self, partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> Assignments:
        """Topics in order, partitions in order, each to the next member in the circle that subscribes to its topic."""
        assigned: dict[str, list[TopicPartition]] = {member: [] for member in subscriptions}
        circle = cycle(member_order(subscriptions))
        for topic, members in subscribed_topics(partitions_per_topic, subscriptions).items():
            for index in range(partitions_per_topic[topic]):
                taker = next(member for member in circle if member in members)
                assigned[taker].append(TopicPartition(topic, index))
        return {member: tuple(partitions) for member, partitions in assigned.items()}

    def on_assignment(self, partitions: Sequence[TopicPartition], generation: int) -> None:
        """Nothing is remembered."""
