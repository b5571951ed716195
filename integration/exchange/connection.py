"""One connection: it reads a little ahead, answers in order, and lets others have their turn after each answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from rebalance_check.integration.wire.frames import LENGTH_BYTES, frame_length
from rebalance_check.integration.wire.malformed import MalformedFrame
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

log = logging.getLogger(__name__)

READ_AHEAD_BYTES: Final = 64 * 1024
READ_AHEAD_FRAMES: Final = 64
"""So many frames wait behind the request that is being answered; then nothing is read until there is space again."""

DRAIN_S: Final = 5.0
"""How long requests are still handled whose client closed its side of the connection."""

Answer = Callable[[bytes, str], Awaitable[bytes | None]]
"""A frame and its peer in; the bytes that answer it out: none for no answer, None to close the connection."""


class ReadAhead:
    """The frames of one connection that wait for their turn, bounded in number and in bytes."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._changed = asyncio.Condition()
        self._is_over = False
        self.size = 0

    def __bool__(self) -> bool:
        """Whether a frame waits."""
        return bool(self._frames)

    async def put(self, frame: bytes) -> None:
        """Append a frame once there is space; a frame that is larger than all of it waits until it is alone."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._has_space(frame))
            self._frames.append(frame)
            self.size += len(frame)
            self._changed.notify_all()

    async def end(self) -> None:
        """No frame will follow."""
        async with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _has_space(self, frame: bytes) -> bool:
        fits = self.size + len(frame) <= READ_AHEAD_BYTES and len(self._frames) < READ_AHEAD_FRAMES
        return fits or not self._frames

    async def get(self) -> bytes | None:
        """The next frame, waited for; None when none will follow."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._is_over or bool(self._frames))
            if not self._frames:
                return None
            frame = self._frames.popleft()
            self.size -= len(frame)
            self._changed.notify_all()
            return frame


async def serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answer: Answer,
    max_request_bytes: int,
    on_end: Callable[[], None] = lambda: None,
    *,
    on_frame: Callable[[bytes], Awaitable[None]] | None = None,
) -> None:
    """Answer the frames of a connection until either side closes it.

    Reading ahead is how the end of a connection is noticed while a request of it is parked; behind a full read-ahead it
    is noticed later: Kafka, too, reads nothing while a request is in flight. Frames that a client sent before it closed
    its side are handled all the same, as Kafka does, within `DRAIN_S`. ``on_end`` is called as soon as the last request
    that will ever come is being handled, ``on_frame`` for each frame that arrives, before it waits for its turn.
    """
    frames = ReadAhead()
    reading = asyncio.create_task(_read_all(reader, frames, peer_of(writer), max_request_bytes, on_frame))
    answering = asyncio.create_task(_answer_all(frames, writer, answer))
    try:
        await asyncio.wait([reading, answering], return_when=asyncio.FIRST_COMPLETED)
        if reading.done() and reading.result():
            if not frames:
                on_end()
            await frames.end()
            await asyncio.wait([answering], timeout=DRAIN_S)
    finally:
        on_end()
        for task in (reading, answering):
            task.cancel()
        await asyncio.gather(reading, answering, return_exceptions=True)
        writer.close()


async def _read_all(
    reader: asyncio.StreamReader,
    frames: ReadAhead,
    peer: str,
    max_request_bytes: int,
    on_frame: Callable[[bytes], Awaitable[None]] | None,
) -> bool:
    """Read until the connection ends: whether the client ended it."""
    try:
        while True:
            length = frame_length(await reader.readexactly(LENGTH_BYTES), max_request_bytes)
            frame = await reader.readexactly(length)
            if on_frame is not None:
                await on_frame(frame)
            await frames.put(frame)
    except (asyncio.IncompleteReadError, ConnectionError):
        log.debug("%s closed its connection", peer)
        return True
    except MalformedFrame as error:
        log.warning("closing the connection of %s: it sent %s", peer, error)
        return False


async def _answer_all(frames: ReadAhead, writer: asyncio.StreamWriter, answer: Answer) -> None:
    peer = peer_of(writer)
    try:
        while (request := await frames.get()) is not None and (frame := await answer(request, peer)) is not None:
            if frame and not writer.is_closing():
                with contextlib.suppress(ConnectionError):  # the client went away; its other frames are still handled
                    writer.write(frame)
                    await writer.drain()
            await asyncio.sleep(0)
    except MalformedFrame as error:
        log.warning("closing the connection of %s: it sent %s", peer, error)
    except RebalanceCheckError as error:  # a fault that was added too late to be checked before
        log.warning("closing the connection of %s: %s", peer, error)
    except Exception:
        log.exception("closing the connection of %s: the broker failed to answer", peer)


def peer_of(writer: asyncio.StreamWriter) -> str:
    """The peer as Kafka prints it: ``/127.0.0.1``."""
    peer = writer.get_extra_info("peername")
    return f"/{peer[0]}" if peer else "/unknown"
