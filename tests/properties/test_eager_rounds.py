"""An eager round among Connect workers that ran work under an incremental protocol (KAFKA-13816): what it excuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from rebalance_check.model.vocabulary import events as e
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated

History = Callable[..., list[e.Event]]

WORK = ("c-0",)


def runs(worker: str, generation: int, member_id: str = "") -> e.TaskStarted:
    return e.TaskStarted(member=worker, generation=generation, member_id=member_id, task="c-0")


def joined(worker: str, generation: int, protocol: str) -> e.Event:
    return e.MemberJoined(member=worker, generation=generation, protocol=protocol)


def assigned(worker: str, generation: int, protocol: str, *work: str, store: str = "") -> e.Event:
    return e.ConnectAssignmentReceived(
        member=worker, generation=generation, member_id=store, protocol=protocol, leader=store or "a", leader_url="u",
        config_offset=1, assigned=work,
    )  # fmt: skip


def accepted(worker: str, generation: int, *work: str) -> e.Event:
    return e.AssignmentAccepted(member=worker, generation=generation, config_offset=1, work=work)


def stops(worker: str, generation: int, *work: str) -> list[e.Event]:
    """The events of a worker before an eager join, with stopped work or without."""
    return [
        e.WorkRevocationStarted(member=worker, generation=generation, work=work, reason="eager join"),
        e.WorkRevocationEnded(member=worker, generation=generation, work=work),
        e.WorkerClaimed(member=worker, generation=generation, url="u", config_offset=1, claim=work),
    ]


def broken(events: Sequence[e.Event]) -> set[str]:
    return {claim.name for claim, verdict in judge(events).verdicts.items() if isinstance(verdict, Violated)}


RUNS_INCREMENTALLY: list[e.Event] = [
    joined("w0", 1, "compatible"), assigned("w0", 1, "compatible", *WORK), accepted("w0", 1, *WORK), runs("w0", 1),
]  # fmt: skip
OWNER_LEARNS_LATER: list[e.Event] = [
    *RUNS_INCREMENTALLY,
    e.RequestSent(member="w0", api="JoinGroup", request=1),
    joined("w1", 2, "default"), joined("w0", 2, "default"), assigned("w1", 2, "default", *WORK),
    accepted("w1", 2, *WORK), runs("w1", 2),
]  # fmt: skip
OWNERSHIP = {"work_runs_once", "no_double_ownership"}


def test_an_eager_round_gives_work_away_before_its_owner_has_its_assignment(history: History) -> None:
    assert not OWNERSHIP & broken(history(*OWNER_LEARNS_LATER))
    assert not OWNERSHIP & broken(history(*OWNER_LEARNS_LATER, assigned("w0", 2, "default")))


def test_what_the_owner_keeps_in_an_eager_round_counts_again(history: History) -> None:
    keeps = [assigned("w0", 2, "default", *WORK), e.AssignmentCompleted(member="w0", generation=2, owned=())]
    assert "no_double_ownership" in broken(history(*OWNER_LEARNS_LATER, *keeps))


@pytest.mark.parametrize(("first", "second"), [("compatible", "compatible"), ("default", "sessioned")])
def test_no_other_round_gives_work_away(history: History, first: str, second: str) -> None:
    events = [
        joined("w0", 1, first), assigned("w0", 1, first, *WORK), accepted("w0", 1, *WORK), runs("w0", 1),
        e.RequestSent(member="w0", api="JoinGroup", request=1),
        joined("w1", 2, second), joined("w0", 2, second), assigned("w1", 2, second, *WORK), accepted("w1", 2, *WORK),
        runs("w1", 2),
    ]  # fmt: skip
    assert broken(history(*events)) >= OWNERSHIP


NOT_STARTED: list[e.Event] = [*RUNS_INCREMENTALLY, joined("w0", 2, "default"), assigned("w0", 2, "default", *WORK)]
"""The worker keeps its work in an eager round, and cannot start the assignment: it is behind in the config topic."""

GIVEN_ON: list[e.Event] = [
    joined("w0", 3, "default"), joined("w1", 3, "default"), assigned("w0", 3, "default"),
    assigned("w1", 3, "default", *WORK), accepted("w1", 3, *WORK), runs("w1", 3),
]  # fmt: skip
STOPPING = {"revoked_work_has_stopped"}


def test_a_worker_that_has_not_started_its_eager_assignment_stops_nothing(history: History) -> None:
    assert not (STOPPING | OWNERSHIP) & broken(history(*NOT_STARTED, *stops("w0", 2, *WORK), *GIVEN_ON))


def test_one_that_has_started_it_stops_all(history: History) -> None:
    events = [*NOT_STARTED, accepted("w0", 2), *stops("w0", 2, *WORK), *GIVEN_ON]
    assert broken(history(*events)) >= STOPPING | {"work_runs_once"}


def test_work_beyond_a_claim_was_left_by_an_eager_round(history: History) -> None:
    left = [*RUNS_INCREMENTALLY, assigned("w0", 2, "default"), accepted("w0", 2)]
    assert "running_work_is_claimed" not in broken(history(*left))


RUNS_THROUGH_A_LOSS: list[e.Event] = [
    joined("w0", 1, "compatible"), assigned("w0", 1, "compatible", *WORK), runs("w0", 1), joined("w0", 2, "compatible"),
    e.MembershipLost(member="w0", generation=2, reason="poll timeout"),
    joined("w1", 3, "compatible"), assigned("w1", 3, "compatible", *WORK), runs("w1", 3),
]  # fmt: skip


@pytest.mark.parametrize("completed", [2, 3])
def test_an_assignment_of_a_lost_membership_confirms_nothing(history: History, completed: int) -> None:
    """The worker stopped other work for so long that it lost its membership, and then took the assignment."""
    late = e.AssignmentCompleted(member="w0", generation=completed, owned=())
    events = [*RUNS_THROUGH_A_LOSS, late, joined("w0", 4, "compatible"), joined("w1", 4, "compatible")]
    assert ("no_double_ownership" in broken(history(*events))) == (completed == 3)


@pytest.mark.parametrize("members", [("a", "b"), ("b",)])
def test_a_worker_that_a_copy_of_its_join_put_into_a_round_returns_with_what_it_ran(
    history: History, members: tuple[str, ...]
) -> None:
    """The copy brought an old claim: the round gave away what the worker ran."""

    def joins(worker: str, generation: int) -> e.Event:
        member_id = {"w0": "a", "w1": "b"}[worker]
        return e.MemberJoined(member=worker, generation=generation, member_id=member_id, protocol="compatible")

    def begins(generation: int, *members: str) -> e.Event:
        return e.GenerationStarted(
            incarnation=0, generation=generation, members=members, leader="b", protocol="compatible"
        )

    events = [
        e.IncarnationStarted(incarnation=0, generation=0, status="Empty"),
        begins(1, "a", "b"), joins("w0", 1), assigned("w0", 1, "compatible", *WORK, store="a"), runs("w0", 1, "a"),
        begins(2, *members), joins("w1", 2), assigned("w1", 2, "compatible", *WORK, store="b"), runs("w1", 2, "b"),
        begins(3, "a", "b"), joins("w0", 3), joins("w1", 3),
    ]  # fmt: skip
    assert ("no_double_ownership" in broken(history(*events))) == ("a" not in members)


@pytest.mark.parametrize("joins", [1, 2])
def test_a_worker_that_was_paused_reads_an_assignment_that_is_over(history: History, joins: int) -> None:
    """Of the generation that the other worker is in, it would know that the work is not its own."""
    events = [
        e.IncarnationStarted(incarnation=0, generation=0, status="Empty"),
        e.WorkerClaimed(member="w0", generation=-1, url="u", config_offset=1, claim=None),
        joined("w0", joins, "compatible"),
        joined("w1", 2, "compatible"), assigned("w1", 2, "compatible", *WORK), runs("w1", 2),
        assigned("w0", joins, "compatible", *WORK), runs("w0", joins),
    ]  # fmt: skip
    assert ("work_runs_once" in broken(history(*events))) == (joins == 2)


def test_a_task_that_is_paused_before_it_started_is_not_lost(history: History) -> None:
    known = e.ConfigSnapshotTaken(member="w0", offset=1, connectors=(("c", "x"),), tasks=WORK)
    runs_connector = e.ConnectorStarted(member="w0", generation=1, connector="c")
    paused = e.WorkStateChanged(member="w0", generation=1, work="c-0", state="PAUSED")
    events = [known, assigned("w0", 1, "compatible", "c", "c-0"), runs_connector]
    assert "configured_work_runs" not in broken(history(*events, paused, e.RunEnded()))
    assert "configured_work_runs" in broken(history(*events, e.RunEnded()))


def test_the_leader_cleans_up_by_the_configs_that_its_store_has_read_by_then(history: History) -> None:
    def snapshot(*tasks: str) -> e.Event:
        return e.ConfigSnapshotTaken(member="w0", offset=1, connectors=(("c", "x"),), tasks=tasks)

    def read(key: str) -> e.Event:
        return e.StatusRead(worker="w0", key=key, partition=0, offset=0, status="RUNNING", generation=1)

    events = [
        e.WorkerConfigured(member="w0", mode="compatible", store="w0"), snapshot(),
        read("status-connector-c"), read("status-task-c-0"), assigned("w0", 2, "compatible", store="a"),
    ]  # fmt: skip
    name = "removed_work_loses_its_status"
    assert name not in broken(history(*events, snapshot("c-0"), accepted("w0", 2)))
    assert name in broken(history(*events, snapshot(), accepted("w0", 2)))
