"""An asyncio event loop in a thread of its own: where brokers and proxies run whose users block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

T = TypeVar("T")

TIMEOUT_S: Final = 30.0
"""How long a caller in another thread waits for the loop at most."""


class LoopThread:
    """A running event loop; `close` ends it."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine in the loop; the outcome comes in the future."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and return its result; not to be called in the loop's own thread."""
        return self.spawn(coroutine).result(TIMEOUT_S)

    def call(self, function: Callable[[], T]) -> T:
        """Run a function in the loop's thread, between two turns of the loop, and return its result."""
        if threading.current_thread() is self._thread:
            return function()

        async def calling() -> T:
            return function()

        return self.run(calling())

    def close(self) -> None:
        """Cancel running tasks, and stop the loop and its thread."""
        self.run(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(TIMEOUT_S)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()


async def _cancel_others() -> None:
    """Cancel all other tasks, also those that begin meanwhile: that of a connection which was just accepted, say."""
    this = asyncio.current_task()
    while others := [task for task in asyncio.all_tasks() if task is not this]:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
