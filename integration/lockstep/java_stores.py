"""Kafka Connect's own stores in a Java process, which performs one sequence of steps after the other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from rebalance_check.integration.jvm import JavaChild, JavaService
from rebalance_check.integration.lockstep.build import command
from rebalance_check.integration.lockstep.sequence import Observation, Step, StepSequence
from rebalance_check.integration.virtual.release import Release
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

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


class OneStore(Protocol):
    """A store that performs one step after the other, each chosen by what came of those before."""

    def perform(self, step: Step) -> Observation:
        """Perform the step."""
        ...


class StoreSide(Protocol):
    """A side that opens stores one by one."""

    @property
    def name(self) -> str:
        """Whose stores these are, as reports call them."""
        ...

    def open(self, name: str) -> OneStore:
        """A new store; ``name`` is another for each store of this side."""
        ...


class JavaStores(JavaService):
    """The stores of one release of connect-runtime, as a context manager: the process is gone outside.

    Raises: RebalanceCheckError when there is no JDK, or no jars of a Connect worker can be had.
    """

    def __init__(self, release: Release, kind: StoreKind) -> None:
        self.release = release
        self.kind = kind
        self._opened: set[str] = set()
        super().__init__(JavaChild(f"the {kind} store of {self.name}", command(release), _BUFFER_BYTES))

    @property
    def name(self) -> str:
        """``connect-runtime 4.3.1``."""
        return f"connect-runtime {self.release.version}"

    def open(self, name: str) -> OneStore:
        """A store that the process keeps under this name.

        Raises: RebalanceCheckError when there is a store of this name, or the process ended.
        """
        if name in self._opened:
            raise RebalanceCheckError(f"there is a {self.kind} store {name!r} already: give each store its own name")
        self._opened.add(name)
        return _JavaStore(self, name)

    def perform(self, name: str, step: Step) -> Observation:
        """Let the store of this name perform a step.

        Raises: RebalanceCheckError when the process ended.
        """
        with self._child.sending(self._line(StepSequence((step,)), name)):
            [observation] = self._answer()
        return observation

    def perform_all(self, sequences: Sequence[StepSequence]) -> list[list[Observation]]:
        """The observations in order.

        Raises: RebalanceCheckError when the process ended.
        """
        lines = b"".join(self._line(sequence) for sequence in sequences)
        with self._child.sending(lines):
            return [self._answer() for _ in sequences]

    def _line(self, sequence: StepSequence, name: str | None = None) -> bytes:
        fields = {"store": self.kind, "options": sequence.options, "steps": sequence.steps, "name": name}
        return json.dumps(fields).encode() + b"\n"

    def _answer(self) -> list[Observation]:
        return [Observation(tuple(one["trace"]), one["state"]) for one in json.loads(self._child.read_line())]


@dataclass(frozen=True, slots=True)
class _JavaStore:
    """The store of one name in the process."""

    stores: JavaStores
    name: str

    def perform(self, step: Step) -> Observation:
        """Perform the step."""
        return self.stores.perform(self.name, step)
