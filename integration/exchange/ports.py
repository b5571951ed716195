"""The ports of a proxy, some for each process of a client, and the connections to them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from rebalance_check.integration.exchange.exchange import Exchange
from rebalance_check.integration.exchange.nodes import Address, Nodes
from rebalance_check.integration.exchange.proxy_connection import ProxyConnection

LOOPBACK: Final = "127.0.0.1"


class Ports:
    """Belongs to one event loop: everything in here runs in it."""

    def __init__(self, exchange: Exchange, nodes: Nodes) -> None:
        self.nodes = nodes
        self._exchange = exchange
        self._open: dict[tuple[str, int], tuple[Address, asyncio.Server]] = {}
        self._opening = asyncio.Lock()
        self._connections: dict[ProxyConnection, asyncio.Task[None]] = {}

    async def open(self, process: str, node: int) -> Address:
        """Where the process finds the node; the first question opens the port."""
        async with self._opening:
            if (process, node) not in self._open:
                server = await asyncio.start_server(partial(self._serve, process, node), LOOPBACK, 0)
                self._open[process, node] = (Address(LOOPBACK, server.sockets[0].getsockname()[1]), server)
            return self._open[process, node][0]

    async def close(self) -> None:
        """Close every port and every connection."""
        for _, server in self._open.values():
            server.close()
        tasks = [*self._connections.values()]
        for connection, task in self._connections.items():
            connection.abort()
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def interrupt(self, group: str, node: int) -> None:
        """Answer requests parked at other virtual nodes than ``node``: they do not coordinate the group any more."""
        for connection in self._connections:
            if self.nodes.is_virtual and connection.node != node:
                connection.interrupt(group)

    async def _serve(self, process: str, node: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ProxyConnection(self._exchange, self.nodes, partial(self.open, process), process, node)
        task = asyncio.current_task()
        assert task is not None
        self._connections[connection] = task
        try:
            await connection.run(reader, writer)
        except asyncio.CancelledError:
            return  # `close` ends it; asyncio would log a task that ends as cancelled
        finally:
            del self._connections[connection]
