"""The fields of every event, and those that events of a coordinator add; `model.vocabulary.events` lists the events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UNKNOWN_INCARNATION: Final = -1
"""The incarnation in the events of a client, which cannot see which incarnation of the coordinator it talks to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The fields of all events; `model.vocabulary.events` explains them."""

    group: str = ""
    """The group id."""
    source: str = ""
    """The observer: a process, ``coordinator``, ``network`` or ``harness``."""
    seq: int = -1
    """The number of the event among those of its source, from 0; -1 until it is stamped."""
    time_ms: int = 0
    """Milliseconds on the observer's clock; clocks of two sources are not comparable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorEvent(Event):
    """Observed at the coordinator. ``incarnation`` counts how often the group was created or loaded there."""

    incarnation: int
    """With the group id it identifies the group: numbers of generations may begin anew in the next incarnation."""
    generation: int
    """The group's generation, that of the event itself where it begins one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberEvent(Event):
    """Observed at a member process."""

    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationEvent(MemberEvent):
    """Observed at a member that was in ``generation`` under ``member_id`` ("" where the subject cannot see it)."""

    generation: int
    member_id: str = ""
    incarnation: int = UNKNOWN_INCARNATION
