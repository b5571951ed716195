"""The interface of an assignor, and the parts that all share: the topics that count, and the order of members."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final, Protocol, TypeAlias

from rebalance_check.impl.protocol.consumer_protocol import Assignment, Subscription
from rebalance_check.impl.protocol.java_order import utf16_key
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

Racks = Mapping[str, Sequence[Collection[str]]]
"""Of each topic that has metadata the racks that hold replicas of its partitions, one entry for each partition."""

Assignments: TypeAlias = dict[str, tuple[TopicPartition, ...]]
"""The partitions of each member id; every member of the group has an entry."""

GroupSubscription: TypeAlias = Mapping[str, Subscription]
"""The wishes and claims of each member id (``GroupSubscription``)."""

GroupAssignment: TypeAlias = Mapping[str, Sequence[TopicPartition] | Assignment]
"""Of each member id its partitions, or an `Assignment` where user data goes with them (``GroupAssignment``)."""

PROTOCOL_IDS: Final = {RebalanceProtocol.EAGER: 0, RebalanceProtocol.COOPERATIVE: 1}
"""The numbers of KIP-429 (``RebalanceProtocol.id``): where members support several, the highest counts."""


def protocol_for_id(number: int) -> RebalanceProtocol:
    """The rebalance protocol of a number (``RebalanceProtocol.forId``).

    Raises: RebalanceCheckError for a number that none has.
    """
    for protocol, its_number in PROTOCOL_IDS.items():
        if its_number == number:
            return protocol
    known = ", ".join(f"{its_number} is {protocol}" for protocol, its_number in PROTOCOL_IDS.items())
    raise RebalanceCheckError(f"{number} is the id of no rebalance protocol: {known}")


class Assignor(Protocol):
    """One strategy (``ConsumerPartitionAssignor``). An object belongs to one client and may remember between rounds.

    ``assign`` must give every member of ``subscriptions`` an entry, must be a function of its arguments and of the
    leader memory it declares, and must not fail because of other members' subscriptions. A class
    that inherits from this one needs a name and ``assign``.
    """

    protocols: ClassVar[frozenset[RebalanceProtocol]] = frozenset({RebalanceProtocol.EAGER})
    """The rebalance protocols that it can serve (``supportedProtocols``)."""

    version: ClassVar[int] = 0
    """Of its user data and its algorithm (``version``); it is not on the wire."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The protocol name on the wire."""

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:  # noqa: ARG002 - for those that need them
        """The user data of the client's next subscription to ``topics``."""
        return None

    @abstractmethod
    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: GroupSubscription, racks: Racks | None = None
    ) -> GroupAssignment:
        """The assignment of one generation, computed by its leader.

        ``partitions_per_topic`` holds the topics that have metadata, ``racks`` where the replicas are, if that is
        known; an assignor may ignore it.
        """

    def on_assignment(self, assignment: Assignment, generation: int) -> None:  # noqa: ARG002 - for those that need them
        """The client received its part of the assignment that the leader of ``generation`` made (``onAssignment``)."""
        return


class PartitionAssignor(Assignor, Protocol):
    """A strategy that sends no user data to the members (``AbstractPartitionAssignor``)."""

    @abstractmethod
    def assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: GroupSubscription, racks: Racks | None = None
    ) -> Assignments:
        """As `Assignor.assign`."""


def with_user_data(assigned: GroupAssignment) -> dict[str, Assignment]:
    """The `Assignment` of each member."""
    return {
        member: given if isinstance(given, Assignment) else Assignment(partitions=tuple(given))
        for member, given in assigned.items()
    }


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
