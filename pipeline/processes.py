"""Work on several processes of this machine: started afresh, ended with their parent, results as they come."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing.connection import wait as wait_for_handles
from typing import Any, Self, TypeVar

T = TypeVar("T")

Task = tuple[Callable[..., T], Sequence[Any]]
"""A function of a module, and its arguments."""


def serve_parent() -> None:
    """Leave Ctrl-C to the parent, and end when it is gone; a killed one would leave its workers waiting forever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    handle = parent.sentinel

    def watch() -> None:
        wait_for_handles([handle])
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="watch-parent").start()


def cores() -> int:
    """How many processes this machine runs at once."""
    return os.cpu_count() or 1


class Processes:
    """A pool of processes; ``count`` 1 works in this process instead. Use it as a context manager.

    Processes are *spawned*, when there is something to do, so the calling program must be importable (guard a script
    with ``if __name__ == "__main__"``).
    """

    def __init__(self, count: int) -> None:
        self.count = count
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(count, mp_context=context, initializer=serve_parent) if count > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        """The results of the tasks in the order in which they finish; a failed task raises its exception."""
        if self._pool is None:
            return (function(*arguments) for function, arguments in tasks)
        return _as_completed(self._pool, iter(tasks), 2 * self.count)


def _as_completed(pool: ProcessPoolExecutor, tasks: Iterator[Task[T]], ahead: int) -> Iterator[T]:
    """Keep ``ahead`` tasks in the pool, so that a campaign of any length needs little memory."""
    running: set[Future[T]] = {pool.submit(function, *arguments) for function, arguments in islice(tasks, ahead)}
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()
            running |= {pool.submit(function, *arguments) for function, arguments in islice(tasks, 1)}
