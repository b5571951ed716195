"""A section of the page ``docs/events.md``."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.event_base import Event


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its heading, what its events have in common, and an example of each."""

    title: str
    about: str
    examples: tuple[Event, ...]
