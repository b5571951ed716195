"""A worker's herder thread, and another one that has something for it: nothing is lost, in every schedule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rebalance_check.integration.connect.workers.ours.threads import WorkerThreads
from tests.two_threads import SteppedMonitor, TwoThreads, schedules

OURS = "connect/workers/ours/threads.py"
LONGEST_S = 9.0


class Herder:
    """The loop of the herder thread, round by round, and what was done in it."""

    def __init__(self, schedule: TwoThreads, threads: WorkerThreads | None = None) -> None:
        self.threads = threads or WorkerThreads()
        self.threads._lock = SteppedMonitor(schedule)  # type: ignore[assignment]  # all that is used of it
        self.threads.wake = self._wake
        self.done: list[str] = []
        self.is_woken = False
        self.wait_s = 0.0

    def _wake(self) -> None:
        self.is_woken = True

    def round(self) -> None:
        """Look at what there is, and begin to wait."""
        self.is_woken = False
        self.threads.run_due()
        self.wait_s = self.threads.wait_s(LONGEST_S)

    @property
    def sleeps(self) -> bool:
        """Whether it waits for its longest time, with something to do."""
        return not self.done and not self.is_woken and self.wait_s == LONGEST_S


def post(herder: Herder) -> None:
    herder.threads.post(lambda: herder.done.append("posted"))


def begin_timer(herder: Herder) -> None:
    herder.threads.after(0, lambda: herder.done.append("due"))


@pytest.mark.parametrize("hand_over", [post, begin_timer])
@pytest.mark.parametrize("herder_first", [True, False])
def test_what_another_thread_hands_over_is_done_soon__and_once(
    hand_over: Callable[[Herder], None], herder_first: bool
) -> None:
    def run(schedule: TwoThreads) -> None:
        herder = Herder(schedule)
        calls = [herder.round, lambda: hand_over(herder)]
        schedule.run(*(calls if herder_first else reversed(calls)))
        assert not herder.sleeps, "the herder sleeps, and there is something to do"
        herder.round()
        assert len(herder.done) == 1

    assert schedules(OURS, run) >= 2


class WakesTooEarly(WorkerThreads):
    """Wakes the herder before there is something to do."""

    def post(self, action: Callable[[], None]) -> None:
        self.wake()
        self._posted.put(action)


def test_a_wake_up_that_comes_too_early_is_noticed() -> None:
    def run(schedule: TwoThreads) -> None:
        herder = Herder(schedule, WakesTooEarly())
        schedule.run(lambda: post(herder), herder.round)
        assert not herder.sleeps

    with pytest.raises(AssertionError):
        schedules("test_worker_threads.py", run)
