"""Kafka Connect's own stores in a Java process, which performs one sequence of steps after the other."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from types import TracebackType
from typing import Final, Protocol, Self

from rebalance_check.integration.jvm import JavaChild
from rebalance_check.integration.lockstep.build import command
from rebalance_check.integration.lockstep.sequence import Observation, StepSequence
from rebalance_check.integration.virtual.release import Release

_BUFFER_BYTES: Final = 1 << 16


class StoreKind(StrEnum):
    """Which of the two stores performs a sequence."""

    CONFIG = "config"
    STATUS = "status"


class Stores(Protocol):
    """A side of a lockstep run."""

    @property
    def name(self) -> str:
        """Whose stores these are, as reports call them."""
        ...

    def perform_all(self, sequences: Sequence[StepSequence]) -> list[list[Observation]]:
        """The observations of each sequence, one per step; every sequence has a store of its own."""
        ...


class JavaStores:
    """The stores of one release of connect-runtime, as a context manager: the process is gone outside.

    Raises: RebalanceCheckError when there is no JDK, or no jars of a Connect worker can be had.
    """

    def __init__(self, release: Release, kind: StoreKind) -> None:
        self.release = release
        self.kind = kind
        self._child = JavaChild(f"the {kind} store of {self.name}", command(release), _BUFFER_BYTES)

    @property
    def name(self) -> str:
        """``connect-runtime 4.3.1``."""
        return f"connect-runtime {self.release.version}"

    def perform_all(self, sequences: Sequence[StepSequence]) -> list[list[Observation]]:
        """The observations in order; a thread writes, so that neither side waits for the other with a full pipe.

        Raises: RebalanceCheckError when the process ended.
        """
        lines = b"".join(self._line(sequence) for sequence in sequences)
        writer = threading.Thread(target=self._write, args=(lines,), daemon=True)
        writer.start()
        try:
            return [self._answer() for _ in sequences]
        finally:
            writer.join()

    def _line(self, sequence: StepSequence) -> bytes:
        fields = {"store": self.kind, "options": sequence.options, "steps": sequence.steps}
        return json.dumps(fields).encode() + b"\n"

    def _write(self, data: bytes) -> None:
        with suppress(BrokenPipeError):  # the thread that reads sees the end, and says why
            self._child.input.write(data)
            self._child.input.flush()

    def _answer(self) -> list[Observation]:
        line = self._child.output.readline()
        if not line:
            raise self._child.ended()
        return [Observation(tuple(one["trace"]), one["state"]) for one in json.loads(line)]

    def close(self) -> None:
        """End the process, and wait for its end."""
        self._child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
