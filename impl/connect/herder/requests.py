"""Requests for the herder's own thread, which wait until their time has come (``DistributedHerderRequest``)."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from rebalance_check.impl.connect.herder.updating import Updating
from rebalance_check.impl.connect.herder.waits import Steps
from rebalance_check.model.vocabulary.events import HerderRequestEnded, HerderRequestQueued, HerderRequestStarted

Serve: TypeAlias = Callable[[], Steps[None]]


class QueuedRequest(NamedTuple):
    """A request that waits: of several the earliest is served first, then the one that was asked for first."""

    due_ms: int
    number: int
    serve: Serve
    refuse: Callable[[], None]


class Requests(Updating):
    """The queue of requests, by the time at which each may be served, then by the order of asking."""

    def __init__(self) -> None:
        super().__init__()
        self._queue: list[QueuedRequest] = []
        self._requests = 0

    def add_request(
        self,
        delay_ms: int,
        serve: Serve,
        refuse: Callable[[], None] = lambda: None,
        *,
        operation: str = "",
        work: str = "",
    ) -> None:
        """Serve this in ``delay_ms`` at the earliest, and end the member's poll if nothing is due before.

        ``refuse`` is called instead when the herder stops before. The others name the request in events.
        """
        number, self._requests = self._requests, self._requests + 1
        heappush(self._queue, QueuedRequest(self.now_ms + delay_ms, number, serve, refuse))
        self.recorder.emit(
            HerderRequestQueued(member=self.member, number=number, operation=operation, work=work, delay_ms=delay_ms)
        )
        self.wake()

    def _serve_requests(self) -> Steps[None]:
        """Serve all whose time has come."""
        while self._queue and self._queue[0].due_ms <= self.now_ms:
            request = heappop(self._queue)
            self.recorder.emit(HerderRequestStarted(member=self.member, number=request.number))
            yield from request.serve()
            self.recorder.emit(HerderRequestEnded(member=self.member, number=request.number))

    def _refuse_requests(self) -> None:
        """The herder stops: every request is refused."""
        queue, self._queue = self._queue, []
        for request in sorted(queue, key=lambda queued: queued[:2]):
            self.recorder.emit(HerderRequestEnded(member=self.member, number=request.number, refused=True))
            request.refuse()

    def _next_request_ms(self) -> int | None:
        return self._queue[0].due_ms if self._queue else None
