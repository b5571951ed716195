"""Requests for the herder's own thread, which wait until their time has come (``DistributedHerderRequest``)."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TypeAlias

from rebalance_check.impl.connect.herder.updating import Updating
from rebalance_check.impl.connect.herder.waits import Steps

Serve: TypeAlias = Callable[[], Steps[None]]


class Requests(Updating):
    """The queue of requests, by the time at which each may be served, then by the order of asking."""

    def __init__(self) -> None:
        super().__init__()
        self._queue: list[tuple[int, int, Serve, Callable[[], None]]] = []
        self._requests = 0

    def add_request(self, delay_ms: int, serve: Serve, refuse: Callable[[], None] = lambda: None) -> None:
        """Serve this in ``delay_ms`` at the earliest, and end the member's poll if nothing is due before.

        ``refuse`` is called instead when the herder stops before.
        """
        heappush(self._queue, (self.now_ms + delay_ms, self._requests, serve, refuse))
        self._requests += 1
        self.wake()

    def _serve_requests(self) -> Steps[None]:
        """Serve all whose time has come."""
        while self._queue and self._queue[0][0] <= self.now_ms:
            _, _, serve, _ = heappop(self._queue)
            yield from serve()

    def _refuse_requests(self) -> None:
        """The herder stops: every request is refused."""
        queue, self._queue = self._queue, []
        for _, _, _, refuse in sorted(queue, key=lambda entry: entry[:2]):
            refuse()

    def _next_request_ms(self) -> int | None:
        return self._queue[0][0] if self._queue else None
