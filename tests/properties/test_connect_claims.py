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


OF_SIMULATED_RUNS = {
    "workers_get_shares_of_one_size", "worker_leaves_when_its_work_has_stopped", "cancelled_work_ends",
    "only_running_tasks_use_topics", "target_states_are_asked_for", "idle_herder_acts_at_once",
    "new_work_goes_to_the_least", "stopping_workers_start_nothing", "workers_end_when_asked", "work_fails_for_a_cause",
    "only_slow_work_is_cancelled", "plugins_reach_their_state", "published_task_configs_arrive",
    "failed_tasks_get_no_producer", "restarts_follow_statuses", "earlier_tasks_are_fenced",
    "privilege_claim_has_a_cause",
    "new_configs_lead_to_a_round", "operators_get_true_answers", "delays_run_out", "statuses_are_drained",
    "known_configs_are_not_read_again", "states_are_written", "herder_queues_are_in_order",
    "served_requests_are_answered_once", "due_requests_are_served", "reconfigurations_are_retried", "leaders_are_asked",
    "session_keys_are_renewed_in_time", "work_is_given_up_after_a_wait", "read_changes_are_applied",
    "verified_tasks_start", "unread_configs_are_read_first", "rounds_have_a_reason", "only_started_work_runs",
    "workers_get_true_answers", "stores_are_called_as_asked", "last_status_says_what_runs", "plugins_take_their_time",
    "revocations_go_on_at_once", "successive_revocations_wait", "only_settled_workers_are_notified",
    "tasks_start_once", "refused_tasks_end_at_once",
}  # fmt: skip
"""They say nothing about the healthy group; their own tests have histories that hold and that break."""


@pytest.mark.parametrize("invariant", ConnectWorkers, ids=lambda invariant: str(invariant.name))
def test_a_healthy_group_holds_the_claim(history: History, invariant: Invariant) -> None:
    judgement = judge(history(*HealthyWorkers().run()), [invariant])
    if invariant.name in {"config_mismatch_assigns_nothing", *OF_SIMULATED_RUNS}:
        assert judgement.counterexamples == ()
    else:
        assert isinstance(judgement.verdict(invariant.name), Held), judgement.verdict(invariant.name)


def test_a_healthy_group_breaks_nothing_of_the_whole_catalogue(history: History) -> None:
    judgement = judge(history(*HealthyWorkers().run()), exclude="safe_status_writes")  # no log of statuses is shown
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


def before_the_last_revocation(events: list[e.Event], *more: e.Event) -> list[e.Event]:
    """The history with further events before the last `WorkRevocationStarted`."""
    place = max(place for place, event in enumerate(events) if isinstance(event, e.WorkRevocationStarted))
    return [*events[:place], *more, *events[place:]]


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
    "a claim to what was revoked": (
        "claim_follows_assignments",
        lambda h: changed(h, e.WorkerClaimed, 3, claim=("c", "c-0")),
    ),
    "no claim although there is an assignment": (
        "claim_follows_assignments",
        lambda h: changed(h, e.WorkerClaimed, 3, claim=None),
    ),
    "the owner's URL from a follower": (
        "owner_url_is_the_owners",
        lambda h: [
            *h[: h.index(e.MemberCrashed(member="w1"))],
            e.OwnerLookedUp(member="w1", generation=5, work="c", url="http://w0/"),
        ],
    ),
    "the URL of another worker": (
        "owner_url_is_the_owners",
        lambda h: changed(h, e.OwnerLookedUp, 0, url="http://w1/"),
    ),
    "an owner of what does not exist": (
        "owner_url_is_the_owners",
        lambda h: changed(h, e.OwnerLookedUp, 0, work="d"),
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
    "RUNNING of what has stopped": (
        "status_says_what_ran",
        lambda h: changed(h, e.StatusAttempted, 2, status="RUNNING"),
    ),
    "PAUSED of what runs": ("status_says_what_ran", lambda h: changed(h, e.StatusAttempted, 0, status="PAUSED")),
    "STOPPED of what runs": ("status_says_what_ran", lambda h: changed(h, e.StatusAttempted, 0, status="STOPPED")),
    "FAILED of what runs": ("status_says_what_ran", lambda h: changed(h, e.StatusAttempted, 0, status="FAILED")),
    "RESTARTING without a request": ("status_says_what_ran", lambda h: without(h, e.RestartPlanned, 0)),
    "a later generation": ("status_carries_the_generation", lambda h: changed(h, e.StatusAttempted, 2, generation=2)),
    "put for UNASSIGNED": ("status_is_safe_by_kind", lambda h: changed(h, e.StatusAttempted, 2, safe=False)),
    "putSafe for RUNNING": ("status_is_safe_by_kind", lambda h: changed(h, e.StatusAttempted, 0, safe=True)),
    "a follower removes a status": (
        "only_the_leader_removes_statuses",
        lambda h: changed(h, e.StatusAttempted, 4, worker="w1"),
    ),
    "the status of configured work is removed": (
        "only_the_leader_removes_statuses",
        lambda h: changed(h, e.StatusAttempted, 4, key="status-task-c-0"),
    ),
    "a status is left": (
        "removed_work_loses_its_status",
        lambda h: without(h, e.StatusAttempted, 0, status="DESTROYED"),
    ),
    "a silent stop": ("stops_are_announced", lambda h: without(h, e.StatusAttempted, 0, status="UNASSIGNED")),
    "a silent start": (
        "starts_are_announced",
        lambda h: without(h, e.StatusAttempted, -1, status="RUNNING"),
    ),
    "no flush": ("revocation_flushes_statuses", lambda h: without(h, e.StatusFlushed, 0)),
    "the status of a topic that no task used": (
        "topic_status_says_what_was_used",
        lambda h: without(without(h, e.TopicUsed, 0), e.TopicUsed, 0),
    ),
    "the status of another topic than the one that was used": (
        "topic_status_says_what_was_used",
        lambda h: changed(h, e.TopicUsed, 0, topic="u"),
    ),
    "a topic is used in silence": (
        "used_topics_are_announced",
        lambda h: without(h, e.StatusAttempted, 0, status="TOPIC"),
    ),
    "a reset that no operator asked for": (
        "topics_are_reset_for_a_reason",
        lambda h: without(h, e.TopicsReset, 0),
    ),
    "a reset of another connector": (
        "topics_are_reset_for_a_reason",
        lambda h: changed(h, e.TopicsReset, 0, connector="d"),
    ),
    "the topics of a deleted connector stay": (
        "removed_connector_loses_its_topics",
        lambda h: before_the_last_revocation(
            h,
            e.StatusRead(worker="w0", key="status-topic-t:connector-c", partition=2, offset=9, status="TOPIC"),
            e.ConfigSnapshotTaken(member="w0", offset=9, connectors=(), tasks=()),
            e.RejoinRequested(member="w0", reason="connectors or tasks were reconfigured"),
        ),
    ),
    "a worker joins before its status store has started": (
        "worker_joins_after_its_statuses",
        lambda h: without(h, e.StatusStoreStarted, 1),
    ),
    "a request of an old key is taken": (
        "only_signed_requests_are_taken",
        lambda h: changed(h, e.InternalRequestChecked, 1, refusal=0),
    ),
    "a request without a signature is taken": (
        "only_signed_requests_are_taken",
        lambda h: changed(h, e.InternalRequestChecked, 2, refusal=0),
    ),
    "a request with the right signature is refused": (
        "only_signed_requests_are_taken",
        lambda h: changed(h, e.InternalRequestChecked, 0, refusal=403),
    ),
    "a request is refused before a key is known, as if it were forged": (
        "only_signed_requests_are_taken",
        lambda h: changed(h, e.InternalRequestChecked, 1, known_key=""),
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
    "a restart of what another worker runs": (
        "restart_stays_with_its_connector",
        lambda h: changed(h, e.RestartPlanned, 0, work=("c",)),
    ),
    "another target state is applied": (
        "applied_target_state_is_current",
        lambda h: changed(h, e.TargetStateChanged, 0, state="PAUSED"),
    ),
    "a round takes what only one worker can have": (
        "work_is_taken_for_a_cause",
        lambda h: changed(h, e.ConnectAssignmentComputed, -1, revoked=(("a", ("c",)),)),
    ),
    "a task that should run is paused": (
        "target_states_are_reached",
        lambda h: changed(h, e.WorkStateChanged, -1, state="PAUSED"),
    ),
    "a request is not answered": (
        "herder_requests_are_answered",
        lambda h: without(h, e.HerderAnswered, 1),
    ),
    "a request is accepted and not written": (
        "accepted_requests_are_written",
        lambda h: changed(h, e.ConfigAppended, 0, key="target-state-d"),
    ),
    "a request is accepted, and something else is written": (
        "accepted_requests_are_written",
        lambda h: changed(h, e.ConfigAppended, 0, value='{"state":"STARTED"}'),
    ),
    "a request is refused, and written all the same": (
        "refused_requests_are_not_written",
        lambda h: changed(h, e.HerderAnswered, 0, answer=409),
    ),
    "work waits although nobody left": (
        "delay_has_a_cause",
        lambda h: changed(h, e.ConnectAssignmentComputed, 2, assigned=(("a", ()), ("b", ())), delay_ms=9),
    ),
    "work of a worker that left does not wait": (
        "lost_work_waits",
        lambda h: changed(h, e.ConnectAssignmentComputed, 4, assigned=(("a", ("c-0",)),), delay_ms=0),
    ),
    "a round takes work while a delay runs": (
        "delay_postpones_revocations",
        lambda h: changed(h, e.ConnectAssignmentComputed, 4, revoked=(("a", ("c",)),)),
    ),
    "a worker says nothing of what it restarts": (
        "planned_restarts_are_done",
        lambda h: [each for each in h if not (isinstance(each, e.StatusAttempted) and each.status == "RESTARTING")],
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
    by_hand = {"eager_worker_stops_before_joining", "fenced_before_start"}
    assert {invariant.name for invariant in ConnectWorkers} == named | by_hand | OF_SIMULATED_RUNS
