"""A member or coordinator that spins ends its run in seconds, and the report names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import progress
from rebalance_check.impl.simulator.process import MemberProcess
from rebalance_check.impl.simulator.progress import BURST, PER_SECOND, WATCHED, ProgressGuard, SpinError
from rebalance_check.impl.simulator.simulation import simulate
from rebalance_check.model.vocabulary.events import Event, MemberPaused, RunEnded
from rebalance_check.properties.judge import judge

EAGER = SimulationOptions(protocol=SimulatedProtocol.EAGER, members=2, partitions=2, steps=4, faults=())


def ended(history: list[Event]) -> RunEnded:
    last = history[-1]
    assert isinstance(last, RunEnded)
    return last


@pytest.fixture
def busy_m1(monkeypatch: pytest.MonkeyPatch) -> None:
    """m1 records something without end whenever it polls, inside of one call."""
    poll = MemberProcess._poll

    def spin(self: MemberProcess) -> None:
        while self.name == "m1":
            self._recorder.emit(MemberPaused(member="m1"))
        poll(self)

    monkeypatch.setattr(MemberProcess, "_poll", spin)


@pytest.mark.usefixtures("busy_m1")
def test_a_member_that_does_something_for_ever_inside_of_one_call_is_named() -> None:
    history = simulate(0, EAGER)
    (pending,) = ended(history).pending or ()
    assert pending.startswith("m1 spins: ")
    assert judge(history, "rebalance_completes").exit_code == 11
    assert len(history) < BURST + 2 * WATCHED + 1_000


def test_a_member_that_polls_again_without_delay_is_found_where_time_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def at_once(self: MemberProcess, next_ms: int | None) -> None:
        self._clock.after(0, self._poll_again)

    monkeypatch.setattr(MemberProcess, "_poll_again_when", at_once)
    (pending,) = ended(simulate(0, EAGER)).pending or ()
    assert "MemberProcess._poll_again" in pending
    assert "whenever it is due" in pending


def test_a_healthy_client_cannot_catch_what_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def poll(self: Coordinator, now_ms: int) -> None:
        while True:
            self.recorder.emit(MemberPaused(member=self.member))

    monkeypatch.setattr("rebalance_check.impl.client.consumer.ConsumerCoordinator.poll", poll, raising=True)
    assert " spins: " in (ended(simulate(0, EAGER)).pending or ("",))[0]


@pytest.fixture
def guard() -> tuple[VirtualClock, ProgressGuard, Callable[[int, str], None]]:
    clock = VirtualClock()
    guarded = ProgressGuard(clock)

    def count(times: int, source: str) -> None:
        for _ in range(times):
            guarded.count(Event(source=source))

    return clock, guarded, count


def test_the_bound_grows_with_time_and_begins_anew_with_each_action(
    guard: tuple[VirtualClock, ProgressGuard, Callable[[int, str], None]],
) -> None:
    clock, guarded, count = guard
    count(BURST, "m0")
    clock.run_until(60_000)
    count(60 * PER_SECOND, "m0")
    guarded.begin()
    count(BURST + WATCHED - 1, "m0")
    guarded.release()
    count(BURST, "m0")


def test_the_source_of_most_events_beyond_the_bound_is_named(
    guard: tuple[VirtualClock, ProgressGuard, Callable[[int, str], None]],
) -> None:
    _, _, count = guard
    count(BURST, "m0")
    count(WATCHED // 2 - 1, "m0")
    with pytest.raises(SpinError, match=r"m1 spins: 21,000 events within 0 ms, and no end"):
        count(WATCHED, "m1")


def test_while_a_topic_cannot_be_read_the_bound_waits(
    guard: tuple[VirtualClock, ProgressGuard, Callable[[int, str], None]],
) -> None:
    clock, guarded, count = guard
    guarded.wait(5_000)
    for time_ms in range(1_000, 5_001, 1_000):
        clock.run_until(time_ms)
        count(BURST, "m0")
    clock.run_until(5_001)
    with pytest.raises(SpinError):
        count(BURST + WATCHED, "m0")


def test_no_healthy_run_comes_near_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BURST", BURST // 10)
    options = SimulationOptions(members=6, partitions=6)
    assert [ended(simulate(seed, options)).pending for seed in range(12)] == [()] * 12
