"""The ports of the embedded broker, one for each node, and the connections on them."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple

from rebalance_check.integration.embedded.cluster import FIRST_NODE_ID, Cluster, Node
from rebalance_check.integration.embedded.options import EVERYWHERE, BrokerOptions
from rebalance_check.integration.exchange.connection import serve
from rebalance_check.integration.exchange.exchange import Exchange, ObservedConnection
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class Where(NamedTuple):
    """Where a request arrived: the id of the node, and the cluster as its client sees it."""

    node: int
    cluster: Cluster


AnswerAt = Callable[[bytes, str, Where], Awaitable[bytes | None]]
"""As `exchange.connection.Answer`, with the place where the frame arrived."""


class _Connection(NamedTuple):
    observed: ObservedConnection
    task: asyncio.Task[Any]


class Listening:
    """The open ports. Every frame of a connection passes ``exchange`` on its way to ``answer``."""

    def __init__(self, answer: AnswerAt, exchange: Exchange, options: BrokerOptions) -> None:
        self._answer = answer
        self._exchange = exchange
        self._options = options
        self._servers: list[asyncio.Server] = []
        self._cluster: Cluster | None = None
        self._connections: dict[asyncio.StreamWriter, _Connection] = {}

    async def start(self, coordinator_id: Callable[[str], int]) -> Cluster:
        """Listen; the nodes and where they do. ``coordinator_id`` is the node that coordinates a group.

        Raises: RebalanceCheckError for a port in use, or a host that this machine does not have.
        """
        nodes = [await self._listen(position) for position in range(self._options.nodes)]
        self._cluster = Cluster(nodes, coordinator_id)
        return self._cluster

    async def _listen(self, position: int) -> Node:
        node, host, port = FIRST_NODE_ID + position, self._options.host, self._options.port_of(position)
        try:
            server = await asyncio.start_server(partial(self._serve, node), host, port)
        except OSError as error:
            self._close_ports()
            raise RebalanceCheckError(_refusal(host, port, error)) from None
        self._servers.append(server)
        return Node(node, host, server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close the ports and every connection; parked requests stay unanswered."""
        self._close_ports()
        for writer, connection in self._connections.items():
            connection.observed.closed("broker")
            writer.transport.abort()  # a peer that reads nothing would hold up an orderly end
            connection.task.cancel()
        await asyncio.gather(*(connection.task for connection in self._connections.values()), return_exceptions=True)

    def _close_ports(self) -> None:
        for server in self._servers:
            server.close()

    async def _serve(self, node: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        where = Where(node, self._seen_by(writer))
        observed = self._exchange.connection(partial(self._answer_at, where), node=node)
        task = asyncio.current_task()
        assert task is not None
        self._connections[writer] = _Connection(observed, task)
        try:
            longest = self._options.max_request_bytes
            await serve(reader, writer, observed.answer, longest, observed.closed, on_frame=observed.arrives)
        except asyncio.CancelledError:
            return  # `stop` ends it; asyncio would log a task that ends as cancelled
        finally:
            del self._connections[writer]

    async def _answer_at(self, where: Where, frame: bytes, peer: str) -> bytes | None:
        return await self._answer(frame, peer, where)

    def _seen_by(self, writer: asyncio.StreamWriter) -> Cluster:
        assert self._cluster is not None
        if self._options.host not in EVERYWHERE:
            return self._cluster
        return self._cluster.reached_at(writer.get_extra_info("sockname")[0])


def _refusal(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use: choose another, or 0 for any that is free"
    if error.errno == errno.EACCES:
        return f"port {port} of {host} is not for everyone: choose one from 1024 on, or 0 for any that is free"
    return f"cannot listen at {host}:{port} ({error.strerror or error}): choose a host of this machine"
