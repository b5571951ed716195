"""A loop in a thread of its own ends with all that runs in it."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError

import pytest

from rebalance_check.integration.exchange.loop_thread import LoopThread


async def forever() -> None:
    await asyncio.Event().wait()


def test_what_still_runs_is_cancelled() -> None:
    loop = LoopThread("test")
    running = loop.spawn(forever())
    loop.close()
    with pytest.raises(CancelledError):
        running.result(0)


def test_what_begins_meanwhile_is_cancelled_too() -> None:
    """As a connection that is accepted while its broker ends: its task is not known to the broker yet."""
    begun: list[asyncio.Task[None]] = []

    async def begins_another() -> None:
        try:
            await forever()
        finally:
            begun.append(asyncio.create_task(forever()))

    loop = LoopThread("test")
    loop.spawn(begins_another())
    loop.close()
    assert [task.cancelled() for task in begun] == [True]
