"""A member or an assignor of one's own: refusals, the order of calls, ids, user data, enforced rebalances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.impl.assignors.assignor import Assignor, GroupAssignment, GroupSubscription, Racks, protocol_for_id
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.tasks import AssignmentInfo, SubscriptionInfo, TaskAssignor
from rebalance_check.impl.client.config import ClientConfig, Contract, read_settings
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.coordinator import Coordinator
from rebalance_check.impl.client.generation import NO_MEMBERSHIP, Generation, MemberState
from rebalance_check.impl.protocol.consumer_protocol import Assignment, Subscription, write_assignment
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    HeartbeatReply,
    JoinGroupReply,
    JoinGroupRequest,
    MemberReply,
    SyncGroupReply,
)
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.loopback import Loopback
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import RebalanceEnforced
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Violated


def consumer(
    environment: Loopback,
    member: str,
    assignor: Assignor,
    kind: type[ConsumerCoordinator] = ConsumerCoordinator,
    contract: Contract = Contract.JAVA,
) -> ConsumerCoordinator:
    config = ClientConfig(
        group_id="g", client_id=member, session_timeout_ms=10_000, rebalance_timeout_ms=30_000, contract=contract
    )

    def build(recorder: Recorder) -> ConsumerCoordinator:
        return kind(
            config, recorder, member=member, topics=("t", "u"), assignors=[assignor],
            partitions_per_topic={"t": 4, "u": 2},
        )  # fmt: skip

    return environment.add(build, group="g", member=member)


# ------------------------------------------------------------------------------------------------------------ KIP-795


@pytest.mark.parametrize("offered", [[], [("range", b""), ("range", b"")]], ids=["none", "twice"])
def test_a_member_that_offers_no_protocol_or_one_twice_is_refused_before_it_joins(
    offered: list[tuple[str, bytes]],
) -> None:
    class Careless(ConsumerCoordinator):
        def metadata(self) -> list[tuple[str, bytes]]:
            return offered

    environment = Loopback()
    client = consumer(environment, "m0", RangeAssignor(), Careless)
    with pytest.raises(RebalanceCheckError, match=r"metadata\(\) of m0 offers the protocols .*: offer at least one"):
        environment.run(1_000)
    assert client.state is MemberState.UNJOINED
    assert not [sent for _, sent in client.take_requests() if isinstance(sent, JoinGroupRequest)]


def test_a_generation_reads_as_a_sentence_says_it() -> None:
    assert str(Generation(3, "m0-1", "range")) == "generation 3 of m0-1 (range)"
    assert str(Generation(-1, "m0-1", None)) == "no generation of m0-1"
    assert str(NO_MEMBERSHIP) == "no generation"


class Calls(Coordinator):
    """Writes down which of its methods are called; each in ``later`` is not finished at its first call."""

    def __init__(self, config: ClientConfig, recorder: Recorder, *, member: str) -> None:
        super().__init__(config, recorder, member=member)
        self.calls: list[str] = []
        self.later = {"on_join_prepare", "on_join_complete", "on_close"}

    def note(self, call: str) -> bool:
        self.calls.append(call)
        is_finished = call not in self.later
        self.later.discard(call)
        return is_finished

    def protocol_type(self) -> str:
        return "calls"

    def metadata(self) -> list[tuple[str, bytes]]:
        self.note("metadata")
        return [("p", b"")]

    def on_join_prepare(self, *_: Any, **__: Any) -> bool:
        return self.note("on_join_prepare")

    def perform_assignment(self, leader_id: str, *_: Any, **__: Any) -> Mapping[str, bytes]:
        self.note("perform_assignment")
        return {leader_id: b"x"}

    def on_join_complete(self, *_: Any, **__: Any) -> None:
        if not self.note("on_join_complete"):
            raise ValueError("not yet")

    def on_poll(self) -> None:
        self.note("on_poll")

    def on_poll_timeout(self) -> None:
        self.note("on_poll_timeout")

    def on_leave_prepare(self) -> None:
        self.note("on_leave_prepare")

    def on_close(self) -> bool:
        return self.note("on_close")


def test_the_methods_of_a_member_are_called_in_the_order_that_the_page_shows() -> None:
    environment = Loopback()
    config = ClientConfig(group_id="g", client_id="m0", session_timeout_ms=10_000, rebalance_timeout_ms=30_000)
    client = environment.add(lambda recorder: Calls(config, recorder, member="m0"), group="g", member="m0")
    with pytest.raises(ValueError, match="not yet"):
        environment.run(5_000)
    joins = ["on_join_prepare", "on_join_prepare", "metadata", "metadata", "perform_assignment", "on_join_complete"]
    assert client.calls == joins  # twice metadata: the first JoinGroup only gets a member id
    environment.run(1_000)
    assert client.calls[len(joins) : len(joins) + 2] == ["on_join_complete", "on_poll"]
    assert {*client.calls[len(joins) + 2 :]} == {"on_poll"}

    client.calls.clear()
    environment.stalled.add("m0")
    environment.run(40_000)
    assert client.calls == ["on_poll_timeout"]
    environment.stalled.clear()
    environment.run(5_000)
    assert client.calls[1:5] == ["on_join_prepare", "metadata", "metadata", "perform_assignment"]

    client.calls.clear()
    environment.close("m0")
    assert client.calls == ["on_close", "on_close", "on_leave_prepare"]


# ----------------------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize("dot", [".", "_"])
def test_a_member_reads_its_settings_among_those_of_a_client__and_names_the_others(dot: str) -> None:
    given = {"group.id": "g", "session.timeout.ms": "9000", "max.poll.interval.ms": 60_000, "fetch.min.bytes": 1}
    config, unknown = read_settings({name.replace(".", dot): value for name, value in given.items()})
    assert config == ClientConfig(group_id="g", session_timeout_ms=9_000, rebalance_timeout_ms=60_000)
    assert unknown == (f"fetch{dot}min{dot}bytes",)


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"client.id": "a"}, "the settings client.id name no group: add group.id"),
        ({"group.id": "g", "retry.backoff.ms": "soon"}, "retry.backoff.ms is 'soon': give a whole number"),
        ({"group.id": "g", "heartbeat.interval.ms": "90000"}, "heartbeat_interval_ms is 90000: choose one above 0"),
    ],
    ids=["no group", "no number", "no order"],
)
def test_settings_that_are_wrong_are_named(settings: dict[str, str], wrong: str) -> None:
    with pytest.raises(RebalanceCheckError, match=wrong):
        read_settings(settings)


# ------------------------------------------------------------------------------------------- Java's and kafka-python's


def scripted(contract: Contract) -> tuple[ConsumerCoordinator, Recorder]:
    """A consumer that is a stable member of generation 1, and a heartbeat of it that waits for its answer."""
    recorder = Recorder("g", "m0", lambda: 0, lambda _: None)
    config = ClientConfig(group_id="g", client_id="m0", contract=contract)
    client = ConsumerCoordinator(
        config, recorder, member="m0", topics=("t",), assignors=[RangeAssignor()], partitions_per_topic={"t": 1}
    )
    client.poll(0)
    answer(client, FindCoordinatorReply(node_id=0, host="h", port=9))
    client.poll(0)
    answer(client, JoinGroupReply(generation_id=1, protocol_name="range", leader="x", member_id="m0-1"))
    client.poll(0)
    answer(client, SyncGroupReply(assignment=write_assignment(Assignment())))
    client.poll(0)
    assert client.state is MemberState.STABLE
    return client, recorder


def answer(client: ConsumerCoordinator, reply: MemberReply) -> None:
    [(number, _)] = client.take_requests()
    client.receive(number, reply, 0)


@pytest.mark.parametrize(("contract", "kept"), [(Contract.JAVA, "m0-1"), (Contract.KAFKA_PYTHON, "")])
def test_after_illegal_generation_a_member_keeps_its_id_in_java__and_not_in_kafka_python(
    contract: Contract, kept: str
) -> None:
    client, _ = scripted(contract)
    client.tick(3_000)
    answer(client, HeartbeatReply(error=Error.ILLEGAL_GENERATION))
    assert client.generation() == Generation(-1, kept, None)


def test_the_member_id_of_an_unknown_member_is_dropped_by_both() -> None:
    for contract in Contract:
        client, _ = scripted(contract)
        client.tick(3_000)
        answer(client, HeartbeatReply(error=Error.UNKNOWN_MEMBER_ID))
        assert client.generation() == NO_MEMBERSHIP


@pytest.mark.parametrize("contract", Contract)
def test_kafka_python_sends_no_join_group_while_a_heartbeat_is_in_flight__java_does(contract: Contract) -> None:
    client, _ = scripted(contract)
    client.tick(3_000)
    [(heartbeat, _)] = client.take_requests()
    client.request_rejoin("tried")
    client.poll(3_000)
    joins = [sent for _, sent in client.take_requests() if isinstance(sent, JoinGroupRequest)]
    assert len(joins) == (contract is Contract.JAVA)
    if contract is Contract.KAFKA_PYTHON:
        assert client.next_poll() is None  # the answer wakes the application
        client.receive(heartbeat, HeartbeatReply(), 3_100)
        assert client.next_poll() == 0
        client.poll(3_100)
        assert [type(sent) for _, sent in client.take_requests()] == [JoinGroupRequest]


@pytest.mark.parametrize("contract", Contract)
def test_groups_of_either_contract_and_mixed_ones_come_to_rest(contract: Contract) -> None:
    environment = Loopback()
    for name, rules in (("m0", contract), ("m1", Contract.JAVA), ("m2", contract)):
        consumer(environment, name, CooperativeStickyAssignor(), contract=rules)
        environment.run(4_000)
    environment.kill("m0")
    environment.run(60_000)
    clients = [one for one in environment.clients.values() if isinstance(one, ConsumerCoordinator)]
    owned = [partition for one in clients for partition in one.owned]
    assert len(owned) == len({*owned}) == 6
    assert not [one for one in judge(environment.events).verdicts.values() if isinstance(one, Violated)]


# ------------------------------------------------------------------------------------------------------------ KIP-429


def test_rebalance_protocols_have_the_ids_of_kip_429() -> None:
    assert [protocol_for_id(number) for number in (0, 1)] == [RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE]
    with pytest.raises(RebalanceCheckError, match="2 is the id of no rebalance protocol: 0 is eager, 1 is cooperative"):
        protocol_for_id(2)


def test_an_assignor_needs_a_name_and_assign__and_is_eager_of_version_0() -> None:
    class Least(Assignor):
        name = "least"

        def assign(
            self, partitions_per_topic: Mapping[str, int], subscriptions: GroupSubscription, racks: Racks | None = None
        ) -> GroupAssignment:
            assert partitions_per_topic == {"t": 4, "u": 2}
            assert racks is None
            return dict.fromkeys(subscriptions, ())

    least = Least()
    assert (least.protocols, least.version) == (frozenset({RebalanceProtocol.EAGER}), 0)
    assert least.subscription_user_data(("t",)) is None
    environment = Loopback()
    client = consumer(environment, "m0", least)
    environment.run(5_000)
    assert (client.state, client.protocol, client.owned) == (MemberState.STABLE, RebalanceProtocol.EAGER, ())


@pytest.mark.parametrize("reason", ["", "more partitions"])
def test_an_application_enforces_a_rebalance__with_its_reason(reason: str) -> None:
    environment = Loopback()
    client = consumer(environment, "m0", RangeAssignor())
    environment.run(5_000)
    before = client.generation().generation_id
    client.enforce_rebalance(reason)
    client.poll(environment.now_ms)
    [(_, join)] = client.take_requests()
    assert isinstance(join, JoinGroupRequest)
    assert join.reason == (reason or "rebalance enforced by user")
    assert [event.member for event in environment.events if isinstance(event, RebalanceEnforced)] == ["m0"]
    assert before == 1


# ---------------------------------------------------------------------------------------- user data for the members


def tasks_of(environment: Loopback, names: str) -> dict[str, TaskAssignor]:
    assignors = {name: TaskAssignor(f"http://{name}") for name in names.split()}
    for name, assignor in assignors.items():
        consumer(environment, name, assignor)
        environment.run(5_000)
    return assignors


def test_every_member_learns_where_each_task_is__from_the_leaders_user_data() -> None:
    environment = Loopback()
    assignors = tasks_of(environment, "m0 m1 m2")
    environment.run(10_000)
    owners = {task: {one.address_of(task) for one in assignors.values()} for task in range(4)}
    assert all(len(found) == 1 for found in owners.values())
    for name, assignor in assignors.items():
        client = environment.clients[name]
        assert isinstance(client, ConsumerCoordinator)
        assert {partition.partition for partition in client.owned} == set(assignor.assignment.tasks)
        assert {task for task, where in owners.items() if where == {assignor.address}} == {*assignor.assignment.tasks}
    assert not [one for one in judge(environment.events).verdicts.values() if isinstance(one, Violated)]


def test_tasks_stay_where_they_were__when_a_member_goes() -> None:
    environment = Loopback()
    assignors = tasks_of(environment, "m0 m1 m2")
    environment.run(10_000)
    before = {name: {*one.assignment.tasks} for name, one in assignors.items()}
    environment.close("m2")
    environment.run(10_000)
    for name in ("m0", "m1"):
        assert before[name] <= {*assignors[name].assignment.tasks}


CLAIMS = st.lists(st.integers(-1, 7), max_size=8).map(
    lambda tasks: msgspec.json.encode(SubscriptionInfo("http://there", tuple(tasks)))
)
"""User data as a member writes them, though their tasks may be mistaken, doubled, or those of another member."""


@given(
    sizes=st.dictionaries(st.sampled_from("tuv"), st.integers(0, 6), min_size=1),
    said=st.dictionaries(st.sampled_from("abcde"), st.one_of(st.none(), st.binary(max_size=8), CLAIMS), min_size=1),
)
def test_each_task_goes_to_one_member__balanced__whatever_the_others_say(
    sizes: dict[str, int], said: dict[str, bytes | None]
) -> None:
    subscriptions = {name: Subscription(topics=tuple(sizes), user_data=data) for name, data in said.items()}
    assigned = TaskAssignor("here").assign(sizes, subscriptions)
    given_to = [partition for one in assigned.values() for partition in one.partitions]
    assert sorted(given_to) == sorted({(topic, n) for topic, size in sizes.items() for n in range(size)})
    shares = [len({partition.partition for partition in one.partitions}) for one in assigned.values()]
    assert max(shares) - min(shares) <= 1


def test_a_member_without_the_leaders_user_data_knows_of_no_task() -> None:
    assignor = TaskAssignor("here")
    assert (assignor.assignment, assignor.address_of(0)) == (AssignmentInfo(), None)
