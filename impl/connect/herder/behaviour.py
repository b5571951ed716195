"""The behaviour of a plug-in when its worker starts and stops it: simulated connectors and tasks are made of this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How one start of a connector or task goes.

    ``begin_ms`` passes until its thread runs, ``start_ms`` inside ``start``, ``stop_ms`` between the request to stop
    and its end (a task that blocks in ``poll`` has a long one). A task takes records from, or writes records to,
    ``topics``. ``fails_at_start`` and ``fails_at_stop`` raise from
    those calls; ``fails_after_ms`` is how long it runs until it raises by itself (None: never).
    """

    begin_ms: int = 0
    start_ms: int = 0
    stop_ms: int = 0
    fails_at_start: bool = False
    fails_at_stop: bool = False
    fails_after_ms: int | None = None
    topics: tuple[str, ...] = ()


WELL_BEHAVED: Final = Behaviour()
"""Starts and stops at once, and never fails."""
