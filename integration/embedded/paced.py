"""Long work in short turns, so that one request holds up no other: long is as long as the request says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

TURN_S: Final = 0.01
"""How long one piece of work may keep the event loop, in seconds."""

LOOK_EVERY: Final = 32
"""After so many items a look at the clock."""


async def paced(items: Iterable[T]) -> AsyncIterator[T]:
    """The items; whenever the turn is over, the event loop does its other work."""
    loop = asyncio.get_running_loop()
    end = loop.time() + TURN_S
    for number, item in enumerate(items):
        if not number % LOOK_EVERY and loop.time() > end:
            await asyncio.sleep(0)
            end = loop.time() + TURN_S
        yield item
