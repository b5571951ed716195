"""What every event carries, and what those of a coordinator add; `model.vocabulary.events` is the vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UNKNOWN_INCARNATION: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What all events carry; see the module for the meaning of each field."""

    group: str = ""
    source: str = ""
    seq: int = -1
    time_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorEvent(Event):
    """Seen at the coordinator. ``incarnation`` counts the lives of the group there: creation or load starts one."""

    incarnation: int
    generation: int
