"""Each claim about Connect workers: it holds in a healthy group, and breaks where one step of it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.model.vocabulary import events as e
from rebalance_check.properties.connect.catalogue import ConnectWorkers
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import Held, Outcome
from tests.properties.healthy_workers import HealthyWorkers

History = Callable[..., list[e.Event]]


OF_SIMULATED_RUNS = {"earlier_tasks_are_fenced"}
"""They say nothing about the healthy group; their own tests have histories that hold and that break."""


@pytest.mark.parametrize("invariant", ConnectWorkers, ids=lambda invariant: str(invariant.name))
def test_a_healthy_group_holds_the_claim(history: History, invariant: Invariant) -> None:
    judgement = judge(history(*HealthyWorkers().run()), [invariant])
    if invariant.name in {"config_mismatch_assigns_nothing", *OF_SIMULATED_RUNS}:
        assert judgement.counterexamples == ()
    else:
        assert isinstance(judgement.verdict(invariant.name), Held), judgement.verdict(invariant.name)


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
        lambda h: changed(h, e.ConnectAssignmentReceived, 0, leader="b"),
    ),
    "the URL of a follower for the leader's": (
        "leader_url_is_the_leaders",
        lambda h: changed(h, e.ConnectAssignmentReceived, 1, leader_url="http://w1/"),
    ),
    "bytes of version 1 under sessioned": (
        "version_fits_protocol",
        lambda h: changed(h, e.ConnectAssignmentReceived, 1, version=1),
    ),
    "a failed round that revokes": (
        "config_mismatch_assigns_nothing",
        lambda h: changed(h, e.ConnectAssignmentComputed, 1, error="CONFIG_MISMATCH"),
    ),
    "a failed round that names the leader's offset": (
        "config_mismatch_assigns_nothing",
        lambda h: changed(
            h, e.ConnectAssignmentComputed, 1, error="CONFIG_MISMATCH", revoked=(), offsets=(("a", 3), ("b", 4))
        ),
    ),
    "a worker ahead of the assignment": (
        "config_offset_covers_members",
        lambda h: changed(h, e.ConnectAssignmentComputed, 1, offsets=(("a", 3), ("b", 4))),
    ),
    "moved in one round": (
        "claimed_work_is_not_granted",
        lambda h: changed(h, e.ConnectAssignmentComputed, 1, assigned=(("a", ()), ("b", ("c-0",)))),
    ),
    "given to two": (
        "work_is_granted_once",
        lambda h: changed(h, e.ConnectAssignmentComputed, 2, assigned=(("a", ("c-0",)), ("b", ("c-0",)))),
    ),
    "never given": (
        "configured_work_has_an_owner",
        lambda h: changed(h, e.ConnectAssignmentComputed, 2, assigned=(("a", ()), ("b", ()))),
    ),
    "new work waits for a delay": (
        "configured_work_has_an_owner",
        lambda h: changed(h, e.ConnectAssignmentComputed, 0, assigned=(("a", ("c",)),), delay_ms=9),
    ),
    "given before the delay is over": (
        "delay_is_honoured",
        lambda h: changed(h, e.ConnectAssignmentComputed, 5, time_ms=999),
    ),
    "a delay longer than the limit": (
        "delay_is_bounded",
        lambda h: changed(h, e.ConnectAssignmentComputed, 4, delay_ms=300_001),
    ),
    "a negative delay": ("delay_is_bounded", lambda h: changed(h, e.ConnectAssignmentComputed, 4, delay_ms=-1)),
    "two runners": ("work_runs_once", lambda h: without(h, e.TaskStopped, 0)),
    "ahead of the assignment's configs": (
        "start_waits_for_configs",
        lambda h: changed(h, e.AssignmentAccepted, 0, config_offset=4),
    ),
    "for an older generation": (
        "start_waits_for_configs",
        lambda h: changed(h, e.AssignmentAccepted, 1, generation=1),
    ),
    "started although the herder did not accept": (
        "only_accepted_work_starts",
        lambda h: changed(h, e.AssignmentAccepted, 4, work=()),
    ),
    "the stop is forgotten": ("revoked_work_has_stopped", lambda h: without(h, e.TaskStopped, 0)),
    "goes on for a minute without a coordinator": (
        "work_stops_without_a_coordinator",
        lambda h: changed(h, e.CoordinatorAwaited, 1, time_ms=60_000),
    ),
    "away for a minute": ("work_stops_while_away", lambda h: changed(h, e.MembershipLost, 0, time_ms=-400_000)),
    "runs and is not claimed": ("running_work_is_claimed", lambda h: without(h, e.TaskStopped, 0)),
    "no further round": (
        "revocation_leads_to_rejoin",
        lambda h: [*h[: h.index(e.RejoinRequested(member="w0", reason="revoked"))]],
    ),
    "the old config goes on": ("tasks_run_their_configs", lambda h: changed(h, e.TaskStarted, -1, config="y")),
    "not started again": (
        "configured_work_runs",
        lambda h: without(without(h, e.TaskStarted, 0, member="w0", config="z"), e.WorkStateChanged, -1),
    ),
    "a follower's session key": (
        "only_the_leader_rotates_keys",
        lambda h: [*h[: h.index(e.MemberCrashed(member="w1"))], e.SessionKeyWritten(member="w1", generation=5)],
    ),
    "changed configs are not published": (
        "changed_task_configs_are_published",
        lambda h: changed(h, e.TaskConfigsGenerated, 0, published=False),
    ),
    "unchanged configs are published": (
        "changed_task_configs_are_published",
        lambda h: changed(h, e.TaskConfigsGenerated, 0, tasks=(("c-0", "y"),)),
    ),
    "fewer tasks are not published": (
        "changed_task_configs_are_published",
        lambda h: changed(h, e.TaskConfigsGenerated, 0, tasks=(), published=False),
    ),
    "a change of the runtime's settings alone is not published": (
        "changed_task_configs_are_published",
        lambda h: changed(h, e.TaskConfigsGenerated, 0, tasks=(("c-0", "y"),), connector_config="new", published=False),
    ),
    "a commit restarts other tasks": (
        "commit_restarts_its_own_tasks",
        lambda h: changed(h, e.TaskConfigsApplied, 0, tasks=("c-0", "d-0")),
    ),
    "work of a worker that left does not wait": (
        "lost_work_waits",
        lambda h: changed(h, e.ConnectAssignmentComputed, 4, assigned=(("a", ("c-0",)),), delay_ms=0),
    ),
    "an epoch is used twice": ("producer_epochs_grow", lambda h: changed(h, e.ProducerInitialised, 1, epoch=0)),
    "a fencing is refused": (
        "fencing_fails_for_new_configs_only",
        lambda h: without(changed(h, e.ZombieFencingEnded, 0, outcome="conflict"), e.TaskConfigsApplied, 0),
    ),
}
"""What goes wrong, the claim that says so, and the history with it."""


@pytest.mark.parametrize("slip", SLIPS)
def test_one_wrong_step_breaks_the_claim(history: History, slip: str) -> None:
    name, change = SLIPS[slip]
    judgement = judge(history(*change(HealthyWorkers().run())))
    assert judgement.verdict(name).outcome is Outcome.VIOLATED


def test_every_claim_has_a_slip() -> None:
    named = {name for name, _ in SLIPS.values()}
    by_hand = {"fenced_before_start"}
    assert {invariant.name for invariant in ConnectWorkers} == named | by_hand | OF_SIMULATED_RUNS
