"""The nodes of the embedded broker: where each listens, which leads a partition, and which coordinates a group.

As in Kafka only its leader serves the records of a partition; that all logs are in one place, a client does not notice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.integration.wire.kafka_python import errors

FIRST_NODE_ID: Final = 1

NOT_LEADER_OR_FOLLOWER: Final[int] = errors.NotLeaderForPartitionError.errno
"""A node's answer about a partition that another one leads."""

Leads = Callable[[str, int], bool]
"""Whether a node leads the partition of this topic and number."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node and where it listens."""

    id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """All nodes, the first one first, and the id of the node that coordinates a group."""

    nodes: Sequence[Node]
    coordinator_id: Callable[[str], int]

    @property
    def first(self) -> Node:
        """The controller, and the coordinator of all but groups."""
        return self.nodes[0]

    def coordinator(self, group: str) -> Node:
        """The node that coordinates a group."""
        wanted = self.coordinator_id(group)
        return next(node for node in self.nodes if node.id == wanted)

    def leader(self, partition: int, assigned: int | None = None) -> Node:
        """The node that leads a partition of this number: the one that it was ``assigned`` to by hand, or the next in
        turn."""
        in_turn = self.nodes[partition % len(self.nodes)]
        return next((node for node in self.nodes if node.id == assigned), in_turn)

    def reached_at(self, host: str) -> Cluster:
        """The same nodes as a client sees them who reached one of them at this host."""
        return replace(self, nodes=[replace(node, host=host) for node in self.nodes])


def single(host: str, port: int) -> Cluster:
    """A cluster of one node."""
    return Cluster([Node(FIRST_NODE_ID, host, port)], lambda _group: FIRST_NODE_ID)
