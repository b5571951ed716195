"""Random frames over sockets, at the embedded broker in its thread and in real time, while a client is served."""

from __future__ import annotations

import asyncio
import logging
import selectors
import socket
import struct
import threading
import time
from collections import deque
from typing import Any, Final

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.frame_fuzz.client import WellBehavedClient
from rebalance_check.integration.frame_fuzz.frames import FrameGenerator
from rebalance_check.integration.frame_fuzz.in_process import TOPICS
from rebalance_check.integration.frame_fuzz.responses import check
from rebalance_check.integration.frame_fuzz.result import Fate, Finding, FrameRun
from rebalance_check.integration.frame_fuzz.turns import TurnWatch
from rebalance_check.integration.wire.call import Connection, split_address
from rebalance_check.integration.wire.kafka_python import ApiMessage

CONNECTIONS: Final = 4
MAX_IN_FLIGHT: Final = 2
"""With so many requests unanswered a connection is given up, and another one opened."""

STUCK_AFTER: Final = 64
"""After so many looks in vain at a full connection: its first request is parked."""

BEAT_PAUSE_S: Final = 0.01
ANSWER_TIMEOUT_S: Final = 10.0
"""The well-behaved client waits no longer."""

_LENGTH: Final = struct.Struct(">i")
_LOGGERS: Final = ("rebalance_check.integration.exchange.connection", "asyncio")


def fuzz_over_sockets(seed: int, frames: int) -> FrameRun:
    """Send a new broker ``frames`` frames of ``seed`` on several connections."""
    began, result = time.monotonic(), FrameRun()
    with _LoggedErrors() as logged, EmbeddedBroker(TOPICS, seed=seed) as broker:
        watch = TurnWatch()
        watching = broker.spawn(watch.run())
        client = _ClientThread(seed, broker.bootstrap)
        client.start()
        try:
            _Sender(seed, broker.bootstrap, result).send(frames)
        finally:
            client.stop()
            watching.cancel()
        result.latencies_ms, result.longest_turn_ms = client.latencies_ms, watch.longest_ms
        result.findings += [
            *client.findings,
            *(Finding(seed, -1, f"the broker logged {line!r}") for line in logged.lines),
        ]
    result.seconds = time.monotonic() - began
    return result


class _Sender:
    """The random frames: each goes to the next connection that has space."""

    def __init__(self, seed: int, bootstrap: str, result: FrameRun) -> None:
        self._seed, self._bootstrap, self._result = seed, bootstrap, result
        self._frames = FrameGenerator(seed)
        self._selector = selectors.DefaultSelector()
        self._lines = [_Line(self._selector, bootstrap) for _ in range(CONNECTIONS)]

    def send(self, frames: int) -> None:
        for number in range(frames):
            self._line(number).post(number, self._frames.frame())
            self._receive(0)
        deadline = time.monotonic() + 1
        while any(line.in_flight for line in self._lines) and time.monotonic() < deadline:
            self._receive(0.05)
        for line in self._lines:
            self._result.fates[Fate.WAITING] += line.close()
        self._selector.close()

    def _line(self, number: int) -> _Line:
        at = number % CONNECTIONS
        for _ in range(STUCK_AFTER):
            if len(self._lines[at].in_flight) < MAX_IN_FLIGHT:
                return self._lines[at]
            self._receive(0.001)
        return self._replaced(self._lines[at], Fate.WAITING)

    def _replaced(self, line: _Line, fate: Fate) -> _Line:
        """Another connection in the place of one that is closed; of those in flight the first one has this fate."""
        lost = line.close()
        self._result.fates[fate] += min(lost, 1)
        self._result.fates[Fate.WAITING] += max(lost - 1, 0)
        self._lines[self._lines.index(line)] = another = _Line(self._selector, self._bootstrap)
        return another

    def _receive(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            line: _Line = key.data
            answered = line.receive()
            if answered is None:
                self._replaced(line, Fate.CLOSED)
                continue
            for number, frame, answer in answered:
                self._result.fates[Fate.ANSWERED] += 1
                if wrong := check(self._frames.values, frame, answer):
                    self._result.findings.append(Finding(self._seed, number, wrong, frame))


class _Line:
    """One connection, and its requests in flight."""

    def __init__(self, selector: selectors.BaseSelector, bootstrap: str) -> None:
        self._socket = socket.create_connection(split_address(bootstrap), timeout=ANSWER_TIMEOUT_S)
        self._selector = selector
        self._received = b""
        self.in_flight: deque[tuple[int, bytes]] = deque()
        selector.register(self._socket, selectors.EVENT_READ, self)

    def post(self, number: int, frame: bytes) -> None:
        self.in_flight.append((number, frame))
        try:
            self._socket.sendall(_LENGTH.pack(len(frame)) + frame)
        except ConnectionError:
            return  # the next look at the socket finds it closed

    def receive(self) -> list[tuple[int, bytes, bytes]] | None:
        """The answers that are there, each with its frame and number; None at the end of the connection."""
        try:
            data = self._socket.recv(1 << 16)
        except ConnectionError:
            return None
        if not data:
            return None
        self._received += data
        found = []
        while len(self._received) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._received)
            end = _LENGTH.size + length
            if len(self._received) < end:
                break
            answer, self._received = self._received[_LENGTH.size : end], self._received[end:]
            found.append((*self._answered(answer), answer))
        return found

    def _answered(self, answer: bytes) -> tuple[int, bytes]:
        """The request of an answer: one that has none (a Produce without acks) is skipped."""
        while self.in_flight[0][1][4:8] != answer[:4]:
            self.in_flight.popleft()
        return self.in_flight.popleft()

    def close(self) -> int:
        """Close; how many requests were in flight."""
        self._selector.unregister(self._socket)
        self._socket.close()
        lost = len(self.in_flight)
        self.in_flight.clear()
        return lost


class _ClientThread(threading.Thread):
    """The well-behaved client in a thread of its own, until `stop`."""

    def __init__(self, seed: int, bootstrap: str) -> None:
        super().__init__(name="well-behaved", daemon=True)
        self._seed, self._address = seed, bootstrap
        self._ends = threading.Event()
        self.latencies_ms: list[float] = []
        self.findings: list[Finding] = []

    def run(self) -> None:
        with Connection(self._address, timeout_s=ANSWER_TIMEOUT_S) as connection:

            async def call(request: ApiMessage, version: int) -> Any:
                return connection.call(request, version)

            asyncio.run(self._behave(WellBehavedClient(call)))

    async def _behave(self, client: WellBehavedClient) -> None:
        try:
            self._note(await client.join())
            while not self._ends.wait(BEAT_PAUSE_S):
                began = time.monotonic()
                self._note(await client.heartbeat())
                self.latencies_ms.append((time.monotonic() - began) * 1000)
            for wrong in await client.look_around():
                self._note(wrong)
        except Exception as error:
            self._note(f"the well-behaved client met {error!r}")

    def _note(self, wrong: str) -> None:
        if wrong:
            self.findings.append(Finding(self._seed, -1, wrong))

    def stop(self) -> None:
        """Let it look around, and wait for its end."""
        self._ends.set()
        self.join(6 * ANSWER_TIMEOUT_S)


class _LoggedErrors(logging.Handler):
    """The errors in the broker's log: exceptions that it did not expect. A context manager."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.lines.append(f"{record.getMessage()} ({error!r})")

    def __enter__(self) -> _LoggedErrors:
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self)
