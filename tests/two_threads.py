"""Schedules of two threads, explored one by one: the first is stopped before one of its lines, and the second runs.

One thread runs at a time, and nothing sleeps. The second thread runs to its end, or until it waits for a lock that the
first one holds; it goes on when that is given back.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rebalance_check.impl.client.monitor import Monitor

FIRST, SECOND = 0, 1


class TwoThreads:
    """One schedule: ``first`` is stopped before its ``at``-th line in a file whose path contains ``where``."""

    def __init__(self, at: int, where: str) -> None:
        self.at = at
        self.lines = 0
        self.is_second_over = False
        self._where = where
        self._turn = FIRST
        self._changed = threading.Condition()
        self._faults: list[BaseException] = []

    def run(self, first: Callable[[], None], second: Callable[[], None]) -> None:
        """Run both; raises what either raised."""
        threads = [
            threading.Thread(target=self._go, args=(number, call)) for number, call in enumerate((first, second))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(6)
        assert not any(thread.is_alive() for thread in threads), "neither thread goes on"
        if self._faults:
            raise self._faults[0]

    @property
    def was_stopped(self) -> bool:
        """Whether the first thread has so many lines."""
        return self.lines > self.at

    def give_way(self) -> None:
        """Let the other thread run; returns when it has ended, or waits."""
        me = self._turn
        self._turn = 1 - me
        with self._changed:
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._turn == me or self._faults, 5)

    def _go(self, number: int, call: Callable[[], None]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._turn == number, 5)
        try:
            if number == FIRST:
                sys.settrace(self._trace)
            call()
        except BaseException as fault:
            self._faults.append(fault)
        finally:
            sys.settrace(None)
            self.is_second_over = self.is_second_over or number == SECOND
            if number == SECOND or not self.is_second_over:
                with self._changed:
                    self._turn = 1 - number
                    self._changed.notify_all()

    def _trace(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            self.lines += 1
            if self.lines == self.at + 1 and not self.is_second_over:
                self.give_way()
        return self._trace if self._where in frame.f_code.co_filename else None


class SteppedMonitor(Monitor):
    """A member's monitor under a schedule."""

    def __init__(self, threads: TwoThreads) -> None:
        super().__init__()
        self._threads = threads
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        me = threading.get_ident()
        while self._owner not in (None, me):
            self._threads.give_way()
        self._owner, self._depth = me, self._depth + 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._owner = None

    @contextmanager
    def released(self) -> Iterator[None]:
        assert self._owner == threading.get_ident(), "a thread gives back a lock that it does not hold"
        depth, self._depth, self._owner = self._depth, 0, None
        try:
            yield
        finally:
            self.__enter__()
            self._depth = depth


def schedules(where: str, run: Callable[[TwoThreads], None]) -> int:
    """Run every schedule; how many there are."""
    at = 0
    while True:
        threads = TwoThreads(at, where)
        run(threads)
        if not threads.was_stopped:
            return at
        at += 1
