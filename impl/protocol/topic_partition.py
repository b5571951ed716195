"""A topic partition as the wire and the assignors hold it: a topic and a number, not yet one name."""

from __future__ import annotations

from typing import NamedTuple

from rebalance_check.model.vocabulary import ids


class TopicPartition(NamedTuple):
    """Partition number ``partition`` (from 0) of ``topic``."""

    topic: str
    partition: int

    @property
    def name(self) -> ids.Partition:
        """As Kafka prints it and as events carry it: ``topic-0``."""
        return ids.partition(self.topic, self.partition)
