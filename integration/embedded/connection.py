"""One connection: it reads a little ahead, answers in order, and lets others have their turn after each answer."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from rebalance_check.integration.wire.frames import frame_length
from rebalance_check.integration.wire.malformed import MalformedFrame

log = logging.getLogger(__name__)

READ_AHEAD_BYTES: Final = 64 * 1024
READ_AHEAD_FRAMES: Final = 64
"""What waits behind the request that is being answered; then the connection is not read until there is space again."""

Answer = Callable[[bytes, str], Awaitable[bytes | None]]
"""A frame and its peer in; the bytes that answer it out: none for no answer, None to close the connection."""


class ReadAhead:
    """The frames of one connection that wait for their turn, bounded in number and in bytes."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._changed = asyncio.Condition()
        self.size = 0

    async def put(self, frame: bytes) -> None:
        """Append a frame once there is space; a frame that is larger than all of it waits until it is alone."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._has_space(frame))
            self._frames.append(frame)
            self.size += len(frame)
            self._changed.notify_all()

    def _has_space(self, frame: bytes) -> bool:
        fits = self.size + len(frame) <= READ_AHEAD_BYTES and len(self._frames) < READ_AHEAD_FRAMES
        return fits or not self._frames

    async def get(self) -> bytes:
        """The next frame, waited for."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._frames))
            frame = self._frames.popleft()
            self.size -= len(frame)
            self._changed.notify_all()
            return frame


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer, max_request_bytes: int
) -> None:
    """Answer what arrives on a connection until either side closes it.

    Reading ahead is how the end of a connection is noticed while a request of it is parked; behind a full read-ahead it
    is noticed later, as in Kafka, which reads nothing while a request is in flight.
    """
    frames = ReadAhead()
    both = [
        asyncio.create_task(_read_all(reader, frames, peer_of(writer), max_request_bytes)),
        asyncio.create_task(_answer_all(frames, writer, answer)),
    ]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        writer.close()


async def _read_all(reader: asyncio.StreamReader, frames: ReadAhead, peer: str, max_request_bytes: int) -> None:
    try:
        while True:
            length = frame_length(await reader.readexactly(4), max_request_bytes)
            await frames.put(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        log.debug("%s closed its connection", peer)
    except MalformedFrame as error:
        log.warning("closing the connection of %s: it sent %s", peer, error)


async def _answer_all(frames: ReadAhead, writer: asyncio.StreamWriter, answer: Answer) -> None:
    peer = peer_of(writer)
    try:
        while (frame := await answer(await frames.get(), peer)) is not None:
            if frame:
                writer.write(frame)
                await writer.drain()
            await asyncio.sleep(0)
    except MalformedFrame as error:
        log.warning("closing the connection of %s: it sent %s", peer, error)
    except ConnectionError:
        log.debug("%s went away before its answer", peer)
    except Exception:
        log.exception("closing the connection of %s: the broker failed to answer", peer)


def peer_of(writer: asyncio.StreamWriter) -> str:
    """The peer as Kafka prints it: ``/127.0.0.1``."""
    peer = writer.get_extra_info("peername")
    return f"/{peer[0]}" if peer else "/unknown"
