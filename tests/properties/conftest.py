"""A history under construction, for the tests of the invariants."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from tests.properties.histories import stamped


@pytest.fixture
def history() -> Callable[..., list[Event]]:
    """Stamps bare events with group, source and sequence number, and ends the run in an orderly way."""
    return stamped


@pytest.fixture
def outcome(history: Callable[..., list[Event]]) -> Callable[[str, tuple[Event, ...]], Outcome]:
    """The verdict on one invariant, by its name, about bare events; a run that they do not end is ended."""

    def judged(claim: str, events: tuple[Event, ...]) -> Outcome:
        ended = not isinstance(events[-1], RunEnded)
        return judge(history(*events, ended=ended), select([claim])).verdict(claim).outcome

    return judged
