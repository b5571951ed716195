"""A sequence of steps for a store, and a side's view of each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

Step: TypeAlias = Mapping[str, Any]
"""``op`` and its arguments, as JSON; a null value of a record is a tombstone."""


@dataclass(frozen=True, slots=True)
class StepSequence:
    """Steps for a new store. ``options`` are settings of the store and of its log, as JSON."""

    steps: tuple[Step, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """One step: ``trace`` are the events, in order, as texts; ``state`` everything that the store holds after it."""

    trace: tuple[str, ...]
    state: Mapping[str, Any]


def value_of(step: Step) -> bytes | None:
    """The bytes of the record in a step: ``value`` is a text, ``hex`` any bytes."""
    if "hex" in step:
        return bytes.fromhex(step["hex"])
    value = step.get("value")
    return None if value is None else str(value).encode()


class OneStore(Protocol):
    """A store that performs one step after the other, each chosen by the results of those before."""

    def perform(self, step: Step) -> Observation:
        """Perform the step."""
        ...


class Stores(Protocol):
    """One side's stores."""

    @property
    def name(self) -> str:
        """Whose stores these are, as reports call them."""
        ...

    def open(self, name: str) -> OneStore:
        """A new store; ``name`` is another for each store of this side."""
        ...

    def perform_all(self, sequences: Sequence[StepSequence]) -> list[list[Observation]]:
        """The observations of each sequence, one per step; every sequence has a store of its own."""
        ...


class OurStores:
    """Stores of `rebalance_check.impl`, which ``begin`` makes, each with the options of a sequence."""

    name = "our own"

    def __init__(self, begin: Callable[[Mapping[str, Any]], OneStore]) -> None:
        self._begin = begin

    def open(self, name: str) -> OneStore:  # noqa: ARG002 - stores share nothing
        """A new store."""
        return self._begin({})

    def perform_all(self, sequences: Sequence[StepSequence]) -> list[list[Observation]]:
        """The observations of each sequence, one per step."""
        return [self.perform(sequence) for sequence in sequences]

    def perform(self, sequence: StepSequence) -> list[Observation]:
        """The observations of one sequence."""
        store = self._begin(sequence.options)
        return [store.perform(step) for step in sequence.steps]
