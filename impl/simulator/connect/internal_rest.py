"""Requests between simulated workers: they take time, get lost, and have no answer from a worker that is down."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from rebalance_check.impl.connect.herder.herder import Herder
from rebalance_check.impl.connect.herder.peers import Answer, InternalRequest, OnAnswer, Signature
from rebalance_check.impl.simulator.connect.disturbances import Disturbances
from rebalance_check.impl.simulator.connect.process_threads import ProcessThreads

REQUEST_TIMEOUT_MS: Final = 10_000
"""How long a worker waits for an answer; Kafka's 90 s would only be waited out."""


@dataclass(frozen=True, slots=True)
class Listening:
    """A worker process that takes requests."""

    herder: Herder
    threads: ProcessThreads


@dataclass(slots=True)
class InternalRest:
    """The way between the workers of a cluster, by URL."""

    disturbances: Disturbances
    workers: dict[str, Listening] = field(default_factory=dict)

    def listen(self, herder: Herder, threads: ProcessThreads) -> None:
        """A process takes requests at its URL from here on."""
        self.workers[herder.url] = Listening(herder, threads)

    def request_from(
        self,
        sender: ProcessThreads,
        url: str,
        request: InternalRequest,
        signature: Signature | None,
        on_answer: OnAnswer,
    ) -> None:
        """Carry a request to the worker at ``url``, and its answer back; a request not answered in time has failed."""
        exchange = Exchange(sender, self.disturbances, on_answer)
        target = self.workers.get(url)
        if target is None or not target.threads.alive or self.disturbances.loses():
            exchange.answer(Answer.FAILED)
            return
        sender.after(REQUEST_TIMEOUT_MS, partial(exchange.arrive, Answer.FAILED))
        arrive = partial(target.herder.receive_internal, request, signature, exchange.answer)
        target.threads.after(self.disturbances.delay_ms(), arrive)


@dataclass(slots=True)
class Exchange:
    """A request under way; the first answer that arrives at the sender counts."""

    sender: ProcessThreads
    disturbances: Disturbances
    on_answer: OnAnswer
    over: bool = False

    def answer(self, answer: Answer) -> None:
        """The worker that was asked answers."""
        self.sender.after(1 + self.disturbances.delay_ms(), partial(self.arrive, answer))

    def arrive(self, answer: Answer) -> None:
        """An answer reaches the sender."""
        if not self.over:
            self.over = True
            self.on_answer(answer)


@dataclass(slots=True)
class PeersOf:
    """The peers of one process: one thread sends its requests, each when the one before was answered.

    Source: ``DistributedHerder.forwardRequestExecutor``.
    """

    rest: InternalRest
    threads: ProcessThreads
    waiting: deque[Callable[[], None]] = field(default_factory=deque)
    busy: bool = False

    def request(self, url: str, request: InternalRequest, signature: Signature | None, on_answer: OnAnswer) -> None:
        """Send a request; see `rebalance_check.impl.connect.herder.peers.Peers`."""

        def answered(answer: Answer) -> None:
            on_answer(answer)
            self._go_on()

        self.waiting.append(partial(self.rest.request_from, self.threads, url, request, signature, answered))
        if not self.busy:
            self._go_on()

    def _go_on(self) -> None:
        """The thread takes the next request."""
        self.busy = bool(self.waiting)
        if self.waiting:
            self.waiting.popleft()()
