"""Work on several processes of this machine: started afresh, ended with their parent, results as they come.

Each process has a pipe of its own. A pool that shares one pipe for all results cannot end a process safely: one that is
killed while it writes leaves half a result behind, and the reader waits for the other half for ever.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, NamedTuple, Self, TypeVar

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

T = TypeVar("T")

Task = tuple[Callable[..., T], Sequence[Any]]
"""A function of a module, and its arguments."""

AHEAD: Final = 2
"""So many tasks has a process at once: the next begins while the result of the last is on its way."""


class ProcessEndedError(RebalanceCheckError):
    """A process ended in the middle of its work: it was killed from outside, for example for want of memory."""


class Outcome(NamedTuple):
    """The outcome of a task: the value that it returned, or the exception that it raised."""

    value: Any
    failure: BaseException | None


def cores() -> int:
    """How many processes this machine runs at once."""
    return os.cpu_count() or 1


@dataclass(slots=True)
class Worker:
    """A process, as its parent sees it; ``has`` counts the tasks that were handed to it and are not answered."""

    process: BaseProcess
    pipe: Connection
    has: int = 0

    def outcome(self) -> Outcome:
        """The next outcome, waiting for it; raises `ProcessEndedError` when there will be none."""
        try:
            outcome: Outcome = self.pipe.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            raise ProcessEndedError(
                f"process {self.process.pid} ended with exit code {self.process.exitcode} in the middle of its work; "
                "start the command again, with --workers 1 to see what ends it"
            ) from None
        self.has -= 1
        return outcome


class Processes:
    """A pool of processes; ``count`` 1 works in this process instead. Use it as a context manager.

    Processes are *spawned*, when there is something to do, so the calling program must be importable (guard a script
    with ``if __name__ == "__main__"``).
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._workers: list[Worker] = []
        self._is_abandoned = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        for worker in self._workers:
            if kind is not None or self._is_abandoned:  # their work is of no use any more, and may take long
                worker.process.kill()
            worker.pipe.close()  # tells them to end
        for worker in self._workers:
            worker.process.join()
        self._workers.clear()

    def abandon(self) -> None:
        """The tasks' further work is of no use: end them when the block ends."""
        self._is_abandoned = True

    def run(self, tasks: Iterable[Task[T]]) -> Iterator[T]:
        """The results of the tasks in the order in which they finish; a failed task raises its exception.

        Raises: `ProcessEndedError` when a process is killed from outside.
        """
        if self.count == 1:
            return (function(*arguments) for function, arguments in tasks)
        return self._as_completed(iter(tasks))

    def _as_completed(self, tasks: Iterator[Task[T]]) -> Iterator[T]:
        """Hand out few tasks ahead, so that a campaign of any length needs little memory."""
        for _ in range(AHEAD * self.count):
            self._hand_out(tasks)
        while busy := [worker for worker in self._workers if worker.has]:
            for worker in answered(busy):
                outcome = worker.outcome()
                if outcome.failure is not None:
                    raise outcome.failure
                yield outcome.value
                self._hand_out(tasks)

    def _hand_out(self, tasks: Iterator[Task[Any]]) -> None:
        """Give the next task, if there is one, to the process that has the fewest, or to a new one."""
        task = next(tasks, None)
        if task is None:
            return
        if len(self._workers) < self.count and all(worker.has for worker in self._workers):
            self._workers.append(start_worker())
        least = min(self._workers, key=lambda worker: worker.has)
        least.has += 1
        least.pipe.send(task)

    def last_results(self, within_s: float) -> list[Any]:
        """After an interruption: the results of handed-out tasks within so many seconds."""
        until = time.monotonic() + within_s
        found, working = list[Any](), list(self._workers)
        while working := [worker for worker in working if worker.has]:
            if not (ready := answered(working, max(0.0, until - time.monotonic()))):
                break
            for worker in ready:
                try:
                    outcome = worker.outcome()
                except ProcessEndedError:
                    working.remove(worker)
                    continue
                if outcome.failure is None:
                    found.append(outcome.value)
        return found


def answered(workers: Sequence[Worker], within_s: float | None = None) -> list[Worker]:
    """Wait until some have answered or ended, for so many seconds at most: those that have."""
    pipes = wait([worker.pipe for worker in workers], within_s)
    return [worker for worker in workers if worker.pipe in pipes]


def start_worker() -> Worker:
    """A new process with a pipe, that waits for tasks."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,))
    process.start()
    theirs.close()  # so that the pipe ends with the process
    return Worker(process, ours)


def serve(pipe: Connection) -> None:
    """The loop of a process: one task after the other. Ctrl-C and other requests to end are the parent's business."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    tasks = queue.SimpleQueue[Task[Any]]()
    threading.Thread(target=receive, args=(pipe, tasks), daemon=True, name="receive").start()
    while True:
        send(pipe, outcome_of(tasks.get()))


def receive(pipe: Connection, tasks: queue.SimpleQueue[Task[Any]]) -> None:
    """Take tasks from the pipe, so that the parent never waits while it hands out; end when the parent ends the pipe,
    or is gone: a killed one would leave its processes waiting for ever."""
    try:
        while True:
            tasks.put(pipe.recv())
    except (EOFError, ConnectionError):
        os._exit(0)


def outcome_of(task: Task[Any]) -> Outcome:
    """Do a task."""
    function, arguments = task
    try:
        return Outcome(function(*arguments), None)
    except BaseException as failure:
        failure.add_note(f"in process {os.getpid()}:\n{traceback.format_exc()}")
        return Outcome(None, failure)


def send(pipe: Connection, outcome: Outcome) -> None:
    """Send the parent an outcome, or why it cannot be sent."""
    try:
        pipe.send(outcome)
    except (EOFError, ConnectionError):
        os._exit(0)  # the parent is gone
    except Exception as failure:
        pipe.send(Outcome(None, RuntimeError(f"a result cannot be sent to the parent: {failure!r}")))
