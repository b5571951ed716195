"""A coordinator of ours and its connections, together, without sockets and without a clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Protocol, runtime_checkable

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.integration.driver.codec import Address
from rebalance_check.integration.driver.config import ConnectionConfig
from rebalance_check.integration.driver.keeper import Keeper, Order


@runtime_checkable
class WantsMetadata(Protocol):
    """A coordinator that must know how many partitions topics have, as consumers do."""

    def wanted_topics(self) -> tuple[str, ...] | None:
        """The topics that it wants to know about, None for all."""
        ...

    def update_metadata(self, partitions_per_topic: Mapping[str, int]) -> None:
        """The client learned how many partitions topics have."""
        ...


class DrivenMember:
    """Puts the requests of ``coordinator`` on connections, and brings back the replies.

    The caller polls it, lets time pass in `advance`, carries out the orders of `keeper`, and wakes up at `next_ms`.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        bootstrap: Sequence[Address],
        config: ConnectionConfig,
        random: Random,
    ) -> None:
        self.coordinator = coordinator
        self._wants = coordinator if isinstance(coordinator, WantsMetadata) else None
        self._learned: object = None
        self._asked_for: tuple[str, ...] | None = self._topics()
        self.keeper = Keeper(
            bootstrap, config, client_id=coordinator.config.client_id, topics=self._topics, random=random
        )

    def _topics(self) -> tuple[str, ...] | None:
        return () if self._wants is None else self._wants.wanted_topics()

    def poll(self, now_ms: int) -> None:
        """The application polls: its coordinator's requests are sent. Raises the coordinator's errors."""
        try:
            if self._knows_topics():
                self.coordinator.poll(now_ms)
        finally:
            self._exchange(now_ms)

    def next_poll(self) -> int | None:
        """When another `poll` gets further by itself (0: now), None while something must arrive first."""
        return self.coordinator.next_poll() if self._knows_topics() else None

    def close(self, now_ms: int) -> bool:
        """Close the coordinator; False while something must be answered first."""
        closed = self.coordinator.close(now_ms)
        self._exchange(now_ms)
        return closed

    def opened(self, number: int, now_ms: int) -> None:
        """A connection stands."""
        self.keeper.opened(number, now_ms)
        self._exchange(now_ms)

    def received(self, number: int, data: bytes, now_ms: int) -> None:
        """Bytes came. `RebalanceCheckError` for errors that no retry mends."""
        self.keeper.received(number, data, now_ms)
        self._exchange(now_ms)

    def lost(self, number: int, now_ms: int, problem: str) -> None:
        """A connection broke, or could not be opened."""
        self.keeper.lost(number, now_ms, problem)
        self._exchange(now_ms)

    def advance(self, now_ms: int) -> None:
        """Do the work that is due: time-outs, metadata, the heartbeat thread's work."""
        self.keeper.advance(now_ms)
        due_ms = self.coordinator.next_deadline()
        if due_ms is not None and due_ms <= now_ms:
            self.coordinator.tick(now_ms)
        self._exchange(now_ms)

    def next_ms(self) -> int | None:
        """When `advance` has something to do."""
        due = [self.keeper.next_ms(), self.coordinator.next_deadline()]
        return min((each for each in due if each is not None), default=None)

    def take_orders(self) -> list[Order]:
        """The orders for the owner of the sockets."""
        return self.keeper.take_orders()

    def _knows_topics(self) -> bool:
        """A leader assigns partitions that it must know: before the first metadata there is no joining."""
        return self._wants is None or self._learned is not None

    def _exchange(self, now_ms: int) -> None:
        """Carry requests, replies and broken connections to and fro until there are none."""
        self._learn()
        coordinator, keeper, known = self.coordinator, self.keeper, None
        while True:
            if coordinator.coordinator is not None and coordinator.coordinator is not known:
                known = coordinator.coordinator
                keeper.connect(known, now_ms)
            requests = coordinator.take_requests()
            for number, request in requests:
                keeper.submit(number, request, coordinator.coordinator, now_ms)
            outcomes = keeper.take_outcomes()
            for number, reply in outcomes:
                coordinator.receive(number, reply, now_ms)
            lost = self._note_lost(now_ms)
            if not requests and not outcomes and not lost:
                return

    def _note_lost(self, now_ms: int) -> bool:
        """The coordinator may be unreachable; it is looked up again, with metadata of now."""
        lost, node = self.keeper.take_lost(), self.coordinator.coordinator
        if node is None or (node.host, node.port) not in lost:
            return False
        self.keeper.refresh_metadata()
        self.coordinator.coordinator_disconnected(now_ms)
        return True

    def _learn(self) -> None:
        """Hand metadata on that arrived, and ask for others where other topics are wanted."""
        if self._wants is None:
            return
        cluster = self.keeper.cluster
        if cluster is not None and cluster is not self._learned:
            self._learned = cluster
            self._wants.update_metadata(cluster.partitions)
        if (wanted := self._topics()) != self._asked_for:
            self._asked_for = wanted
            self.keeper.refresh_metadata()
