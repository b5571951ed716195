"""What claims of need share: a cause, how a counterexample shows the lack of one, and the name of the family."""

from __future__ import annotations

from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.events import Event

FAMILY: Final = "need"

Reason = tuple[str, Event | None]
"""A sentence of a counterexample, and the event that it is about."""


class Cause(NamedTuple):
    """What asks for an effect: in words, and the event that shows it."""

    what: str
    event: Event
