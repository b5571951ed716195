"""``sticky``: balanced, and as few partitions as possible change their owner (``StickyAssignor``, EAGER)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from rebalance_check.impl.assignors.assignor import (
    Assignments,
    GroupSubscription,
    PartitionAssignor,
    Racks,
    subscribed_topics,
)
from rebalance_check.impl.assignors.racks import Nearness
from rebalance_check.impl.assignors.sticky_constrained import assign_constrained
from rebalance_check.impl.assignors.sticky_general import assign_general
from rebalance_check.impl.assignors.sticky_owned import Claim, believed
from rebalance_check.impl.protocol.consumer_protocol import Assignment, Subscription
from rebalance_check.impl.protocol.sticky_user_data import read_sticky, write_sticky
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.ids import NO_GENERATION


class StickyFamily(PartitionAssignor):
    """The common part of ``sticky`` and ``cooperative-sticky``; they differ in where a member's claims are found."""

    @abstractmethod
    def claim(self, subscription: Subscription) -> Claim:
        """The partitions that a member says it owned."""

    def _assign(
        self, partitions_per_topic: Mapping[str, int], subscriptions: GroupSubscription, racks: Racks | None
    ) -> tuple[dict[str, list[TopicPartition]], set[TopicPartition]]:
        """The balanced assignment, and the partitions of it that their old owners may still hold."""
        subscribers = subscribed_topics(partitions_per_topic, subscriptions)
        counts = {topic: partitions_per_topic[topic] for topic in subscribers}
        partitions = [TopicPartition(topic, number) for topic, count in counts.items() for number in range(count)]
        claims = {member: self.claim(subscriptions[member]) for member in sorted(subscriptions)}
        ownership = believed(claims, counts)
        nearness = Nearness.of(partitions, subscriptions, racks)
        if len({frozenset(one.topics) for one in subscriptions.values()}) == 1:
            result = assign_constrained(partitions, ownership, nearness)
            return result.assigned, set(result.transferring)
        assigned = assign_general(partitions, subscribers, ownership, nearness)
        return assigned, _moved(subscriptions, assigned)


class StickyAssignor(StickyFamily):
    """Remembers its own assignment, so stickiness survives that an EAGER member gives up everything to join.

    ``writes_generation`` is False for a member of an old version, which writes user data without a generation (v0).
    """

    name = "sticky"

    def __init__(self, *, writes_generation: bool = True) -> None:
        self._writes_generation = writes_generation
        self._previous: tuple[TopicPartition, ...] | None = None
        self._generation = NO_GENERATION

    def claim(self, subscription: Subscription) -> Claim:
        """From the user data alone."""
        said = read_sticky(subscription.user_data)
        return Claim(said.partitions, NO_GENERATION if said.generation is None else said.generation)

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:  # noqa: ARG002 - part of the interface
        """The last assignment, with its generation in v1; None before the first."""
        if self._previous is None:
            return None
        return write_sticky(self._previous, self._generation if self._writes_generation else None)

    def assign(
        self,
        partitions_per_topic: Mapping[str, int],
        subscriptions: GroupSubscription,
        racks: Racks | None = None,
    ) -> Assignments:
        """Balanced and sticky; nothing is withheld, since an EAGER member owns nothing while it joins."""
        assigned, _ = self._assign(partitions_per_topic, subscriptions, racks)
        return {member: tuple(sorted(given)) for member, given in assigned.items()}

    def on_assignment(self, assignment: Assignment, generation: int) -> None:
        """Remember for the next round."""
        self._previous, self._generation = assignment.partitions, generation


def _moved(subscriptions: GroupSubscription, assigned: Mapping[str, Sequence[TopicPartition]]) -> set[TopicPartition]:
    """Partitions added to one member and revoked from another, by the members' own claims."""
    claims = {member: set(one.owned) for member, one in subscriptions.items()}
    added = {tp for member, given in assigned.items() for tp in given if tp not in claims[member]}
    revoked = {tp for member, owned in claims.items() for tp in owned if tp not in assigned[member]}
    return added & revoked
