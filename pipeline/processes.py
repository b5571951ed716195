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
from typing import Any, TypeVar

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


def run_tasks(tasks: Iterable[Task[T]], workers: int) -> Iterator[T]:
    """The results of the tasks, in the order in which they finish.

    ``workers`` is the number of processes; 1 runs the tasks in this process. Processes are *spawned*, so the calling
    program must be importable (guard a script with ``if __name__ == "__main__"``). When a task fails, the others are
    given up and its exception is raised.
    """
    if workers <= 1:
        for function, arguments in tasks:
            yield function(*arguments)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=serve_parent) as pool:
        try:
            yield from _as_completed(pool, iter(tasks), 2 * workers)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _as_completed(pool: ProcessPoolExecutor, tasks: Iterator[Task[T]], ahead: int) -> Iterator[T]:
    """Keep ``ahead`` tasks in the pool, so that a campaign of any length needs little memory."""
    running: set[Future[T]] = {pool.submit(function, *arguments) for function, arguments in islice(tasks, ahead)}
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()
            running |= {pool.submit(function, *arguments) for function, arguments in islice(tasks, 1)}
