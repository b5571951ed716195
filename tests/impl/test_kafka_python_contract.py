"""Statements about kafka-python's ``BaseCoordinator`` that no scenario shows, on a member that does nothing else.

`tests/data/statements/base-coordinator.txt` lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rebalance_check.impl.client.config import ClientConfig, Contract
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.failures import GroupError
from rebalance_check.impl.client.generation import NO_MEMBERSHIP, Generation, MemberState
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    FindCoordinatorRequest,
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupReply,
    LeaveGroupRequest,
    MemberIdentity,
    MemberRequest,
    SyncAssignment,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.runtime.metrics import Metrics
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import CoordinatorLost
from tests.impl.bare_member import (
    FOLLOWS,
    LEADS,
    MEMBERS,
    SYNCED,
    Bare,
    answer,
    bare,
    joining,
    recorded,
    sent,
    stable,
    syncing,
)
from tests.impl.found_coordinator import FOUND, with_coordinator


@pytest.fixture(autouse=True)
def _forget() -> None:
    recorded.clear()


# ----------------------------------------------------------------------------------------------------- configuration


DEFAULTS = {
    "heartbeat_interval_ms": 3_000, "rebalance_timeout_ms": 300_000, "retry_backoff_ms": 100,
    "group_instance_id": None, "session_timeout_ms": 45_000,
}  # fmt: skip


@pytest.mark.parametrize("setting", [*DEFAULTS])
def test_a_setting_that_is_not_given_has_its_default(setting: str) -> None:
    assert getattr(ClientConfig(group_id="g"), setting) == DEFAULTS[setting]


def test_a_heartbeat_interval_as_long_as_the_session_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="choose one above 0 and below"):
        ClientConfig(group_id="g", heartbeat_interval_ms=9_000, session_timeout_ms=9_000)


def test_a_prefix_names_the_group_of_the_metrics() -> None:
    class Named(Bare):
        metric_prefix = "mine"

    client = Named(ClientConfig(group_id="g"), Recorder("g", "m0", lambda: 0, recorded.append), member="m0")
    client.register_metrics(metrics := Metrics())
    assert {metric.group for metric in metrics} == {"mine-coordinator-metrics"}


# ----------------------------------------------------------------------------------------------------- the subclass


@pytest.mark.parametrize(
    "method", ["protocol_type", "metadata", "on_join_prepare", "perform_assignment", "on_join_complete"]
)
def test_a_member_that_lacks_a_method_cannot_be_made(method: str) -> None:
    lacking = type("Lacking", (Bare,), {method: getattr(Coordinator, method)})
    with pytest.raises(TypeError, match=f"abstract method '?{method}"):
        lacking(ClientConfig(group_id="g"), Recorder("g", "m0", lambda: 0, recorded.append), member="m0")


def test_each_method_gets_the_membership_that_it_is_about() -> None:
    client = stable(LEADS)
    client.request_rejoin("asked")
    client.poll(0)
    answer(client, FOLLOWS)
    assert client.calls == [
        ("prepare", -1, ""),
        ("assign", "id", "p", MEMBERS),
        ("complete", 1, "id", "p", b"work"),
        ("prepare", 1, "id"),
    ]


@pytest.mark.parametrize(("contract", "times"), [(Contract.JAVA, 1), (Contract.KAFKA_PYTHON, 2)])
def test_a_preparation_that_raised_is_repeated_in_kafka_python__and_not_in_java(contract: Contract, times: int) -> None:
    client = with_coordinator(bare(contract=contract))
    client.raising = {"prepare"}
    with pytest.raises(ValueError, match="prepare"):
        client.poll(0)
    assert sent(client) == []
    client.raising = set()
    client.poll(0)
    assert [type(request) for request in sent(client)] == [JoinGroupRequest]
    assert client.calls == [("prepare", -1, "")] * times


def test_the_member_is_stable_and_sends_heartbeats_while_it_prepares() -> None:
    client = stable()
    seen: list[object] = []

    def during() -> None:
        client.tick(3_000)
        seen.append((client.generation_if_stable(), sent(client)[0].__class__))

    client.during = during
    client.request_rejoin("asked")
    client.poll(3_000)
    assert seen == [(Generation(1, "id", "p"), HeartbeatRequest)]


def test_an_assignor_that_raises_fails_the_join__which_the_application_may_repeat() -> None:
    client = joining()
    client.raising = {"assign"}
    with pytest.raises(ValueError, match="assign"):
        answer(client, LEADS)
    assert sent(client) == []
    client.poll(0)
    assert [type(request) for request in sent(client)] == [JoinGroupRequest]


# ------------------------------------------------------------------------------------------------------ the requests


def heartbeat(client: Bare) -> None:
    client.tick(3_000)


def leave(client: Bare) -> None:
    client.maybe_leave_group("enough", 0)


REQUESTS: list[Any] = [
    pytest.param(
        bare, lambda client: client.poll(0),
        FindCoordinatorRequest(group_id="g", version=4, client_id="c"), id="FindCoordinator",
    ),
    pytest.param(
        joining, bool,
        JoinGroupRequest(
            group_id="g", version=9, client_id="c", session_timeout_ms=9_000, rebalance_timeout_ms=20_000,
            member_id="", protocol_type="bare",
            protocols=(JoinProtocol("p", b"first"), JoinProtocol("q", b"second")),
        ), id="JoinGroup",
    ),
    pytest.param(
        syncing, bool,
        SyncGroupRequest(
            group_id="g", version=5, client_id="c", generation_id=1, member_id="id", protocol_type="bare",
            protocol_name="p",
        ), id="SyncGroup of a follower",
    ),
    pytest.param(
        lambda **settings: syncing(LEADS, **settings), bool,
        SyncGroupRequest(
            group_id="g", version=5, client_id="c", generation_id=1, member_id="id", protocol_type="bare",
            protocol_name="p", assignments=(SyncAssignment("id", b"work"), SyncAssignment("other", b"more")),
        ), id="SyncGroup of a leader",
    ),
    pytest.param(
        stable, heartbeat,
        HeartbeatRequest(group_id="g", version=4, client_id="c", generation_id=1, member_id="id"), id="Heartbeat",
    ),
    pytest.param(
        stable, leave,
        LeaveGroupRequest(group_id="g", version=5, client_id="c", members=(MemberIdentity("id", None, "enough"),)),
        id="LeaveGroup",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "act", "request_"), REQUESTS)
def test_a_request_says_all_that_the_coordinator_needs(
    make: Callable[..., Bare], act: Callable[[Bare], object], request_: MemberRequest
) -> None:
    client = make(client_id="c", session_timeout_ms=9_000, rebalance_timeout_ms=20_000)
    act(client)
    assert sent(client) == [request_]


@pytest.mark.parametrize(
    ("make", "act"),
    [(joining, bool), (syncing, bool), (stable, heartbeat)],
    ids=["JoinGroup", "SyncGroup", "Heartbeat"],
)
def test_a_static_member_says_its_instance_id(make: Callable[..., Bare], act: Callable[[Bare], object]) -> None:
    client = make(group_instance_id="i")
    act(client)
    assert [getattr(request, "group_instance_id", None) for request in sent(client)] == ["i"]


@pytest.mark.parametrize("api", ["JoinGroup", "LeaveGroup"])
def test_a_reason_is_cut_to_255_characters(api: str) -> None:
    client = stable()
    if api == "JoinGroup":
        client.request_rejoin("x" * 300)
        client.poll(0)
    else:
        client.maybe_leave_group("x" * 300, 0)
    (request,) = sent(client)
    said = request.members[0].reason if isinstance(request, LeaveGroupRequest) else getattr(request, "reason", None)
    assert said == "x" * 255


# ------------------------------------------------------------------------------------------------------- the look-up


def test_a_new_member_belongs_to_nothing_and_wants_to_join() -> None:
    client = bare()
    assert (client.state, client.generation(), client.coordinator) == (MemberState.UNJOINED, NO_MEMBERSHIP, None)
    assert (client.rejoin_needed_or_pending(), client.coordinator_unknown()) == (True, True)


def test_a_member_says_whether_it_knows_its_coordinator__and_looks_it_up_once() -> None:
    client = bare()
    assert not client.ensure_coordinator_ready(0)
    assert not client.ensure_coordinator_ready(5_000)
    ((number, request),) = client.take_requests()
    client.receive(number, FOUND, 0)
    assert client.ensure_coordinator_ready(0)
    assert isinstance(request, FindCoordinatorRequest)
    assert sent(client) == []


def test_a_second_look_up_follows_when_the_coordinator_is_lost_again() -> None:
    client = with_coordinator(bare())
    client.coordinator_disconnected(0)
    assert client.coordinator_unknown()
    assert not client.ensure_coordinator_ready(99)
    assert sent(client) == []
    assert not client.ensure_coordinator_ready(100)
    assert [type(request) for request in sent(client)] == [FindCoordinatorRequest]


def test_a_coordinator_that_is_unknown_cannot_be_lost() -> None:
    client = with_coordinator(bare())
    client.coordinator_disconnected(0)
    client.coordinator_disconnected(0)
    assert len([event for event in recorded if isinstance(event, CoordinatorLost)]) == 1


def test_nothing_is_prepared_and_nothing_sent_until_the_coordinator_is_known() -> None:
    client = bare()
    client.poll(0)
    assert (client.calls, len(sent(client))) == ([], 1)


def test_a_refused_look_up_is_raised_once() -> None:
    client = bare()
    client.poll(0)
    with pytest.raises(GroupError, match="GROUP_AUTHORIZATION_FAILED"):
        answer(client, FindCoordinatorReply(error=Error.GROUP_AUTHORIZATION_FAILED))
    client.poll(100)
    assert [type(request) for request in sent(client)] == [FindCoordinatorRequest]


def test_the_node_that_the_answer_names_is_the_coordinator() -> None:
    client = bare()
    client.poll(0)
    answer(client, FindCoordinatorReply(node_id=7, host="h", port=9))
    assert client.coordinator == (7, "h", 9)


# ------------------------------------------------------------------------------------------------------------- joins


def test_a_join_under_way_is_continued__and_done_when_the_member_is_stable() -> None:
    client = with_coordinator(bare(contract=Contract.JAVA))
    assert not client.ensure_active_group(0)
    assert not client.ensure_active_group(50_000)
    ((number, _),) = client.take_requests()
    client.receive(number, FOLLOWS, 0)
    client.poll(0)
    assert not client.ensure_active_group(0)
    answer(client, SYNCED)
    assert client.ensure_active_group(0)
    assert sent(client) == []


def test_the_state_says_how_far_a_join_is() -> None:
    assert [make().state for make in (bare, joining, syncing, stable)] == [*MemberState]


def test_a_generation_is_stable_when_the_sync_is_answered() -> None:
    generation = Generation(1, "id", "p")
    assert (syncing().generation(), syncing().generation_if_stable()) == (generation, None)
    assert stable().generation_if_stable() == generation


def test_a_request_to_rejoin_keeps_the_membership() -> None:
    client = stable()
    assert not client.rejoin_needed_or_pending()
    client.request_rejoin("asked")
    assert client.rejoin_needed_or_pending()
    assert (client.generation_if_stable(), sent(client)) == (Generation(1, "id", "p"), [])


@pytest.mark.parametrize(
    "reply", [Error.GROUP_AUTHORIZATION_FAILED, Error.UNKNOWN_SERVER_ERROR], ids=["no rights", "unexpected"]
)
def test_a_join_that_was_refused_for_good_is_raised_once__and_the_next_poll_joins(reply: Error) -> None:
    client = joining()
    with pytest.raises(GroupError, match=reply.name):
        answer(client, JoinGroupReply(error=reply))
    client.poll(0)
    assert [type(request) for request in sent(client)] == [JoinGroupRequest]


def test_no_sync_is_sent_when_the_coordinator_was_lost_while_the_answer_waited() -> None:
    client = joining()
    ((number, _),) = client.take_requests()
    client.receive(number, FOLLOWS, 0)
    client.coordinator_disconnected(0)
    client.poll(0)
    assert sent(client) == []
    client.poll(100)
    answer(client, FOUND, 100)
    assert [type(request) for request in sent(client)] == [JoinGroupRequest]


def test_no_join_group_is_sent_without_a_coordinator() -> None:
    client = with_coordinator(bare())
    client.during = lambda: client.coordinator_disconnected(0)
    client.poll(0)
    assert (client.calls, sent(client)) == ([("prepare", -1, "")], [])


def test_a_sync_of_another_kind_of_group_is_fatal() -> None:
    client = syncing()
    with pytest.raises(GroupError, match=r"INCONSISTENT_GROUP_PROTOCOL \(the coordinator echoes 'connect'"):
        answer(client, SyncGroupReply(assignment=b"work", protocol_type="connect", protocol_name="p"))


def test_a_reset_ends_the_membership_and_asks_for_a_rejoin() -> None:
    client = stable()
    client.tick(3_000)
    ((number, _),) = client.take_requests()
    client.receive(number, HeartbeatReply(error=Error.UNKNOWN_MEMBER_ID), 3_000)
    assert (client.state, client.rejoin_needed_or_pending()) == (MemberState.UNJOINED, True)
    assert client.generation() == (-1, "", None)


# -------------------------------------------------------------------------------------------------------- heartbeats


def test_the_time_to_the_next_heartbeat_runs_from_the_end_of_the_join() -> None:
    assert [make().time_to_next_heartbeat(0) for make in (bare, joining, syncing)] == [None] * 3
    client = stable()
    assert [client.time_to_next_heartbeat(now_ms) for now_ms in (0, 1_000, 3_000, 4_000)] == [3_000, 2_000, 0, 0]
    client.tick(3_000)
    assert client.time_to_next_heartbeat(3_000) == 3_000


def test_a_heartbeat_that_failed_is_repeated_after_the_backoff() -> None:
    client = stable()
    client.tick(3_000)
    answer(client, HeartbeatReply(error=Error.GROUP_AUTHORIZATION_FAILED), 3_000)
    assert client.time_to_next_heartbeat(3_000) == 100


@pytest.mark.parametrize(
    ("error", "is_alive"),
    [(Error.NONE, True), (Error.GROUP_AUTHORIZATION_FAILED, False)],
    ids=["NONE", "GROUP_AUTHORIZATION_FAILED"],
)
def test_a_heartbeat_restarts_the_session__where_the_member_is_known(error: Error, is_alive: bool) -> None:
    client = stable(session_timeout_ms=9_000)
    client.tick(3_000)
    answer(client, HeartbeatReply(error=error), 3_000)
    client.tick(9_000)
    assert client.coordinator_unknown() is not is_alive


def test_a_fenced_member_sends_no_more_heartbeats() -> None:
    client = stable(group_instance_id="i")
    client.tick(3_000)
    ((number, _),) = client.take_requests()
    client.receive(number, HeartbeatReply(error=Error.FENCED_INSTANCE_ID), 3_000)
    client.tick(9_000)
    assert (sent(client), client.next_deadline()) == ([], None)


def test_the_thread_does_one_thing_at_a_time__the_session_before_the_poll_interval() -> None:
    client = stable(session_timeout_ms=9_000, rebalance_timeout_ms=9_000)
    client.tick(9_000)
    assert (sent(client), client.coordinator_unknown(), client.state) == ([], True, MemberState.STABLE)


def test_no_heartbeat_is_sent_before_it_is_due__or_without_a_coordinator() -> None:
    client = stable()
    client.tick(2_999)
    assert sent(client) == []
    client.coordinator_disconnected(2_999)
    client.tick(3_099)
    assert [type(request) for request in sent(client)] == [FindCoordinatorRequest]


def test_the_next_deadline_is_the_earliest_of_heartbeat__session_and_poll_interval() -> None:
    dues = {
        stable().next_deadline(): 3_000,
        stable(rebalance_timeout_ms=2_000).next_deadline(): 2_000,
        bare().next_deadline(): None,
    }
    assert [*dues] == [*dues.values()]


def test_a_poll_begins_the_poll_interval_anew() -> None:
    client = stable(rebalance_timeout_ms=20_000)
    client.poll_heartbeat(15_000)
    client.tick(20_000)
    assert client.state is MemberState.STABLE
    assert not [request for request in sent(client) if isinstance(request, LeaveGroupRequest)]


# ----------------------------------------------------------------------------------------------------------- leaving


def lost(client: Bare) -> Bare:
    client.coordinator_disconnected(0)
    return client


def named(client: Bare) -> Bare:
    """A member that got an id and no generation."""
    answer(client, JoinGroupReply(error=Error.MEMBER_ID_REQUIRED, member_id="id"))
    return client


@pytest.mark.parametrize(
    ("make", "leaves"),
    [
        (stable, True),
        (syncing, True),
        (lambda: lost(stable()), False),
        (bare, False),
        (joining, False),
        (lambda: named(joining()), True),
        (lambda: stable(group_instance_id="i"), False),
    ],
    ids=["stable", "joined", "coordinator unknown", "unjoined", "no member id", "a member id alone", "static"],
)
def test_a_member_sends_leave_group_where_there_is_something_to_leave(make: Callable[[], Bare], leaves: bool) -> None:
    client = make()
    client.take_requests()
    assert client.close(0)
    assert [type(request) for request in sent(client)] == [LeaveGroupRequest] * leaves
    assert (client.state, client.generation()) == (MemberState.UNJOINED, NO_MEMBERSHIP)


def test_a_member_that_was_expelled_has_nothing_to_leave() -> None:
    client = stable(contract=Contract.JAVA)
    client.tick(3_000)
    ((number, _),) = client.take_requests()
    client.receive(number, HeartbeatReply(error=Error.ILLEGAL_GENERATION), 3_000)
    assert client.member_id() == "id"
    client.close(3_000)
    assert sent(client) == []


def test_a_member_that_left_may_join_again() -> None:
    client = stable()
    client.maybe_leave_group("enough", 0)
    answer(client, LeaveGroupReply())
    ((_, join),) = client.take_requests()
    assert isinstance(join, JoinGroupRequest)
    assert join.member_id == ""


def test_a_closed_member_has_nothing_to_do() -> None:
    client = stable()
    assert client.close(0)
    client.take_requests()
    client.tick(9_000)
    assert (sent(client), client.next_deadline(), client.next_poll()) == ([], None, None)


@pytest.mark.parametrize("reply", [LeaveGroupReply(), LeaveGroupReply(error=Error.UNKNOWN_MEMBER_ID), None])
def test_no_answer_to_a_leave_group_changes_anything(reply: LeaveGroupReply | None) -> None:
    client = stable()
    client.close(0)
    ((number, _),) = client.take_requests()
    client.receive(number, reply, 0)
    assert (sent(client), client.generation(), client.closed) == ([], NO_MEMBERSHIP, True)


# ----------------------------------------------------------------------------------------------------------- metrics


def test_a_join_or_a_sync_that_failed_is_not_measured() -> None:
    client = joining()
    answer(client, JoinGroupReply(error=Error.REBALANCE_IN_PROGRESS))
    answer(client, FOLLOWS)
    answer(client, SyncGroupReply(error=Error.REBALANCE_IN_PROGRESS))
    values = client.metric_values(0)
    assert (values["join-total"], values["sync-total"]) == (1, 0)


def test_a_join_that_succeeds_too_late_is_measured() -> None:
    client = joining()
    ((number, _),) = client.take_requests()
    client.maybe_leave_group("enough", 0)
    client.receive(number, FOLLOWS, 40)
    client.poll(40)
    assert client.state is MemberState.UNJOINED
    assert client.metric_values(40)["join-time-max"] == 40


@pytest.mark.parametrize(
    ("reply", "measured"),
    [(HeartbeatReply(), 1), (HeartbeatReply(error=Error.UNKNOWN_MEMBER_ID), 1), (None, 0)],
    ids=["NONE", "an error", "no answer"],
)
def test_a_heartbeat_is_measured_by_its_answer(reply: HeartbeatReply | None, measured: int) -> None:
    client = stable()
    client.tick(3_000)
    ((number, _),) = client.take_requests()
    client.receive(number, reply, 3_070)
    values = client.metric_values(3_070)
    assert values["heartbeat-total"] == measured
    assert not measured or values["heartbeat-response-time-max"] == 70


def test_a_join_and_a_sync_are_measured_from_request_to_answer() -> None:
    client = joining()
    ((number, _),) = client.take_requests()
    client.receive(number, FOLLOWS, 40)
    client.poll(40)
    ((number, _),) = client.take_requests()
    client.receive(number, SYNCED, 100)
    values = client.metric_values(100)
    assert (values["join-time-avg"], values["join-time-max"]) == (40, 40)
    assert (values["sync-time-avg"], values["sync-time-max"]) == (60, 60)


def test_a_member_measures_without_a_registry() -> None:
    client = stable()
    assert (client.metrics.join.total, client.metrics.sync.total) == (1, 1)
