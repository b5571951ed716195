"""The callbacks of an application about its partitions (``ConsumerRebalanceListener``)."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_check.impl.protocol.topic_partition import TopicPartition


class RebalanceListener:
    """Callbacks on the application's side, all inside `poll` or `close`; a loss is reported as a revocation by default.

    An exception of one of them surfaces from `poll` after the state change that it was called for.
    """

    def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        """These came on top of those owned; called after each rebalance, also with none."""

    def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        """These are about to go and are still owned: the last chance to commit them."""

    def on_partitions_lost(self, partitions: Sequence[TopicPartition]) -> None:
        """These are gone, and another member may own them already: committing them is no longer legal.

        As in Java, a listener that does not define it has `on_partitions_revoked` called.
        """
        self.on_partitions_revoked(partitions)
