"""A Java process that answers every line of JSON with one, in order (``Main.java`` is the other side)."""

from __future__ import annotations

import os
import select
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Final, Self

import msgspec

from rebalance_check.integration.interrupts import is_interrupted
from rebalance_check.integration.jvm.jdk import one_line
from rebalance_check.integration.parent import ended_with_parent
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

ANSWER_TIMEOUT_S: Final = 300.0
"""No answer takes as long as this: a process that is silent for so long hangs."""

_LOG_TAIL_BYTES: Final = 2000
_END_TIMEOUT_S: Final = 10.0
_READ_BYTES: Final = 1 << 18
_REFUSED: Final = b'{"refused":'

_encode: Final = msgspec.json.Encoder().encode


class JavaChild:
    """The process, as a context manager: it is gone outside. One thread at a time.

    ``name`` is its name in errors; its complaints are kept for when it ends. Messages are collected and go out in
    one write when an answer is waited for, so that many share a round trip. The process ends when its input is closed,
    and with this process.
    """

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self._name = name
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close(), with the process
        pipe = subprocess.PIPE
        # A session of its own: an interrupt from the terminal reaches only who started it, who then closes it.
        self._process = subprocess.Popen(
            ended_with_parent(command), stdin=pipe, stdout=pipe, stderr=self._log, bufsize=0, start_new_session=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._readable = select.poll()
        self._readable.register(self._out, select.POLLIN)
        self._outgoing = bytearray()
        self._incoming = b""
        self._posted = self._answered = 0
        self._receivers: deque[Callable[[int, bytes], object]] = deque()

    def send(self, message: object, receive: Callable[[int, bytes], object]) -> int:
        """Put a message into the next write; its number. ``receive`` gets that number and the line of the answer."""
        self._posted += 1
        self._outgoing += _encode(message)
        self._outgoing += b"\n"
        self._receivers.append(receive)
        return self._posted

    @property
    def next_number(self) -> int:
        """The number of the message that is posted next."""
        return self._posted + 1

    def answer_to(self, message: object) -> bytes:
        """The answer to one message, waited for. `RebalanceCheckError` when it was refused, or the process ended."""
        return self.answers_to([message])[0]

    def answers_to(self, messages: Sequence[object]) -> list[bytes]:
        """The answers to messages, in order. `RebalanceCheckError` when one was refused, or the process ended."""
        answers: list[bytes] = []
        for message in messages:
            self.send(message, lambda _, line: answers.append(line))
        self.wait(self._posted)
        for line in answers:
            if line.startswith(_REFUSED):
                raise RebalanceCheckError(f"{self._name} refused: {msgspec.json.decode(line)['refused']}")
        return answers

    def wait(self, number: int) -> None:
        """Return when the answer of this number, and all before, have come.

        Raises: `RebalanceCheckError` when the process has ended, or is silent.
        """
        while self._answered < number:
            self.flush()
            if not self._readable.poll(1_000 * ANSWER_TIMEOUT_S):
                raise self._silent()
            self._receive()

    def flush(self) -> None:
        """Send collected messages, and read meanwhile when the process stops reading, because its output waits for us.

        Raises: `RebalanceCheckError` when the process has ended, or is silent.
        """
        view = memoryview(bytes(self._outgoing))
        self._outgoing.clear()
        while view:
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                readable, writable, _ = select.select([self._out], [self._in], [], ANSWER_TIMEOUT_S)
                if not (readable or writable):
                    raise self._silent() from None
                if readable:
                    self._receive()
            except BrokenPipeError:
                raise self._ended() from None

    def _receive(self) -> None:
        data = os.read(self._out, _READ_BYTES)
        if not data:
            raise self._ended()
        *lines, self._incoming = (self._incoming + data).split(b"\n")
        for line in lines:
            self._answered += 1
            self._receivers.popleft()(self._answered, line)

    def _silent(self) -> RebalanceCheckError:
        return RebalanceCheckError(
            f"{self._name} has not answered for {ANSWER_TIMEOUT_S:g} s: this is a defect, report it"
        )

    def _ended(self) -> RebalanceCheckError:
        """Wait for its end, which came too early: the error that says why."""
        code = self._process.wait()
        self._log.seek(0, os.SEEK_END)
        self._log.seek(-min(self._log.tell(), _LOG_TAIL_BYTES), os.SEEK_END)
        said = one_line(self._log.read().decode(errors="replace")) or "it printed nothing"
        return RebalanceCheckError(f"{self._name} ended with exit code {code} while it was needed: {said}")

    def close(self) -> None:
        """End the process, and wait for its end; after an interruption it is killed, as it may take seconds to end."""
        if is_interrupted():
            self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):  # it may have ended before
                stream.close()
        try:
            self._process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
