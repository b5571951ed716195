"""Kafka Connect's own stores in a Java process, which performs one sequence of steps after the other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Protocol

from rebalance_check.integration.jvm import JavaChild, JavaService
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


class JavaStores(JavaService):
    """The stores of one release of connect-runtime, as a context manager: the process is gone outside.

    Raises: RebalanceCheckError when there is no JDK, or no jars of a Connect worker can be had.
    """

    def __init__(self, release: Release, kind: StoreKind) -> None:
        self.release = release
        self.kind = kind
        super().__init__(JavaChild(f"the {kind} store of {self.name}", command(release), _BUFFER_BYTES))

    @property
    def name(self) -> str:
        """``connect-runtime 4.3.1``."""
        return f"connect-runtime {self.release.version}"

    def perform_all(self, sequences: Sequence[StepSequence]) -> list[list[Observation]]:
        """The observations in order.

        Raises: RebalanceCheckError when the process ended.
        """
        lines = b"".join(self._line(sequence) for sequence in sequences)
        with self._child.sending(lines):
            return [self._answer() for _ in sequences]

    def _line(self, sequence: StepSequence) -> bytes:
        fields = {"store": self.kind, "options": sequence.options, "steps": sequence.steps}
        return json.dumps(fields).encode() + b"\n"

    def _answer(self) -> list[Observation]:
        return [Observation(tuple(one["trace"]), one["state"]) for one in json.loads(self._child.read_line())]
