"""Applications that poll rarely: in a long poll a member goes on when something happens to it, or when it asked to."""

from itertools import pairwise

import pytest

from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import simulate
from rebalance_check.impl.simulator.group_config import LONG_POLL_MS, MAX_POLL_INTERVAL_MS
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberStarted,
    RecordsDelivered,
    RunEnded,
    WorkerConfigured,
)

SEEDS = range(60)


def rarely_polled(protocol: str) -> list[Event]:
    """The run of the first seed with a member that is polled rarely, where nothing else is unusual."""
    options = SimulationOptions(protocol=SimulatedProtocol(protocol), faults=(FaultKind.LONG_POLL,))
    return next(history for seed in SEEDS if patient(history := simulate(seed, options)))


def patient(history: list[Event]) -> set[str]:
    return {event.member for event in history if isinstance(event, MemberStarted) and event.poll_ms}


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "connect", "election"])
def test_members_that_are_polled_rarely__form_a_group(protocol: str) -> None:
    history = rarely_polled(protocol)
    assert [event.pending for event in history if isinstance(event, RunEnded)] == [()]
    assert {event.poll_ms for event in history if isinstance(event, MemberStarted)} <= {0, LONG_POLL_MS}


def test_they_read_when_their_poll_ends() -> None:
    history = rarely_polled("eager")
    member = min(patient(history))
    times = [event.time_ms for event in history if isinstance(event, RecordsDelivered) and event.member == member]
    assert {later - earlier for earlier, later in pairwise(times)} == {LONG_POLL_MS}


def test_a_long_poll__is_shorter_than_the_time_after_which_a_member_is_given_up() -> None:
    assert LONG_POLL_MS < MAX_POLL_INTERVAL_MS


def test_a_member_is_polled_as_ever__where_that_is_not_drawn() -> None:
    """A stream of its own draws the members that are polled rarely."""
    options = SimulationOptions(protocol=SimulatedProtocol.CONNECT)
    ever = SimulationOptions(
        protocol=SimulatedProtocol.CONNECT, faults=tuple(one for one in options.faults if one != FaultKind.LONG_POLL)
    )
    seed = next(seed for seed in SEEDS if not patient(simulate(seed, options)))
    assert [event for event in simulate(seed, options) if isinstance(event, WorkerConfigured)]
    assert simulate(seed, options)[1:-1] == simulate(seed, ever)[1:-1]
