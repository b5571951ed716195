"""The Java process of virtual Kafka, and the frames that go to it and come from it.

A frame to it is: int32 length of the rest, kind, int16 environment, int8 node, int32 number, body; a frame from it:
int32 length of the rest, kind, int32 number of the frame that it answers (of the environment, for what was thrown),
body. Frames are collected and go out in one write when an answer is waited for, so that many requests, also of many
environments, share a round trip.
"""

from __future__ import annotations

import os
import select
import struct
from collections.abc import Mapping
from typing import Final

from rebalance_check.integration.jvm import JavaChild, JavaService
from rebalance_check.integration.virtual.build import command
from rebalance_check.integration.virtual.release import Release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

REQUEST: Final = ord("R")
REQUEST_WITHOUT_END: Final = ord("Q")
INSPECT: Final = ord("I")
CONTROL: Final = ord("C")

REPLY: Final = ord("r")
CLOSED: Final = ord("x")
REFUSED: Final = ord("!")
THROWN: Final = ord("t")

ANSWER_TIMEOUT_S: Final = 60.0
"""Nothing in virtual time takes long: a process that is silent for this long hangs."""

_TO: Final = struct.Struct(">iBhbi")
_FROM: Final = struct.Struct(">iBi")
_LENGTH_BYTES: Final = 4
_READ_BYTES: Final = 1 << 18


class VirtualEnvironment:
    """One of the environments in a process: a virtual time, a journal, its nodes. `reset` begins a run."""

    def __init__(self, kafka: VirtualKafka, number: int) -> None:
        self.kafka = kafka
        self.number = number
        self.requests = 0
        self._reset: int | None = None
        self.replies: list[tuple[int, bytes | None]] = []
        """The replies that have come, each with the number of its frame; None where the broker hangs up."""
        self.thrown: list[str] = []
        """Exceptions of the coordinator that no reply reported: a broker writes them to its log, and goes on."""

    def reset(self, seed: int, topics: Mapping[str, int], settings: Mapping[str, str] | None = None) -> None:
        """A new environment: an empty journal, time at its start, node 0 elected in epoch 0, member ids after ``seed``.

        ``topics`` has the number of partitions of each, ``settings`` a broker's, by Kafka's names.
        """
        words = [f"seed={seed}", *(f"topic:{name}={count}" for name, count in sorted(topics.items()))]
        settings = {**(settings or {}), **({"coordinator": "scala"} if self.kafka.release.scala else {})}
        words += [f"{name}={value}" for name, value in sorted(settings.items())]
        self.replies.clear()
        self.thrown.clear()
        self._reset = self.post_control(f"reset {' '.join(words)}")

    def post(self, request: bytes, node: int = 0, *, awaited: bool = False) -> int:
        """Send a request, from its header on; the number of its frame, which its reply will carry.

        ``awaited``: an `answer` without content comes under that number, too, when the request has been handled.
        """
        self.requests += 1
        return self.kafka.send(REQUEST if awaited else REQUEST_WITHOUT_END, self, node, request)

    def post_control(self, text: str, node: int = 0) -> int:
        """Send a command; its `answer` comes under the number returned."""
        return self.kafka.send(CONTROL, self, node, text.encode())

    def order(self, text: str, node: int = 0) -> None:
        """Send a command whose answer says nothing; when it is refused, whatever waits next for an answer raises."""
        self.kafka.trust(self.post_control(text, node))

    def post_inspection(self, group: str, node: int = 0) -> int:
        """Ask what a group looks like; its `answer` comes under the number returned."""
        return self.kafka.send(INSPECT, self, node, group.encode())

    def control(self, text: str, node: int = 0) -> str:
        """Do what a command says (see ``Controls.java``); what it tells. `RebalanceCheckError` when it was refused."""
        return self.answer(self.post_control(text, node)).decode()

    def answer(self, number: int) -> bytes:
        """The answer to a frame that has one, waited for. `RebalanceCheckError` when it was refused."""
        if self._reset is not None:
            began, self._reset = self._reset, None
            self.answer(began)
        kind, body = self.kafka.await_answer(number)
        if kind == REFUSED:
            raise RebalanceCheckError(f"virtual Kafka refused: {body.decode()}")
        return body

    def take_replies(self) -> list[tuple[int, bytes | None]]:
        """The replies since the last call."""
        taken, self.replies = self.replies, []
        return taken


class VirtualKafka(JavaService):
    """A running process, as a context manager: it is gone outside. One thread at a time.

    ``trace``, when it is a list, collects all bytes that come back.
    """

    def __init__(self, release: Release) -> None:
        super().__init__(JavaChild("virtual Kafka", command(release)))
        self.release = release
        self.trace: list[bytes] | None = None
        self._environments: list[VirtualEnvironment] = []
        self._idle: list[VirtualEnvironment] = []
        self._number = 0
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self._waiting: dict[int, VirtualEnvironment] = {}
        self._answers: dict[int, tuple[int, bytes]] = {}
        self._ignored: set[int] = set()
        self._trusted: set[int] = set()
        self._in, self._out = self._child.input.fileno(), self._child.output.fileno()
        os.set_blocking(self._in, False)
        self._readable = select.poll()
        self._readable.register(self._out, select.POLLIN)

    def environment(self) -> VirtualEnvironment:
        """An environment that no run uses; it must be reset before anything else."""
        if self._idle:
            return self._idle.pop()
        self._environments.append(VirtualEnvironment(self, len(self._environments)))
        return self._environments[-1]

    def give_back(self, environment: VirtualEnvironment) -> None:
        """A environment is not needed any more; the next run may have it."""
        self._idle.append(environment)

    @property
    def requests(self) -> int:
        """How many requests were sent, in all environments."""
        return sum(environment.requests for environment in self._environments)

    # ------------------------------------------------------------------------------------------ frames

    def send(self, kind: int, environment: VirtualEnvironment, node: int, body: bytes) -> int:
        """Put a frame into the next write; its number."""
        self._number += 1
        if kind in (REQUEST, REQUEST_WITHOUT_END):
            self._waiting[self._number] = environment
        self._outgoing += _TO.pack(_TO.size - _LENGTH_BYTES + len(body), kind, environment.number, node, self._number)
        self._outgoing += body
        return self._number

    def flush(self) -> None:
        """Send what was collected, so that the process works on it while something else is done here."""
        self._write()

    def await_answer(self, number: int) -> tuple[int, bytes]:
        """The kind and the body of what ends a frame; replies that come before go to their environments."""
        while number not in self._answers:
            self._write()
            self._read()
        return self._answers.pop(number)

    def ignore(self, number: int) -> None:
        """Nobody will ask for the answer to this frame."""
        if self._answers.pop(number, None) is None:
            self._ignored.add(number)

    def trust(self, number: int) -> None:
        """Nobody will ask for the answer to this frame; a refusal is raised where it is read."""
        self._trusted.add(number)

    def _write(self) -> None:
        """Write all, and read meanwhile when the process stops reading because its own output waits for us."""
        if not self._outgoing:
            return
        view = memoryview(bytes(self._outgoing))
        self._outgoing.clear()
        while view:
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                readable, _, _ = select.select([self._out], [self._in], [], ANSWER_TIMEOUT_S)
                if readable:
                    self._receive()
            except BrokenPipeError:
                raise self._child.ended() from None

    def _read(self) -> None:
        if not self._readable.poll(1_000 * ANSWER_TIMEOUT_S):
            raise RebalanceCheckError(f"virtual Kafka has not answered for {ANSWER_TIMEOUT_S:g} s: this is a defect")
        self._receive()

    def _receive(self) -> None:
        data = os.read(self._out, _READ_BYTES)
        if not data:
            raise self._child.ended()
        if self.trace is not None:
            self.trace.append(data)
        self._incoming += data
        self._split()

    def _split(self) -> None:
        """Hand the complete frames out."""
        buffer, at, size = self._incoming, 0, len(self._incoming)
        while size - at >= _FROM.size:
            length, kind, number = _FROM.unpack_from(buffer, at)
            end = at + _LENGTH_BYTES + length
            if end > size:
                break
            self._handle(kind, number, bytes(buffer[at + _FROM.size : end]))
            at = end
        del buffer[:at]

    def _handle(self, kind: int, number: int, body: bytes) -> None:
        if kind == REPLY:
            self._waiting.pop(number).replies.append((number, body))
        elif kind == CLOSED:
            self._waiting.pop(number).replies.append((number, None))
        elif kind == THROWN:
            self._environments[number].thrown.append(body.decode())
        elif number in self._ignored:
            self._ignored.remove(number)
        elif number in self._trusted:
            self._trusted.remove(number)
            if kind == REFUSED:
                raise RebalanceCheckError(f"virtual Kafka refused: {body.decode()}")
        else:
            self._answers[number] = (kind, body)
