"""Processes of this machine: results as they finish, failures as they were raised, and no way of ending that hangs."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest

from rebalance_check.pipeline.processes import ProcessEndedError, Processes, Task

LONG = 20_000_000
"""More bytes than a pipe holds, so that a process is killed in the middle of sending them."""


UNSENDABLE: list[Task[Any]] = [(memoryview, (b"1",)), (memoryview, (b"2",))]


def repeated(text: str, times: int) -> Task[str]:
    """A task of a spawned process, which may not find the modules of the tests."""
    return str.__mul__, (text, times)


def test_a_process_that_is_killed_while_it_answers__keeps_its_parent_from_nothing() -> None:
    for _ in range(3):
        with Processes(2) as processes:
            for _ in processes.run(repeated("x", LONG) for _ in range(10)):
                processes.abandon()
                break


def test_results_come_as_they_finish__of_more_tasks_than_are_handed_out_at_once() -> None:
    with Processes(3) as processes:
        assert sorted(processes.run(repeated("x", number) for number in range(50))) == ["x" * n for n in range(50)]
        assert list(processes.run([repeated("y", 1)])) == ["y"], "the same processes work again"


def test_a_failed_task_raises_its_exception__with_the_place_where_it_was_raised() -> None:
    with Processes(2) as processes, pytest.raises(ZeroDivisionError) as raised:
        list(processes.run([(divmod, (1, 0)), (divmod, (2, 1))]))
    assert any("in process" in note and "outcome_of" in note for note in raised.value.__notes__)


def test_a_result_that_cannot_be_sent_is_said() -> None:
    with Processes(2) as processes, pytest.raises(RuntimeError, match="cannot be sent to the parent"):
        list(processes.run(UNSENDABLE))


def test_a_process_that_is_killed_from_outside_is_said__with_its_exit_code() -> None:
    with Processes(2) as processes, pytest.raises(ProcessEndedError, match="ended with exit code -9"):
        list(processes.run([(signal.raise_signal, (signal.SIGKILL,)), (time.sleep, (0.1,))]))


def test_after_an_interruption__the_results_of_what_was_handed_out_are_had__and_no_more_is_handed_out() -> None:
    with Processes(2) as processes:
        naps: list[Task[Any]] = [(time.sleep, (0.3,))] * 3
        results = processes.run([repeated("x", 1), *naps, *[repeated("late", 1)] * 4])
        assert next(results) == "x"
        assert processes.last_results(60) == [None, None, None]
