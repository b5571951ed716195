"""What a divergence is printed with: the command that sends its schedule to the same broker again."""

from __future__ import annotations

import shlex

from rebalance_check.commands._replay_results import command_of
from rebalance_check.integration.conformance.schedules import walks
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import Schedule


def schedule() -> Schedule:
    bounds = Bounds(members=2, partitions=1, generations=2, crashes=0, initial_delay=False)
    return next(iter(walks(bounds, 1, seed=0, steps=8)))


def test_the_command_names_broker_and_schedule__quoted_for_a_shell() -> None:
    words = shlex.split(command_of(schedule(), "virtual:3.9.2"))

    assert words[:4] == ["rebalance-check", "replay", "--broker", "virtual:3.9.2"]
    path = path_at(words[4])
    assert (path.bounds, tuple(path.actions)) == (schedule().bounds, schedule().actions)


def test_real_timers_are_asked_for_again() -> None:
    assert "--real-timers" in shlex.split(command_of(schedule(), "local", real_timers=True))
