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
    """Leave Ctrl-C and other requests to end to the parent, and end when it is gone; a killed one would leave its
    workers waiting forever."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
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
        self._running: set[Future[Any]] = set()
        self._others = set(multiprocessing.active_children())
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(count, mp_context=context, initializer=serve_parent) if count > 1 else None
        self._is_abandoned = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        if self._pool is None:
            return
        if kind is not None or self._is_abandoned:  # what they do is of no use any more, and may take long
            for child in set(multiprocessing.active_children()) - self._others:
                child.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def abandon(self) -> None:
        """What the tasks still do is of no use: end them when the block ends."""
        self._is_abandoned = True

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        """The results of the tasks in the order in which they finish; a failed task raises its exception."""
        if self._pool is None:
            return (function(*arguments) for function, arguments in tasks)
        return self._as_completed(self._pool, iter(tasks), 2 * self.count)

    def _as_completed(self, pool: ProcessPoolExecutor, tasks: Iterator[Task[T]], ahead: int) -> Iterator[T]:
        """Keep ``ahead`` tasks in the pool, so that a campaign of any length needs little memory."""
        self._running = {pool.submit(function, *arguments) for function, arguments in islice(tasks, ahead)}
        while self._running:
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                self._running.discard(future)
                yield future.result()
                self._running |= {pool.submit(function, *arguments) for function, arguments in islice(tasks, 1)}

    def last_results(self, within_s: float) -> list[Any]:
        """After an interruption: what the tasks that have begun return within so many seconds; no other one begins."""
        if self._pool is None:
            return []
        begun = [task for task in self._running if not task.cancel()]
        ended, _ = wait(begun, timeout=within_s)
        return [task.result() for task in ended if task.exception() is None]
