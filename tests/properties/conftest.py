"""A history under construction, for the tests of the invariants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome


@pytest.fixture
def history() -> Callable[..., list[Event]]:
    """Stamps bare events with group, source and sequence number, and ends the run in an orderly way."""

    def stamp(*events: Event, ended: bool = True, group: str = "g", pending: tuple[str, ...] = ()) -> list[Event]:
        seen: Counter[tuple[str, str]] = Counter()
        stamped = []
        for event in (*events, *([RunEnded(pending=pending)] if ended else [])):
            source = event.source or getattr(event, "member", "") or getattr(event, "worker", "")
            source = source or ("coordinator" if hasattr(event, "incarnation") else "harness")
            key = (event.group or group, source)
            stamped.append(replace(event, group=key[0], source=source, seq=seen[key]))
            seen[key] += 1
        return stamped

    return stamp


@pytest.fixture
def outcome(history: Callable[..., list[Event]]) -> Callable[[str, tuple[Event, ...]], Outcome]:
    """The verdict on one invariant, by its name, about bare events; a run that they do not end is ended."""

    def judged(claim: str, events: tuple[Event, ...]) -> Outcome:
        ended = not isinstance(events[-1], RunEnded)
        return judge(history(*events, ended=ended), select([claim])).verdict(claim).outcome

    return judged
