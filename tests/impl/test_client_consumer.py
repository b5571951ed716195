"""A consumer of one group, as far as scenarios do not show it: inside of a callback, and values that no line has."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.client.committing import CommitOutcome
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.consumer import common_protocol
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.client.listener import RebalanceListener
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    read_subscription,
    write_subscription,
)
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorRequest,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    OffsetCommitReply,
    OffsetCommitRequest,
    SyncGroupReply,
)
from rebalance_check.impl.protocol.sticky_user_data import write_cooperative
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


@pytest.mark.parametrize(
    ("assignors", "protocol"),
    [
        ("cooperative-sticky", RebalanceProtocol.COOPERATIVE),
        ("range,cooperative-sticky", RebalanceProtocol.EAGER),
        ("cooperative-sticky,range", RebalanceProtocol.EAGER),
    ],
    ids=["cooperative", "eager first", "eager last"],
)
def test_the_protocol_is_the_highest_that_all_assignors_support(assignors: str, protocol: RebalanceProtocol) -> None:
    assert consumer_after(f"member cooperative assignors={assignors}").member.protocol is protocol


class Careless(RoundRobinAssignor):
    """Claims to be fit for COOPERATIVE members and moves their partitions at once."""

    name = "careless"
    protocols = frozenset({RebalanceProtocol.COOPERATIVE})


@pytest.mark.parametrize(
    ("assignors", "sentence"),
    [
        ([RangeAssignor(), RangeAssignor()], r"the assignors are \['range', 'range'\]: .* each only once"),
        ([], r"the assignors are \[\]: name at least one"),
        ([RangeAssignor(), Careless()], r"\['range', 'careless'\] have no rebalance protocol in common"),
    ],
    ids=["twice", "none", "nothing in common"],
)
def test_assignors_that_a_consumer_cannot_have_are_refused(assignors: list[Assignor], sentence: str) -> None:
    with pytest.raises(RebalanceCheckError, match=sentence):
        common_protocol(assignors)


def test_revoked_partitions_are_owned_until_the_callback_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    owned: list[tuple[TopicPartition, ...]] = []

    def on_partitions_revoked(scenario: ClientScenario, _: Sequence[TopicPartition]) -> None:
        owned.append(tuple(scenario.member.owned))

    monkeypatch.setattr(ClientScenario, "on_partitions_revoked", on_partitions_revoked)
    consumer_after("member eager", *REBALANCES)
    assert owned == [(T0, T1)]


COMPLETES = (
    "member cooperative",
    *STABLE,
    "rejoin",
    "poll",
    "joined 2",
    "poll",
    "reply SyncGroup NONE assigned=t-1,t-2",
)
"""The next poll revokes t-0 and is assigned t-2."""


def test_of_two_callbacks_that_raise_both_are_called__and_the_first_is_raised() -> None:
    scenario = consumer_after(*COMPLETES)
    scenario.failing = {"revoked", "assigned"}
    assert scenario.do(scenario.poll) == "revoked t-0; assigned t-2; raises what the callback of revoked raises"
    assert scenario.member.owned == (T1, T2)


def test_the_assignor_hears_of_its_assignment_between_the_callbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[object]()

    class Listening(CooperativeStickyAssignor):
        def on_assignment(self, assignment: Assignment, generation: int) -> None:
            seen.append((assignment.partitions, generation))

    monkeypatch.setitem(ASSIGNORS, "cooperative-sticky", Listening)
    monkeypatch.setattr(ClientScenario, "on_partitions_revoked", lambda _, gone: seen.append(("revoked", *gone)))
    monkeypatch.setattr(ClientScenario, "on_partitions_assigned", lambda _, new: seen.append(("assigned", *new)))
    scenario = consumer_after(*COMPLETES)
    seen.clear()
    scenario.poll()
    assert seen == [("revoked", T0), ((T1, T2), 2), ("assigned", T2)]


def test_what_a_cooperative_member_revokes_can_be_committed_in_the_new_generation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def on_partitions_revoked(scenario: ClientScenario, _: Sequence[TopicPartition]) -> None:
        scenario.commits.append(scenario.member.commit({T0: 5}, scenario.now_ms))

    monkeypatch.setattr(ClientScenario, "on_partitions_revoked", on_partitions_revoked)
    scenario = consumer_after(*COMPLETES)
    assert "OffsetCommit g2 t-0:5" in scenario.do(scenario.poll)


def subscriptions_of(scenario: ClientScenario) -> dict[str, Subscription]:
    """The member's subscription in each protocol that its last JoinGroup offers, all in the highest version."""
    request = scenario.in_flight[-1][1]
    assert isinstance(request, JoinGroupRequest)
    assert {protocol.metadata[:2] for protocol in request.protocols} == {b"\x00\x03"}
    return {protocol.name: read_subscription(protocol.metadata) for protocol in request.protocols}


def test_each_protocol_has_the_user_data_of_its_own_assignor() -> None:
    scenario = consumer_after("member eager assignors=range,cooperative-sticky", "poll")
    user_data = {name: said.user_data for name, said in subscriptions_of(scenario).items()}
    assert user_data == {"range": None, "cooperative-sticky": write_cooperative(-1)}


def test_a_cooperative_member_says_its_claims__its_generation_and_its_rack() -> None:
    scenario = consumer_after("member cooperative", *STABLE)
    scenario.member.rack = "r1"
    scenario.member.request_rejoin("tried")
    scenario.do(scenario.poll)
    said = Subscription(topics=("t", "u"), owned=(T0, T1), generation=1, rack="r1", user_data=write_cooperative(1))
    assert subscriptions_of(scenario) == {"cooperative-sticky": said}


def test_an_assignment_without_bytes_is_raised_by_every_poll_while_the_partitions_stay() -> None:
    scenario = consumer_after("member cooperative", *REBALANCES, "joined 2", "poll")
    scenario.answer("SyncGroup", SyncGroupReply(assignment=b""))
    for _ in range(2):
        with pytest.raises(RebalanceCheckError, match="consumer assignment"):
            scenario.poll()
    assert (scenario.member.owned, scenario.member.state) == ((T0, T1), MemberState.STABLE)


class Negligent(Careless):
    """As `Careless`, under the name of the assignor that withholds."""

    name = "cooperative-sticky"


def leads_and_moves_at_once(assignor: str) -> ClientScenario:
    """A member that leads with this assignor while another claims all partitions; it has yet to poll."""
    scenario = consumer_after(f"member cooperative assignors={assignor}", "poll")
    owner = Subscription(topics=("t",), owned=(T0, T1, T2), generation=1)
    members = (
        JoinedMember("id", write_subscription(Subscription(topics=("t",)))),
        JoinedMember("x", write_subscription(owner)),
    )
    scenario.answer(
        "JoinGroup",
        JoinGroupReply(generation_id=2, protocol_name=assignor, leader="id", member_id="id", members=members),
    )
    return scenario


def test_a_cooperative_leader_refuses_to_move_a_partition_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ASSIGNORS, "careless", Careless)
    with pytest.raises(RebalanceCheckError, match="moves t-0 straight"):
        leads_and_moves_at_once("careless").poll()


@pytest.mark.parametrize("assignor", ["roundrobin", "cooperative-sticky"])
def test_an_eager_leader_is_not_checked__nor_is_cooperative_sticky(
    monkeypatch: pytest.MonkeyPatch, assignor: str
) -> None:
    monkeypatch.setitem(ASSIGNORS, "cooperative-sticky", Negligent)
    leader = leads_and_moves_at_once(assignor)
    assert leader.do(leader.poll) == "SyncGroup g2 assigning to id x"


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


def test_a_listener_without_a_callback_for_losses_learns_of_a_revocation() -> None:
    class Releasing(RebalanceListener):
        def __init__(self) -> None:
            self.released: list[TopicPartition] = []

        def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
            self.released += partitions

    listener = Releasing()
    listener.on_partitions_lost((TopicPartition("t", 0),))
    assert listener.released == [TopicPartition("t", 0)]
