"""``range``: each topic by itself, in ranges over the members, near to their racks where that matters (KIP-881).

The rules and their order are those of ``RangeAssignor``; a test holds the answers equal to Kafka's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rebalance_check.impl.assignors.assignor import (
    Assignments,
    GroupSubscription,
    PartitionAssignor,
    Racks,
    subscribed_topics,
)
from rebalance_check.impl.assignors.racks import racks_matter
from rebalance_check.impl.protocol.topic_partition import TopicPartition


class RangeAssignor(PartitionAssignor):
    """Of n partitions and k subscribers the first n mod k get one more; equal subscriptions get equal indexes.

    Where members and replicas have racks, and not every partition has a replica in every rack, partitions go to
    members of a rack of theirs first; no member's share changes by that. Stateless.
    """

    name = "range"

    def assign(
        self,
        partitions_per_topic: Mapping[str, int],
        subscriptions: GroupSubscription,
        racks: Racks | None = None,
    ) -> Assignments:
        """Ranges, topic by topic; first, where racks count, partitions that match them."""
        rack_of = {member: subscription.rack for member, subscription in subscriptions.items()}
        topics = [
            _Topic(topic, partitions_per_topic[topic], {member: rack_of[member] for member in members}, racks)
            for topic, members in subscribed_topics(partitions_per_topic, subscriptions).items()
        ]
        if any(topic.racks_matter for topic in topics):
            _match_racks(topics)
        for topic in topics:
            topic.deal(lambda _member, _index: True)
        assigned: dict[str, list[TopicPartition]] = {member: [] for member in subscriptions}
        for topic in topics:
            for member, index in _dealt(topic):
                assigned[member].append(TopicPartition(topic.name, index))
        return {member: tuple(partitions) for member, partitions in assigned.items()}


class _Topic:
    """The partitions of a topic while they are dealt; the rack of a member may be None."""

    def __init__(self, name: str, count: int, members: Mapping[str, str | None], racks: Racks | None) -> None:
        self.name = name
        self.count = count
        self.members = members
        self.given: dict[str, list[int]] = {member: [] for member in members}
        self._free = list(range(count))
        known = None if racks is None else racks.get(name)
        self._racks = [frozenset[str]()] * count if known is None else [frozenset(each) for each in known]
        self._quota, self._extra = divmod(count, len(members))

    @property
    def racks_matter(self) -> bool:
        """Whether some member has a rack that holds replicas, and not every partition has replicas in all racks."""
        return racks_matter({rack for rack in self.members.values() if rack is not None}, self._racks)

    def matches(self, member: str, index: int) -> bool:
        """Whether a replica is near; to a member without a rack every one is."""
        rack = self.members[member]
        return rack is None or rack in self._racks[index]

    def capacity(self, member: str) -> int:
        """How many partitions the member may still get: as long as there are extra ones, one beyond the quota."""
        return max(0, self._quota + (1 if self._extra else 0) - len(self.given[member]))

    def give(self, member: str, indexes: Iterable[int]) -> None:
        """Deal partitions that are free to a member that has capacity for them."""
        for index in list(indexes):
            self._free.remove(index)
            self.given[member].append(index)
            if len(self.given[member]) == self._quota + 1:
                self._extra -= 1

    def deal(self, may_get: Callable[[str, int], bool]) -> None:
        """Give each member in turn the first free partitions that it may get, as many as it has capacity for."""
        for member in self.members:
            self.give(member, [index for index in self._free if may_get(member, index)][: self.capacity(member)])


def _dealt(topic: _Topic) -> Iterator[tuple[str, int]]:
    """The owner and the index of each partition of a topic."""
    for member, indexes in topic.given.items():
        for index in sorted(indexes):
            yield member, index


def _match_racks(topics: Sequence[_Topic]) -> None:
    """The pass before the plain one: topics with the same members and as many partitions are dealt index by index."""
    alike: dict[tuple[frozenset[str], int], list[_Topic]] = {}
    for topic in topics:
        alike.setdefault((frozenset(topic.members), topic.count), []).append(topic)
    for group in alike.values():
        if len(group) > 1:
            _match_together(group)
        elif group[0].racks_matter:
            group[0].deal(group[0].matches)


def _match_together(topics: Sequence[_Topic]) -> None:
    """Each index of all topics goes to the first member near all its replicas that has capacity in every topic."""
    for index in range(topics[0].count):
        near = (
            member
            for member in topics[0].members
            if all(topic.matches(member, index) and topic.capacity(member) for topic in topics)
        )
        member = next(near, None)
        if member is not None:
            for topic in topics:
                topic.give(member, [index])
