"""A consumer of one group, as far as scenarios do not show it: inside of a callback, and values that no line has."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.client.committing import CommitOutcome
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.protocol.consumer_protocol import Subscription, write_subscription
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorRequest,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    OffsetCommitReply,
    OffsetCommitRequest,
    SyncGroupReply,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.scenarios import Scenario
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import OffsetCommitted
from tests.impl.client_scenarios import ASSIGNORS, LANGUAGE, ClientScenario
from tests.impl.found_coordinator import FOUND

T0, T1, T2 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("t", 2)


def consumer_after(*lines: str) -> ClientScenario:
    """A consumer to which this has happened."""
    scenario = ClientScenario()
    LANGUAGE.answers(scenario, Scenario.of(lines))
    return scenario


STABLE = ("stable 1 assigned=t-0,t-1",)
REBALANCES = (*STABLE, "advance 3000", "reply Heartbeat REBALANCE_IN_PROGRESS", "poll")


def test_the_protocol_is_the_highest_that_all_assignors_support() -> None:
    assert consumer_after("member cooperative").member.protocol is RebalanceProtocol.COOPERATIVE
    both = consumer_after("member cooperative assignors=range,cooperative-sticky")
    assert both.member.protocol is RebalanceProtocol.EAGER


def test_two_assignors_of_one_name_are_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="each only once"):
        consumer_after("member eager assignors=range,range")


def test_revoked_partitions_are_owned_until_the_callback_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    owned: list[tuple[TopicPartition, ...]] = []

    def on_partitions_revoked(scenario: ClientScenario, _: Sequence[TopicPartition]) -> None:
        owned.append(tuple(scenario.member.owned))

    monkeypatch.setattr(ClientScenario, "on_partitions_revoked", on_partitions_revoked)
    consumer_after("member eager", *REBALANCES)
    assert owned == [(T0, T1)]


def test_an_assignment_without_bytes_is_raised_by_every_poll_while_the_partitions_stay() -> None:
    scenario = consumer_after("member cooperative", *REBALANCES, "joined 2", "poll")
    scenario.answer("SyncGroup", SyncGroupReply(assignment=b""))
    for _ in range(2):
        with pytest.raises(RebalanceCheckError, match="consumer assignment"):
            scenario.poll()
    assert (scenario.member.owned, scenario.member.state) == ((T0, T1), MemberState.STABLE)


class Careless(RoundRobinAssignor):
    """Claims to be fit for COOPERATIVE members and moves their partitions at once."""

    name = "careless"
    protocols = frozenset({RebalanceProtocol.COOPERATIVE})


def test_a_cooperative_leader_refuses_to_move_a_partition_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ASSIGNORS, "careless", Careless)
    scenario = consumer_after("member cooperative assignors=careless", "poll")
    owner = Subscription(topics=("t",), owned=(T0, T1, T2), generation=1)
    members = (
        JoinedMember("id", write_subscription(Subscription(topics=("t",)))),
        JoinedMember("x", write_subscription(owner)),
    )
    scenario.answer(
        "JoinGroup",
        JoinGroupReply(generation_id=2, protocol_name="careless", leader="id", member_id="id", members=members),
    )
    with pytest.raises(RebalanceCheckError, match="moves t-0 straight"):
        scenario.poll()


def test_a_commit_is_tagged_with_its_generation__reported_per_partition__and_unknown_without_a_reply() -> None:
    scenario = consumer_after("member eager", *STABLE)
    scenario.member.commit({T1: 7, T0: 5}, 0)
    scenario.do(lambda: None)
    ((_, request),) = scenario.in_flight
    assert isinstance(request, OffsetCommitRequest)
    assert (request.generation_id, request.member_id) == (1, "id")
    scenario.answer(
        "OffsetCommit", OffsetCommitReply(partitions=(("t", 0, Error.NONE), ("t", 1, Error.ILLEGAL_GENERATION)))
    )
    lost = consumer_after("member eager", *STABLE, "commit t-0 offset=5")
    lost.answer("OffsetCommit", None)
    assert (lost.commits[0].outcome, lost.commits[0].error) == (CommitOutcome.RETRIABLE, None)
    seen = [event for event in (*scenario.events, *lost.events) if isinstance(event, OffsetCommitted)]
    assert {(event.generation, event.member_id) for event in seen} == {(1, "id")}
    assert {(event.partition, event.offset, event.error) for event in seen} == {
        ("t-0", 5, None), ("t-0", 5, "NONE"), ("t-1", 7, "ILLEGAL_GENERATION"),
    }  # fmt: skip


def test_a_commit_before_joining_is_repeated_until_the_rebalance_timeout() -> None:
    scenario = consumer_after("member eager auto-commit=5000", *STABLE, "consumed t-0 to=5", *REBALANCES[1:])
    start_ms, config = scenario.now_ms, scenario.config
    while scenario.now_ms < start_ms + config.rebalance_timeout_ms - 200:
        scenario.answer("OffsetCommit", OffsetCommitReply(partitions=(("t", 0, Error.COORDINATOR_LOAD_IN_PROGRESS),)))
        assert scenario.do(scenario.poll) == ""
        scenario.now_ms += config.retry_backoff_ms
        assert scenario.do(scenario.poll).startswith("OffsetCommit")
    scenario.now_ms += 300
    assert scenario.do(scenario.poll) == "revoked t-0,t-1; JoinGroup as id"
    assert isinstance(scenario.in_flight[-1][1], JoinGroupRequest)


def test_a_commit_that_is_due_waits_for_the_coordinator_without_polls() -> None:
    scenario = consumer_after("member eager auto-commit=5000", *STABLE, "consumed t-0 to=5")
    scenario.looks_up = True
    scenario.member.coordinator_disconnected(scenario.now_ms)
    scenario.now_ms += 6_000
    scenario.do(scenario.poll)
    assert isinstance(scenario.in_flight[-1][1], FindCoordinatorRequest)
    assert scenario.member.next_poll() is None
    scenario.answer("FindCoordinator", FOUND)
    assert (scenario.member.next_poll() or 0) <= scenario.now_ms
    assert scenario.do(scenario.poll).startswith("OffsetCommit")


def test_what_is_not_owned_cannot_be_consumed() -> None:
    with pytest.raises(RebalanceCheckError, match="does not own t-2"):
        consumer_after("member eager", *STABLE).member.consumed(T2, 1)


def test_a_heartbeat_interval_beyond_the_session_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="heartbeat_interval_ms is 10000"):
        ClientConfig(group_id="g", session_timeout_ms=10_000, heartbeat_interval_ms=10_000)
