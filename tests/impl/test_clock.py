"""The virtual clock: order, cancelling, and that it never runs backwards."""

from __future__ import annotations

import pytest

from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def test_things_happen_by_deadline_then_by_order_of_asking() -> None:
    clock, seen = VirtualClock(), list[str]()
    clock.at(20, lambda: seen.append("late"))
    clock.at(10, lambda: seen.append("first asked"))
    clock.at(10, lambda: seen.append("second asked"))

    clock.run_until(30)

    assert seen == ["first asked", "second asked", "late"]
    assert clock.now_ms == 30


def test_an_action_sees_its_own_deadline_and_may_ask_for_more() -> None:
    clock, seen = VirtualClock(), list[int]()

    def again() -> None:
        seen.append(clock.now())
        if len(seen) < 3:
            clock.after(5, again)

    clock.after(5, again)
    clock.run_until(100)

    assert seen == [5, 10, 15]


def test_a_timer_that_was_cancelled_does_not_happen__and_is_no_deadline() -> None:
    clock, seen = VirtualClock(), list[int]()
    timer = clock.at(10, lambda: seen.append(10))
    clock.at(20, lambda: seen.append(20))
    timer.cancel()

    assert clock.next_deadline() == 20
    clock.run_until(20)

    assert seen == [20]
    assert clock.next_deadline() is None


def test_a_deadline_in_the_past_happens_now() -> None:
    clock, seen = VirtualClock(), list[int]()
    clock.run_until(10)
    clock.at(5, lambda: seen.append(clock.now_ms))

    clock.run_until(10)

    assert seen == [10]


def test_the_clock_does_not_run_backwards() -> None:
    clock = VirtualClock()
    clock.run_until(10)

    with pytest.raises(RebalanceCheckError, match="until 9 ms: it is already 10 ms"):
        clock.run_until(9)


def test_something_that_schedules_itself_again_without_delay_is_an_error_that_names_it() -> None:
    clock = VirtualClock()

    def again() -> None:
        clock.after(0, again)

    clock.after(3, again)
    with pytest.raises(RebalanceCheckError, match=r"things happened at 3 ms, the last of them .*again"):
        clock.run_until(5)
