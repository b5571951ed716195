"""The one thread of a worker process that touches its herder and stores; others hand it their work for these."""

from __future__ import annotations

import heapq
import queue
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

from rebalance_check.integration.machine_clock import now_ms


class WorkerThreads:
    """The herder's `Threads` in real time: work that is due, or that other threads posted, happens in `run_due` only.

    ``wake`` ends the wait of the thread that calls `run_due`.
    """

    def __init__(self) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._posted: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = count()
        self._lock = threading.Lock()

    @property
    def now_ms(self) -> int:
        """The present time in ms."""
        return now_ms()

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Let ``action`` happen in ``delay_ms`` milliseconds."""
        with self._lock:
            heapq.heappush(self._due, (now_ms() + delay_ms, next(self._numbers), action))
        self.wake()

    def wake_herder(self) -> None:
        """Let the herder thread look again at its conditions."""
        self.wake()

    def post(self, action: Callable[[], None]) -> None:
        """Let ``action`` happen soon; for other threads."""
        self._posted.put(action)
        self.wake()

    def ask(self, question: Callable[[Callable[[Any], None]], None], timeout_s: float) -> Any:
        """Post a question that gets a function for its answer; the answer, or None after ``timeout_s`` seconds."""
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.post(lambda: question(answers.put))
        try:
            return answers.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def run_due(self) -> None:
        """Do all that was posted, and all that is due."""
        while not self._posted.empty():
            self._posted.get()()
        while (action := self._next_due()) is not None:
            action()

    def _next_due(self) -> Callable[[], None] | None:
        with self._lock:
            if not self._due or self._due[0][0] > now_ms():
                return None
            return heapq.heappop(self._due)[2]

    def wait_s(self, most_s: float) -> float:
        """How long there is nothing to do, at most ``most_s`` seconds."""
        if not self._posted.empty():
            return 0.0
        with self._lock:
            due = self._due[0][0] if self._due else None
        return most_s if due is None else min(most_s, max(0, due - now_ms()) / 1000)
