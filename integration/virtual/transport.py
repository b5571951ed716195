"""A group of virtual Kafka as the `Transport` of a conformance run: time is virtual, so sessions really run out."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.comparison.to_model.answers import TOPIC
from rebalance_check.impl.comparison.to_model.requests import GROUP_ID
from rebalance_check.impl.comparison.to_model.steered_transport import SteeredTransport
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

DELAY_MS: Final = 3_000


class VirtualTransport(SteeredTransport[VirtualCoordinator]):
    """One group in an environment of its own, set up by `open`; ``seed`` decides the member ids, and so hash order.

    Each request also asks for a description of the group, in the same round trip. A session ends when virtual time
    reaches the deadline of its timer; timers of others that become due on the way are late, as they may be in a broker,
    and those of members that are alive are set anew by what these send next.
    """

    def __init__(self, kafka: VirtualKafka, seed: int = 0) -> None:
        super().__init__(self._new_coordinator)
        self.kafka = kafka
        self.seed = seed

    def _new_coordinator(self, bounds: Bounds) -> VirtualCoordinator:
        config = GroupConfig(initial_rebalance_delay_ms=DELAY_MS if bounds.initial_delay else 0)
        coordinator = VirtualCoordinator(self.kafka, config, self.seed, {TOPIC: bounds.partitions})
        coordinator.defers = True
        return coordinator

    def open(self, bounds: Bounds) -> None:
        """Begin with an empty log in an environment whose member ids follow from the seed."""
        self.close()
        super().open(bounds)

    def answers(self, at_least: int) -> list[tuple[int, GroupReply]]:
        """The coordinator's answers since the last call, waited for."""
        if self.observe() is None:
            self.coordinator.settle()
        self._take(self.coordinator.take_answers())
        return super().answers(at_least)

    def observe(self) -> Observation | None:
        """The group after all that was sent, with what only an insider sees; None while no coordinator serves.

        Raises:
            RebalanceCheckError: Kafka's coordinator threw an exception that no reply reported.
        """
        if not self._serving:
            return None
        observation = self.coordinator.inspected()
        if thrown := self.coordinator.take_thrown():
            raise RebalanceCheckError(f"Kafka's coordinator threw {thrown}: a broker would log it")
        return observation

    def request_zombie(self, connection: int, request: GroupRequest) -> None:
        """Send a request to the node that was deposed."""
        super().request_zombie(connection, request)
        self.coordinator.settle()

    def close(self) -> None:
        """Give the environment back; the process belongs to the caller that started it."""
        if self._coordinator is not None:
            self._coordinator.close()
        super().close()

    def _look(self) -> None:
        """Ask what the group looks like after what was sent last, or, while it is not shown, when that was handled."""
        if self._serving:
            self.coordinator.inspect(GROUP_ID)
        else:
            self.coordinator.begin_settling()
