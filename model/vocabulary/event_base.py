"""The fields of every event, and those that events of a coordinator add; `model.vocabulary.events` lists the events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UNKNOWN_INCARNATION: Final = -1
"""The incarnation in the events of a client, which cannot see which incarnation of the coordinator it talks to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What all events carry; `model.vocabulary.events` explains the fields."""

    group: str = ""
    source: str = ""
    seq: int = -1
    time_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorEvent(Event):
    """Observed at the coordinator. ``incarnation`` counts how often the group was created or loaded there."""

    incarnation: int
    generation: int
