"""What an assignor is, and what all of them share: which topics count, and in which order members come."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Protocol

from rebalance_check.impl.protocol.consumer_protocol import Subscription
from rebalance_check.impl.protocol.java_order import utf16_key
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol

Racks = Mapping[str, Sequence[Collection[str]]]
"""Of each topic that has metadata the racks that hold replicas of its partitions, one entry for each partition."""

Assignments = dict[str, tuple[TopicPartition, ...]]
"""The partitions of each member id; every member of the group has an entry."""


class Assignor(Protocol):
    """One strategy (``ConsumerPartitionAssignor``). An object belongs to one client and may remember between rounds.

    ``assign`` must give every member of ``subscriptions`` an entry, must be a function of its arguments and of the
    leader memory it declares, and must not fail because of what other members wrote into their subscriptions.
    """

    protocols: ClassVar[frozenset[RebalanceProtocol]]
    """The rebalance protocols it can serve (``supportedProtocols``)."""

    @property
    def name(self) -> str:
        """The protocol name on the wire."""
        ...

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:
        """The user data of the client's next subscription to ``topics``."""
        ...

    def assign(
        self,
        partitions_per_topic: Mapping[str, int],
        subscriptions: Mapping[str, Subscription],
        racks: Racks | None = None,
    ) -> Assignments:
        """The assignment of one generation, computed by its leader.

        ``partitions_per_topic`` holds the topics that have metadata, ``subscriptions`` each member id's wishes and
        claims, ``racks`` where the replicas are, if that is known; an assignor may ignore it.
        """
        ...

    def on_assignment(self, partitions: Sequence[TopicPartition], generation: int) -> None:
        """The client received ``partitions`` in ``generation``."""


def subscribed_topics(
    partitions_per_topic: Mapping[str, int], subscriptions: Mapping[str, Subscription]
) -> dict[str, list[str]]:
    """The members that subscribe to each topic with at least one partition; topics sorted, members in member order."""
    topics = {topic for subscription in subscriptions.values() for topic in subscription.topics}
    known = sorted((topic for topic in topics if partitions_per_topic.get(topic, 0) > 0), key=utf16_key)
    members = member_order(subscriptions)
    return {topic: [member for member in members if topic in subscriptions[member].topics] for topic in known}


def member_order(subscriptions: Mapping[str, Subscription]) -> list[str]:
    """Static members by instance id, then dynamic ones by member id (``AbstractPartitionAssignor.MemberInfo``)."""

    def key(member: str) -> tuple[bool, bytes, bytes]:
        instance = subscriptions[member].group_instance_id
        return (instance is None, utf16_key(instance or ""), utf16_key(member))

    return sorted(subscriptions, key=key)
