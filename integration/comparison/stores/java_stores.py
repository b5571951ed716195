"""Kafka Connect's own stores in a Java process, which performs one sequence of steps after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from rebalance_check.integration.comparison.stores.sequence import Observation, OneStore, Step, StepSequence
from rebalance_check.integration.jvm.child import JavaChild
from rebalance_check.integration.jvm.release import Release
from rebalance_check.integration.jvm.services import CONFIG_STORES, STATUS_STORES, service_command
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

_decode: Final = msgspec.json.Decoder(list[Observation]).decode


class StoreKind(StrEnum):
    """The two stores that perform sequences."""

    CONFIG = "config"
    STATUS = "status"


class JavaStores(JavaChild):
    """The stores of one release of connect-runtime, as a context manager: the process is gone outside.

    Raises: RebalanceCheckError when there is no JDK, or no jars of a Connect worker can be had.
    """

    def __init__(self, release: Release, kind: StoreKind) -> None:
        self.release = release
        self.kind = kind
        self._opened: set[str] = set()
        service = STATUS_STORES if kind is StoreKind.STATUS else CONFIG_STORES
        super().__init__(f"the {kind} store of {self.name}", service_command(service, release))

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
        self.answer_to({"run": name, "open": {}, "steps": ()})
        return _JavaStore(self, name)

    def perform(self, name: str, step: Step) -> Observation:
        """Let the store of this name perform a step.

        Raises: RebalanceCheckError when the process ended.
        """
        [observation] = _decode(self.answer_to({"run": name, "steps": (step,)}))
        return observation

    def perform_all(self, sequences: Sequence[StepSequence]) -> list[list[Observation]]:
        """The observations in order.

        Raises: RebalanceCheckError when the process ended.
        """
        asked = [{"open": sequence.options, "steps": sequence.steps} for sequence in sequences]
        return [_decode(line) for line in self.answers_to(asked)]


@dataclass(frozen=True, slots=True)
class _JavaStore:
    """The store of one name in the process."""

    stores: JavaStores
    name: str

    def perform(self, step: Step) -> Observation:
        """Perform the step."""
        return self.stores.perform(self.name, step)
