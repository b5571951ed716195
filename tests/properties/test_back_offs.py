"""How long a leader waits before it takes work away for the balance once more: 40 ms, 1,600 ms, 64,000 ms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentComputed,
    Event,
    MemberStarted,
    RunStarted,
    WorkerConfigured,
)
from rebalance_check.properties.verdict import Outcome

Judged = Callable[[str, tuple[Event, ...]], Outcome]
CLAIM: Final = "successive_revocations_wait"

RUN: Final = RunStarted(subject="simulator", punctual=True)
STARTED: Final = MemberStarted(member="w0")
WORKER: Final = WorkerConfigured(member="w0", mode="sessioned", scheduled_rebalance_max_delay_ms=20_000)
LEADS: Final = (RUN, STARTED, WORKER)
NO_DELAY: Final = (RUN, STARTED, replace(WORKER, scheduled_rebalance_max_delay_ms=0))


def computes(
    *revoked: str, delay_ms: int = 0, members: str = "ab", claims: int = 1, configured: tuple[str, ...] = ("c", "d")
) -> ConnectAssignmentComputed:
    """A round in which a worker gives up what is named, which so many workers claim."""
    return ConnectAssignmentComputed(
        member="w0",
        generation=1,
        protocol="sessioned",
        leader="a",
        leader_url="u",
        config_offset=1,
        delay_ms=delay_ms,
        configured=configured,
        claims=tuple((member, revoked if place < claims else ()) for place, member in enumerate(members)),
        assigned=tuple((member, ()) for member in members),
        revoked=tuple((member, revoked if place < claims else ()) for place, member in enumerate(members)),
    )


TAKES, BALANCED = computes("c"), computes()
FIRST, SECOND, THIRD = (computes(delay_ms=delay_ms) for delay_ms in (40, 1_600, 20_000))
LOST: Final = computes(delay_ms=20_000, members="a")

HELD: Final[dict[str, tuple[Event, ...]]] = {
    "the first": (*LEADS, TAKES, FIRST),
    "longer each time": (*LEADS, TAKES, FIRST, TAKES, SECOND, TAKES, THIRD, TAKES, THIRD),
    "one less for lack of precision": (*LEADS, TAKES, FIRST, TAKES, SECOND, TAKES, computes(delay_ms=19_999)),
    "balanced, and anew": (*LEADS, TAKES, FIRST, TAKES, BALANCED, TAKES, FIRST),
    "balanced after a wait ends nothing": (*LEADS, TAKES, FIRST, BALANCED, TAKES, SECOND),
    "the rest of a wait": (*LEADS, TAKES, FIRST, computes(delay_ms=7), TAKES, SECOND),
    "another process": (*LEADS, TAKES, FIRST, STARTED, WORKER, TAKES, FIRST),
    "an eager round is none": (*LEADS, TAKES, replace(BALANCED, protocol="default"), FIRST),
    "a round that failed is none": (*LEADS, TAKES, replace(BALANCED, error="CONFIG_MISMATCH"), FIRST),
    "what two workers claim is not taken for the balance": (*LEADS, computes("c", claims=2), TAKES, FIRST),
}

VIOLATED: Final[dict[str, tuple[Event, ...]]] = {
    "the first is too long": (*LEADS, TAKES, THIRD),
    "the first is too short": (*LEADS, TAKES, computes(delay_ms=39)),
    "the second is as long as the first": (*LEADS, TAKES, FIRST, TAKES, FIRST),
    "longer than the longest": (*LEADS, TAKES, FIRST, TAKES, SECOND, TAKES, computes(delay_ms=64_000)),
    "balanced, and not anew": (*LEADS, TAKES, FIRST, TAKES, BALANCED, TAKES, SECOND),
    "no wait": (*LEADS, TAKES, TAKES),
    "no wait the second time": (*LEADS, TAKES, FIRST, TAKES, TAKES),
}

SILENT: Final[dict[str, tuple[Event, ...]]] = {
    "it takes work away once": (*LEADS, TAKES, BALANCED),
    "a worker left": (*LEADS, TAKES, LOST),
    "lost work waits": (*LEADS, BALANCED, LOST, replace(LOST, delay_ms=7)),
    "the longest delay is none": (*NO_DELAY, TAKES, TAKES),
    "it may have been deleted": (*LEADS, computes("e"), computes(delay_ms=20_000)),
    "not the simulator's": (replace(RUN, subject="virtual"), STARTED, WORKER, TAKES, THIRD),
    "its settings are not known": (RUN, STARTED, TAKES, THIRD),
    "its start is not known": (RUN, WORKER, TAKES, THIRD),
}


@pytest.mark.parametrize("events", HELD.values(), ids=HELD)
def test_waiting_for_longer_each_time_is_right(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.HELD


@pytest.mark.parametrize("events", VIOLATED.values(), ids=VIOLATED)
def test_waiting_for_another_time_is_not(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.VIOLATED


@pytest.mark.parametrize("events", SILENT.values(), ids=SILENT)
def test_what_is_not_known_is_not_judged(outcome: Judged, events: tuple[Event, ...]) -> None:
    assert outcome(CLAIM, events) is Outcome.UNTESTED
