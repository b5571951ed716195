"""The nodes that clients see behind a proxy: those of the broker, or virtual ones in front of its only node."""

from __future__ import annotations

from typing import Final, NamedTuple

from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import errors, metadata
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

TIMEOUT_S: Final = 10.0
"""How long a broker may take to say which nodes it has."""


class Address(NamedTuple):
    """Where something listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Nodes:
    """Where each node is reached, by its id, and which virtual node coordinates which group.

    ``virtual`` is the number of virtual nodes, 0 for none; they have the ids from that of the broker's only node on.

    Raises: RebalanceCheckError for virtual nodes in front of a broker with several nodes.
    """

    def __init__(self, bootstrap: str, found: dict[int, Address], virtual: int = 0) -> None:
        if virtual and len(found) != 1:
            raise RebalanceCheckError(
                f"the broker at {bootstrap} has {len(found)} nodes of its own: virtual nodes need a broker with one"
            )
        self.first = min(found)
        self.virtual_ids = tuple(range(self.first, self.first + virtual))
        self._addresses = found
        self._coordinators: dict[str, int] = {}

    @property
    def is_virtual(self) -> bool:
        """Whether clients see virtual nodes."""
        return bool(self.virtual_ids)

    @property
    def ids(self) -> tuple[int, ...]:
        """The nodes that clients see, as far as they are known."""
        return self.virtual_ids or tuple(sorted(self._addresses))

    def address(self, node: int) -> Address:
        """Where a node is reached: the only real one stands behind every virtual node."""
        return self._addresses[self.first if self.is_virtual else node]

    def learn(self, node: int, address: Address) -> None:
        """Note where a node says that it listens."""
        if node == self.first or not self.is_virtual:
            self._addresses[node] = address

    def coordinator(self, group: str) -> int:
        """The virtual node that coordinates a group: the first one until it moves."""
        return self._coordinators.get(group, self.first)

    def move(self, group: str, node: int) -> None:
        """Let a virtual node coordinate the group.

        Raises: RebalanceCheckError where there is no such node.
        """
        if node not in self.virtual_ids:
            known = ", ".join(map(str, self.virtual_ids)) or "none"
            raise RebalanceCheckError(f"there is no virtual node {node} to move {group!r} to: the nodes are {known}")
        self._coordinators[group] = node


def nodes_of(bootstrap: str) -> dict[int, Address]:
    """The nodes of the broker at ``HOST:PORT`` and where they listen, as its Metadata reply says.

    Raises: RebalanceCheckError when no broker answers there within `TIMEOUT_S`.
    """
    request = metadata.MetadataRequest(topics=[])
    try:
        with Connection(bootstrap, timeout_s=TIMEOUT_S) as connection:
            brokers = connection.call(request, 1).brokers
    except TimeoutError:
        raise RebalanceCheckError(
            f"what listens at {bootstrap} did not answer a Metadata request within {TIMEOUT_S:g} s: check that it is a "
            "Kafka broker, and that it is not hanging"
        ) from None
    except (OSError, errors.KafkaError) as error:
        raise RebalanceCheckError(
            f"no broker answers at {bootstrap} ({error}): start it, or check the address"
        ) from None
    if not brokers:
        raise RebalanceCheckError(f"the broker at {bootstrap} names no node in its Metadata reply: wait until it is up")
    return {broker.node_id: Address(broker.host, broker.port) for broker in brokers}


def require_one_node(bootstrap: str) -> None:
    """Check that one node coordinates every group: who sends requests of many groups to one address needs that.

    Raises: RebalanceCheckError for a broker with several nodes, and when no broker answers.
    """
    count = len(nodes_of(bootstrap))
    if count > 1:
        raise RebalanceCheckError(
            f"the broker at {bootstrap} has {count} nodes, and each coordinates its share of the groups: try a broker "
            "with one node, or run clients on this one (conform client, live)"
        )
