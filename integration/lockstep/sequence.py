"""A sequence of steps for a store, and what a side shows of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Step: TypeAlias = Mapping[str, Any]
"""``op`` and what it needs, as JSON; a null value of a record is a tombstone."""


@dataclass(frozen=True, slots=True)
class StepSequence:
    """Steps for a new store. ``options`` are settings of the store and of its log, as JSON."""

    steps: tuple[Step, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """One step: ``trace`` is what happened, in order, as texts; ``state`` everything that the store holds after it."""

    trace: tuple[str, ...]
    state: Mapping[str, Any]


def value_of(step: Step) -> bytes | None:
    """The bytes of the record in a step: ``value`` is a text, ``hex`` any bytes."""
    if "hex" in step:
        return bytes.fromhex(step["hex"])
    value = step.get("value")
    return None if value is None else str(value).encode()
