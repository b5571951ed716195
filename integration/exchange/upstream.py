"""The way from a proxy to the broker: one connection for each connection of a client."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from rebalance_check.integration.exchange.nodes import Address
from rebalance_check.integration.wire.frames import LENGTH_BYTES

CONNECT_TIMEOUT_S: Final = 10.0


class Upstream:
    """A connection to ``address``, opened by `open`, and again after `close` by the next request.

    ``ended`` is set when the broker closes it.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self.ended = asyncio.Event()
        self._reply: asyncio.Future[bytes] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect.

        Raises: OSError when nothing listens there, or does not accept within `CONNECT_TIMEOUT_S`.
        """
        connecting = asyncio.open_connection(self.address.host, self.address.port)
        reader, self._writer = await asyncio.wait_for(connecting, CONNECT_TIMEOUT_S)
        self._reading = asyncio.create_task(self._read_all(reader))

    async def ask(self, frame: bytes, *, expects_reply: bool) -> bytes:
        """Send a request (without its length): the reply with its length, nothing where none is expected.

        Raises: ConnectionError when the broker closes the connection before it replies.
        """
        if self._writer is None:
            await self.open()
        assert self._writer is not None
        self._reply = asyncio.get_running_loop().create_future() if expects_reply else None
        self._writer.write(len(frame).to_bytes(LENGTH_BYTES, "big") + frame)
        await self._writer.drain()
        if self._reply is None:
            return b""
        if self.ended.is_set():
            raise ConnectionError(f"the broker at {self.address} closed the connection")
        return await self._reply

    async def close(self) -> None:
        """Close the connection, and give up the reply that is awaited on it."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    async def _read_all(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readexactly(LENGTH_BYTES)
                reply = head + await reader.readexactly(int.from_bytes(head, "big"))
                if self._reply is not None and not self._reply.done():
                    self._reply.set_result(reply)
        self.ended.set()
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(ConnectionError(f"the broker at {self.address} closed the connection"))
