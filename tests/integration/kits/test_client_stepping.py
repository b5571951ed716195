"""Scenarios side by side: each goes on when what it waits for is so, or when its time is over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator

import pytest

from rebalance_check.integration.kits.client.stepping import Steps, Until, run_side_by_side


class Clock:
    """Each look at it is a second later."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def one_by_one(scenarios: Iterable[Steps]) -> Callable[[], Steps | None]:
    left: Iterator[Steps] = iter(scenarios)
    return lambda: next(left, None)


def run(*scenarios: Steps, at_once: int = 2) -> None:
    run_side_by_side(one_by_one(scenarios), threading.Condition(), at_once=at_once, clock=Clock())


def test_a_scenario_learns_whether_what_it_waited_for_came_to_pass() -> None:
    seen = []

    def scenario() -> Steps:
        seen.append((yield Until(lambda: True, 100, "it is so")))
        seen.append((yield Until(lambda: False, 3, "it is so")))

    run(scenario())
    assert seen == [True, False]


def test_scenarios_run_side_by_side_and_no_more_than_asked_for() -> None:
    running: set[str] = set()
    most: list[int] = []

    def scenario(name: str) -> Steps:
        running.add(name)
        most.append(len(running))
        yield Until(lambda: False, 5, "it is so")
        running.remove(name)

    run(*(scenario(name) for name in "abcde"), at_once=2)
    assert len(most) == 5
    assert max(most) == 2
    assert not running


def test_one_scenario_wakes_another() -> None:
    done: list[str] = []

    def first() -> Steps:
        yield Until(lambda: "second" in done, 1000, "the second is done")
        done.append("first")

    def second() -> Steps:
        yield Until(lambda: True, 1, "nothing")
        done.append("second")

    run(first(), second())
    assert done == ["second", "first"]


def test_an_event_of_another_thread_wakes_it() -> None:
    changed, is_so = threading.Condition(), threading.Event()

    def scenario() -> Steps:
        threading.Thread(target=notify).start()
        assert (yield Until(is_so.is_set, 60, "it is so"))

    def notify() -> None:
        with changed:
            is_so.set()
            changed.notify_all()

    run_side_by_side(one_by_one([scenario()]), changed, at_once=1)
    assert is_so.is_set()


def test_what_a_scenario_raises_ends_the_others_with_their_clean_up() -> None:
    cleaned = []

    def waiting() -> Steps:
        try:
            yield Until(lambda: False, 1000, "it is so")
        finally:
            cleaned.append(True)

    def failing() -> Steps:
        yield Until(lambda: True, 1, "nothing")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(waiting(), failing())
    assert cleaned == [True]
