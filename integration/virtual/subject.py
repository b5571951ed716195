"""Virtual Kafka as a subject: the model's clients drive Kafka's own coordinator, in virtual time."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_check.impl.comparison.to_model.subject import ConformanceSubject
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.virtual.transport import VirtualTransport
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.events import Event


class VirtualSubject(ConformanceSubject):
    """A environment of a running `VirtualKafka`; the seed of a run decides the member ids, and so who leads next."""

    def __init__(self, kafka: VirtualKafka) -> None:
        self.transport = VirtualTransport(kafka)
        super().__init__(kafka.release.name, self.transport)

    def open(self, bounds: Bounds, seed: int) -> Sequence[Event]:
        """Start a run in a new environment."""
        self.transport.seed = seed
        return super().open(bounds, seed)
