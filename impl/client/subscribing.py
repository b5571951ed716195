"""A consumer's part in its subscription: the application changes it, and a pattern follows the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rebalance_check.impl.assignors.assignor import Racks
from rebalance_check.impl.client.leading import Leading
from rebalance_check.impl.client.subscriptions import Subscribed, Wanted
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.events import SubscriptionChanged


class Subscribing(Leading):
    """``ConsumerCoordinator``'s subscription: the present one, and the one of the join to its generation."""

    _subscribed: Subscribed
    _joined_subscription: tuple[str, ...] | None = None
    _refresh_metadata: Callable[[], Mapping[str, int]] | None = None

    @property
    def subscription(self) -> tuple[str, ...]:
        """The topics that the member wants: those named, or those known that match its pattern."""
        return self._subscribed.topics

    def subscribe(self, topics: Wanted) -> None:
        """Change the subscription; the next poll joins again.

        `RebalanceCheckError` when a pattern takes the place of names or the reverse: unsubscribe between.
        """
        self._subscribed.change(topics, self.partitions_per_topic)
        self._emit_subscription()

    def update_metadata(self, partitions_per_topic: Mapping[str, int], racks: Racks | None = None) -> None:
        """The client learned of other topics, partition counts or racks of replicas.

        A leader joins again if its assignment was made from other counts, and who subscribes by a pattern if other
        topics match it now.
        """
        self.racks = racks
        self._know(partitions_per_topic)

    def wanted_topics(self) -> tuple[str, ...] | None:
        """The topics that the member must know the partitions of, None for all: its own, and as leader its group's."""
        if self._subscribed.by_pattern:
            return None
        return tuple(sorted({*self.subscription, *self._group_topics}))

    def ask_for_topics(self) -> None:
        """A subscriber by pattern asks before it joins: it should not join for topics of yesterday."""
        if self._subscribed.by_pattern and self._refresh_metadata is not None:
            self._know(self._refresh_metadata())

    def note_joined_subscription(self) -> None:
        """The member joins for its present subscription."""
        self._joined_subscription = self.subscription

    def wants_other_topics(self) -> bool:
        """Whether the member joined for other topics than it wants now, in any order."""
        joined = self._joined_subscription
        return joined is not None and joined != self.subscription and set(joined) != set(self.subscription)

    def learn_topics(self, assigned: Sequence[TopicPartition]) -> None:
        """A leader may know topics that match the pattern before the member does: no reason to join again."""
        topics = {tp.topic for tp in assigned}
        if self._subscribed.learn(topics):
            self._joined_subscription = tuple(sorted({*(self._joined_subscription or ()), *topics}))
            self._emit_subscription()

    def _know(self, partitions_per_topic: Mapping[str, int]) -> None:
        self.partitions_per_topic = dict(partitions_per_topic)
        if self._subscribed.look_at(self.partitions_per_topic):
            self._emit_subscription()

    def _emit_subscription(self) -> None:
        self.recorder.emit(SubscriptionChanged(member=self.member, topics=self.subscription))
