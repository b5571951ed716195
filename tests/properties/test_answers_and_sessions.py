"""What a coordinator owes that resigns or has written; when sessions began; what a consumer leaves with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupDeleted,
    GroupMetadataAppended,
    IncarnationStarted,
    NodeChanged,
    RunStarted,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
LOADS: Final = "load_restores_the_log"


def appended(at_ms: int) -> GroupMetadataAppended:
    return GroupMetadataAppended(incarnation=0, generation=1, members=("a",), offset=0, time_ms=at_ms)


RUN: Final = RunStarted(subject="simulator", punctual=True)
LOADED: Final = IncarnationStarted(incarnation=0, generation=1, status="Stable", members=("a",), time_ms=1_000)
EMPTY: Final = IncarnationStarted(incarnation=1, generation=0, status="Empty")

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "a node that was paused begins anew": (
        LOADS, (RUN, LOADED, appended(1_001), NodeChanged(node=0, change="paused"), EMPTY)
    ),
    "a deleted group begins anew": (
        LOADS, (RUN, LOADED, appended(1_001), GroupDeleted(incarnation=0, generation=1, status="Empty"), EMPTY)
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it begins without its record": (LOADS, (RUN, LOADED, appended(1_001), EMPTY)),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_what_is_owed_is_given(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.HELD


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_what_is_owed_and_not_given_is_seen(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select([claim])).verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_in_real_time_nothing_is_claimed(history: History, claim: str, events: tuple[Event, ...]) -> None:
    live = (RunStarted(subject="live"), *events[1:])
    assert judge(history(*live), select([claim])).verdict(claim).outcome in {Outcome.UNTESTED, Outcome.HELD}
