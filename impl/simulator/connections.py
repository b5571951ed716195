"""The connections of one member process: one to its coordinator, and one to each node that it asks for that."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from rebalance_check.impl.client.lookup import Node
from rebalance_check.impl.simulator.network import Connection, Receive, SimulatedNetwork, never
from rebalance_check.impl.simulator.nodes import NODES


class Connections:
    """As in Kafka's client, the coordinator has a connection of its own: nothing parks in front of a look-up."""

    def __init__(
        self,
        owner: str,
        network: SimulatedNetwork,
        random: Random,
        receive: Receive,
        disconnected: Callable[[int], None],
    ) -> None:
        self._owner = owner
        self._network = network
        self._random = random
        self._receive = receive
        self._disconnected = disconnected
        self._asked: dict[int, Connection] = {}
        self._coordinator: Connection | None = None
        self._followed: Node | None = None
        self._bootstrap = random.randrange(NODES)

    def follow(self, coordinator: Node | None) -> None:
        """Connect to the coordinator as soon as it is found; where it is found again, the connection stays.

        A request that waits on the connection to another node has an unknown outcome then.
        """
        if coordinator is self._followed:
            return
        self._followed = coordinator
        if coordinator is None:
            return
        before, node = self._coordinator, coordinator.node_id
        if before is None or before.node != node:
            self._coordinator = self._network.connect(
                self._receive, node, partial(self._disconnected, node), self._owner
            )
            if before is not None:
                before.break_now()
                before.close()
        self.to_coordinator().probe()

    def to_coordinator(self) -> Connection:
        """The connection for requests to the group's coordinator."""
        assert self._coordinator is not None, "a member sends group requests to a coordinator that it knows"
        return self._coordinator

    def to_any(self) -> Connection:
        """The connection for the next look-up: another node each time, in a circle."""
        self._bootstrap = (self._bootstrap + 1) % NODES
        node = self._bootstrap
        if node not in self._asked:
            self._asked[node] = self._network.connect(self._receive, node, never, self._owner)
        return self._asked[node]

    def close(self) -> None:
        """The process is gone."""
        for connection in [*self._asked.values(), *([self._coordinator] if self._coordinator else [])]:
            connection.close()
