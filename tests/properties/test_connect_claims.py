"""Each claim about Connect workers: it holds in a healthy group, and breaks where one step of it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.model.vocabulary import events as e
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from tests.properties.healthy_workers import HealthyWorkers

History = Callable[..., list[e.Event]]


def test_a_healthy_group_breaks_nothing_of_the_whole_catalogue(history: History) -> None:
    judgement = judge(history(*HealthyWorkers().run()), exclude="status")  # no log of statuses is shown
    assert judgement.counterexamples == ()


def changed(events: list[e.Event], kind: type[e.Event], number: int, **fields: Any) -> list[e.Event]:
    """The history with other fields in the ``number``-th event of a type."""
    places = [place for place, event in enumerate(events) if type(event) is kind]
    place = places[number]
    return [*events[:place], replace(events[place], **fields), *events[place + 1 :]]


def without(events: list[e.Event], kind: type[e.Event], number: int, **fields: Any) -> list[e.Event]:
    """The history without the ``number``-th event of a type that has these fields."""
    places = [
        place
        for place, event in enumerate(events)
        if type(event) is kind and all(getattr(event, name) == value for name, value in fields.items())
    ]
    place = places[number]
    return [*events[:place], *events[place + 1 :]]


SLIPS: dict[str, tuple[str, Callable[[list[e.Event]], list[e.Event]]]] = {
    "another error for one worker": (
        "connect_assignment_is_agreed",
        lambda h: changed(h, e.ConnectAssignmentReceived, 2, error="CONFIG_MISMATCH"),
    ),
    "another offset for one worker": (
        "connect_assignment_is_agreed",
        lambda h: changed(h, e.ConnectAssignmentReceived, 2, config_offset=9),
    ),
    "another delay for one worker": (
        "connect_assignment_is_agreed",
        lambda h: changed(h, e.ConnectAssignmentReceived, 2, delay_ms=5),
    ),
    "a leader that is not the one that computed": (
        "connect_assignment_is_agreed",
        lambda h: changed(h, e.ConnectAssignmentReceived, 2, leader="b"),
    ),
    "the URL of a follower for the leader's": (
        "connect_assignment_is_agreed",
        lambda h: changed(h, e.ConnectAssignmentReceived, 1, leader_url="http://w1/"),
    ),
    "two runners": ("work_runs_once", lambda h: without(h, e.TaskStopped, 0)),
    "ahead of the assignment's configs": (
        "start_waits_for_configs",
        lambda h: changed(h, e.AssignmentAccepted, 0, config_offset=4),
    ),
    "for an older generation": (
        "start_waits_for_configs",
        lambda h: changed(h, e.AssignmentAccepted, 1, generation=1),
    ),
    "the stop is forgotten": ("revoked_work_has_stopped", lambda h: without(h, e.TaskStopped, 0)),
    "goes on for a minute without a coordinator": (
        "work_stops_while_away",
        lambda h: changed(h, e.CoordinatorAwaited, 1, time_ms=60_000),
    ),
    "away for a minute": ("work_stops_while_away", lambda h: changed(h, e.MembershipLost, 0, time_ms=-400_000)),
    "runs and is not claimed": ("running_work_is_claimed", lambda h: without(h, e.TaskStopped, 0)),
    "the old config goes on": ("tasks_run_their_configs", lambda h: changed(h, e.TaskStarted, -1, config="y")),
    "not started again": (
        "configured_work_runs",
        lambda h: without(without(h, e.TaskStarted, 0, member="w0", config="z"), e.WorkStateChanged, -1),
    ),
    "an epoch is used twice": ("producer_epochs_grow", lambda h: changed(h, e.ProducerInitialised, 1, epoch=0)),
}
"""A fault, the invariant that names it, and the history with it."""


@pytest.mark.parametrize("slip", SLIPS)
def test_one_wrong_step_breaks_the_claim(history: History, slip: str) -> None:
    name, change = SLIPS[slip]
    judgement = judge(history(*change(HealthyWorkers().run())))
    assert judgement.verdict(name).outcome is Outcome.VIOLATED
