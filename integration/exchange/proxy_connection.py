"""One connection of a client through a proxy, and the connection to the broker that belongs to it.

A broker handles the requests of one connection one after the other, so the proxy asks one at a time, too: what a client
sends ahead waits here instead of there, in the same order.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from rebalance_check.integration.exchange.connection import serve
from rebalance_check.integration.exchange.exchange import Exchange
from rebalance_check.integration.exchange.nodes import Nodes
from rebalance_check.integration.exchange.refusals import refusal
from rebalance_check.integration.exchange.rewriting import Place, rewritten
from rebalance_check.integration.exchange.seen import Seen, see, see_name
from rebalance_check.integration.exchange.upstream import Upstream
from rebalance_check.integration.wire.frames import encode_response, read_prefix
from rebalance_check.integration.wire.messages import KEY_OF
from rebalance_check.integration.wire.requests import GROUP_API_KEYS
from rebalance_check.model.vocabulary.errors import Error

log = logging.getLogger(__name__)

MAX_REQUEST_BYTES: Final = 100 * 1024 * 1024
"""Kafka's default of ``socket.request.max.bytes``."""


class ProxyConnection:
    """A client of ``process`` connected to ``node``; ``place`` says where it finds the other nodes."""

    def __init__(self, exchange: Exchange, nodes: Nodes, place: Place, process: str, node: int) -> None:
        self.node = node
        self._nodes = nodes
        self._place = place
        self._upstream = Upstream(nodes.address(node))
        self._observed = exchange.connection(self._forward, node=node, process=process)
        self._idle = asyncio.Event()
        self._idle.set()
        self._asking: tuple[str, asyncio.Task[bytes]] | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the client until one side closes its connection; then the other one is closed, too."""
        self._writer = writer
        try:
            await self._upstream.open()
            serving = asyncio.create_task(
                serve(
                    reader,
                    writer,
                    self._answer,
                    MAX_REQUEST_BYTES,
                    self._observed.closed,
                    on_frame=self._observed.arrives,
                )
            )
            await self._until_either_ends(serving)
        except OSError as error:
            log.warning("closing a connection: the broker at %s cannot be reached (%s)", self._upstream.address, error)
        finally:
            self._observed.closed("broker")
            writer.close()
            await self._upstream.close()

    async def _until_either_ends(self, serving: asyncio.Task[None]) -> None:
        ended = asyncio.create_task(self._upstream.ended.wait())
        try:
            await asyncio.wait([serving, ended], return_when=asyncio.FIRST_COMPLETED)
            if not serving.done():
                await self._idle.wait()  # the last reply may have come with the end of the connection
                self._observed.closed("broker")
        finally:
            for task in (ended, serving):
                task.cancel()
            await asyncio.gather(ended, serving, return_exceptions=True)

    def abort(self) -> None:
        """The proxy ends: cut the client off, which might read nothing."""
        self._observed.closed("broker")
        if self._writer is not None:
            self._writer.transport.abort()

    def interrupt(self, group: str) -> None:
        """The node does not coordinate ``group`` any more: a request of it that waits for the broker is refused."""
        if self._asking is not None and self._asking[0] == group:
            self._asking[1].cancel()

    # ----------------------------------------------------------------------------------- requests

    async def _answer(self, frame: bytes, peer: str) -> bytes | None:
        self._idle.clear()
        try:
            return await self._observed.answer(frame, peer)
        finally:
            self._idle.set()

    async def _forward(self, frame: bytes, _peer: str) -> bytes | None:
        seen = self._read(frame)
        if self._is_refused(seen):
            return _refused(seen)
        try:
            reply = await self._ask(seen, frame)
        except OSError as error:
            log.debug("closing a connection: %s", error)
            return None
        if reply is None:
            return _refused(seen)
        return await rewritten(seen.prefix, frame, reply, self._nodes, self._place) if reply else reply

    def _read(self, frame: bytes) -> Seen:
        """The facts about a request that the proxy needs: its group, and whether it has a reply."""
        api_key = read_prefix(frame).api_key
        is_read = api_key == KEY_OF["Produce"] or (self._nodes.is_virtual and api_key in GROUP_API_KEYS)
        return see(frame) if is_read else see_name(frame)

    def _is_refused(self, seen: Seen) -> bool:
        """Whether the request is for the coordinator of its group, and the node is not."""
        return self._nodes.is_virtual and seen.part is not None and self._nodes.coordinator(seen.group) != self.node

    async def _ask(self, seen: Seen, frame: bytes) -> bytes | None:
        """The broker's reply; None when the coordinator moved away before it came."""
        asking = asyncio.create_task(self._upstream.ask(frame, expects_reply=seen.expects_reply))
        self._asking = (seen.group, asking)
        try:
            await asyncio.wait([asking])
        finally:
            self._asking = None
            asking.cancel()
        if not asking.cancelled():
            return asking.result()
        await self._upstream.close()  # a reply that comes late answers nothing any more
        return None


def _refused(seen: Seen) -> bytes:
    response = refusal(seen.request, Error.NOT_COORDINATOR)
    return encode_response(response, seen.prefix.api_version, seen.prefix.correlation_id)
