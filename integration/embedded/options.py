"""The options of the embedded broker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

LOOPBACK: Final = "127.0.0.1"
EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})
"""Hosts that stand for all addresses of the machine: a client is sent to the one that it came by."""

MAX_REQUEST_BYTES: Final = 2 * 1024 * 1024
"""The longest request; Kafka's setting is ``socket.request.max.bytes``, and its default 100 MiB."""

MAX_NODES: Final = 100
HIGHEST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerOptions:
    """How the embedded broker listens, and its actions unasked.

    It has ``nodes``, which listen on ``port`` and those behind it; 0 is any port that is free. A topic that is named in
    Metadata and does not exist is created with ``auto_create`` partitions, 0 for not at all. A connection that sends
    more than ``max_request_bytes`` as one request is closed.

    Raises: RebalanceCheckError for a number of nodes or a port that cannot be.
    """

    nodes: int = 1
    host: str = LOOPBACK
    port: int = 0
    auto_create: int = 0
    max_request_bytes: int = MAX_REQUEST_BYTES

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= MAX_NODES:
            raise RebalanceCheckError(f"a broker has 1 to {MAX_NODES} nodes, not {self.nodes}")
        if not 0 <= self.port <= HIGHEST_PORT - self.nodes:
            raise RebalanceCheckError(f"port {self.port} cannot be: choose one up to {HIGHEST_PORT - self.nodes}, or 0")

    def port_of(self, position: int) -> int:
        """The port of the node at this position, from 0; 0 for any."""
        return self.port and self.port + position


DEFAULTS: Final = BrokerOptions()
