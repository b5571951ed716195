"""The threads of a search: each worker has one, while the thread that began it watches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Barrier
from types import TracebackType
from typing import Final, Self

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.safety.worker import Worker

WATCH_EVERY_S: Final = 0.02
"""So often the thread that watches looks whether the search is to end."""


class Team:
    """A thread for each of some workers. A context manager.

    The threads run machine code, in which no Python runs and no signal is handled: so also a worker that is alone has a
    thread of its own, and the one that began it can be interrupted.
    """

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers
        self._pool = ThreadPoolExecutor(len(workers), thread_name_prefix="rebalance-check-search")

    def __enter__(self) -> Self:
        """Start the threads.

        Raises: MemoryError where the system has not so many: workers wait for each other, so none may be missing.
        """
        together = Barrier(len(self._workers))
        try:
            for _ in self._workers:
                self._pool.submit(together.wait)
        except RuntimeError as error:  # how Python says that the system has no more threads
            together.abort()
            self._pool.shutdown()
            raise MemoryError(str(error)) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    def level(self, watch: Callable[[], None]) -> int:
        """Let all workers search the present level, and call ``watch`` meanwhile; why they came back (`kernel.level`).

        Raises: what ``watch`` raises, when all have come back after their round.
        """
        futures = [self._pool.submit(worker.level) for worker in self._workers]
        try:
            while wait(futures, WATCH_EVERY_S).not_done:
                watch()
        except BaseException:
            self._workers[0].buffer.shared[kernel.STOP] = 1
            raise
        finally:
            wait(futures)
        return futures[0].result()
