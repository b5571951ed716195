"""An embedded broker with several nodes: each has its port, and the coordinator of a group moves between them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.brokers.local import free_ports
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.embedded.options import BrokerOptions
from rebalance_check.integration.exchange.faults import Effect, Fault, FaultPlan
from rebalance_check.integration.exchange.proxy import RecordingProxy
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import metadata
from rebalance_check.integration.wire.raw_group import RawGroup
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    CoordinatorMoved,
    Event,
    IncarnationStarted,
    MemberRemoved,
    TopicsDescribed,
)


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def broker(events: list[Event]) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker({"t": 4}, nodes=3, listener=events.append, wire_listener=events.append) as started:
        yield started


def join(member_id: str = "") -> msg.JoinGroupRequest:
    return msg.JoinGroupRequest(
        group_id="g", version=3, session_timeout_ms=6_000, rebalance_timeout_ms=6_000, member_id=member_id,
        protocol_type="consumer", protocols=(msg.JoinProtocol("range", b"x"),),
    )  # fmt: skip


def reply_to(group: RawGroup, member: int, request: msg.GroupRequest) -> Any:
    group.request(member, request)
    ((who, reply),) = group.replies(at_least=1, timeout_s=5)
    assert who == member
    return reply


def found(bootstrap: str, group: str = "g") -> Any:
    with Connection(bootstrap) as connection:
        return connection.call(metadata.FindCoordinatorRequest(key=group, key_type=0), 2)


def coordinator(bootstrap: str, group: str = "g") -> int:
    return int(found(bootstrap, group).node_id)


def at_coordinator(bootstrap: str) -> RawGroup:
    where = found(bootstrap)
    return RawGroup(f"{where.host}:{where.port}", "g")


def stable_member(group: RawGroup) -> str:
    """Join alone and sync: the member id."""
    joined = reply_to(group, 0, join())
    assert (joined.error, joined.generation_id) == (Error.NONE, 1)
    sync = msg.SyncGroupRequest(
        group_id="g", version=3, generation_id=1, member_id=joined.member_id,
        assignments=(msg.SyncAssignment(joined.member_id, b"mine"),),
    )  # fmt: skip
    assert reply_to(group, 0, sync).assignment == b"mine"
    return str(joined.member_id)


def test_every_node_listens_and_knows_the_others(broker: EmbeddedBroker) -> None:
    assert len(set(broker.addresses)) == 3
    for address in broker.addresses:
        with Connection(address) as connection:
            answered = connection.call(metadata.MetadataRequest(topics=None), 5)
        assert [f"{each.host}:{each.port}" for each in answered.brokers] == [*broker.addresses]
        leaders = {p.partition_index: p.leader_id for topic in answered.topics for p in topic.partitions}
        assert leaders == {0: 1, 1: 2, 2: 3, 3: 1}


def test_groups_are_spread_over_the_nodes_as_kafka_does(broker: EmbeddedBroker) -> None:
    """``Utils.abs(groupId.hashCode) % 50``: the hash of "g" is 103, that of "consumers" -421004483."""
    assert {name: coordinator(broker.bootstrap, name) for name in ("g", "h", "consumers")} == {
        "g": 3 % 3 + 1, "h": 4 % 3 + 1, "consumers": 33 % 3 + 1,
    }  # fmt: skip


def test_members_keep_their_place_when_the_coordinator_moves(broker: EmbeddedBroker, events: list[Event]) -> None:
    with at_coordinator(broker.bootstrap) as group:
        member_id = stable_member(group)
        broker.move_coordinator("g", 2)
        beat = msg.HeartbeatRequest(group_id="g", version=3, generation_id=1, member_id=member_id)
        assert reply_to(group, 0, beat).error is Error.NOT_COORDINATOR
    assert coordinator(broker.addresses[2]) == 2
    with RawGroup(broker.addresses[1], "g") as group:
        assert reply_to(group, 0, beat).error is Error.NONE
    assert [event.node for event in events if isinstance(event, CoordinatorMoved)] == [2]
    assert [event.incarnation for event in events if isinstance(event, IncarnationStarted)] == [0, 1]


def test_what_is_parked_is_answered_when_the_coordinator_moves(broker: EmbeddedBroker) -> None:
    with at_coordinator(broker.bootstrap) as group:
        stable_member(group)
        group.request(1, join())
        group.barrier()
        broker.move_coordinator("g", 2)
        ((member, reply),) = group.replies(at_least=1, timeout_s=5)
        assert (member, reply.error) == (1, Error.NOT_COORDINATOR)


def test_a_move_to_the_node_that_coordinates_already_changes_nothing(
    broker: EmbeddedBroker, events: list[Event]
) -> None:
    with at_coordinator(broker.bootstrap) as group:
        member_id = stable_member(group)
        broker.move_coordinator("g", coordinator(broker.bootstrap))
        beat = msg.HeartbeatRequest(group_id="g", version=3, generation_id=1, member_id=member_id)
        assert reply_to(group, 0, beat).error is Error.NONE
    assert len([event for event in events if isinstance(event, IncarnationStarted)]) == 1


@pytest.mark.parametrize(
    ("fault", "error", "reasons"),
    [
        (Fault("Heartbeat", Effect.MOVE_COORDINATOR, node=2), Error.NOT_COORDINATOR, []),
        (Fault("Heartbeat", Effect.END_SESSION), Error.UNKNOWN_MEMBER_ID, ["session expired"]),
        (Fault("Heartbeat", Effect.JUMP_CLOCK, jump_ms=7_000), Error.UNKNOWN_MEMBER_ID, ["session expired"]),
    ],
)
@pytest.mark.parametrize("is_proxied", [False, True], ids=["at the broker", "in a proxy"])
def test_faults_of_the_coordinator_are_carried_out(
    broker: EmbeddedBroker, events: list[Event], fault: Fault, error: Error, reasons: list[str], is_proxied: bool
) -> None:
    with at_coordinator(broker.bootstrap) as group:
        beat = msg.HeartbeatRequest(group_id="g", version=3, generation_id=1, member_id=stable_member(group))
    with RecordingProxy(broker.bootstrap, control=broker) as proxy:
        (proxy if is_proxied else broker).faults.add(fault)
        with at_coordinator(proxy.bootstrap_for("p0") if is_proxied else broker.bootstrap) as group:
            assert reply_to(group, 0, beat).error is error
    assert [event.reason for event in events if isinstance(event, MemberRemoved)] == reasons


@pytest.mark.parametrize(
    ("nodes", "fault", "message"),
    [
        (1, Fault("Heartbeat", Effect.MOVE_COORDINATOR, node=1), "with one node cannot do move-coordinator"),
        (2, Fault("Heartbeat", Effect.MOVE_COORDINATOR, node=3), "no node 3 for a fault at Heartbeat: it has 1, 2"),
    ],
)
def test_a_fault_that_cannot_be_carried_out_is_refused_before_the_broker_listens(
    nodes: int, fault: Fault, message: str
) -> None:
    with pytest.raises(RebalanceCheckError, match=message):
        EmbeddedBroker(nodes=nodes, faults=FaultPlan(fault)).__enter__()


def test_a_node_that_does_not_exist_coordinates_nothing(broker: EmbeddedBroker) -> None:
    with pytest.raises(RebalanceCheckError, match=r"no node 4 .* the nodes are 1, 2, 3"):
        broker.move_coordinator("g", 4)


def test_a_port_in_use_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RebalanceCheckError, match=f"port {port} of 127.0.0.1 is in use: choose another"):
            EmbeddedBroker(port=port).__enter__()


def test_a_broker_listens_on_the_port_that_was_chosen__its_other_nodes_on_those_behind_it() -> None:
    (port,) = free_ports(1)
    with EmbeddedBroker(port=port) as broker:
        assert broker.addresses == (f"127.0.0.1:{port}",)
    assert [BrokerOptions(port=9092, nodes=2).port_of(position) for position in range(2)] == [9092, 9093]
    assert [BrokerOptions(nodes=2).port_of(position) for position in range(2)] == [0, 0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"nodes": 0}, "1 to 100 nodes, not 0"), ({"port": 65_535}, "port 65535 cannot be"), ({"port": -1}, "port -1")],
)
def test_options_that_cannot_be_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(RebalanceCheckError, match=message):
        EmbeddedBroker(**wrong)


def test_a_host_that_is_not_of_this_machine_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match=r"cannot listen at 192.0.2.1:0 .* choose a host of this machine"):
        EmbeddedBroker(host="192.0.2.1").__enter__()


def test_a_broker_that_listens_everywhere_sends_clients_where_they_came() -> None:
    with EmbeddedBroker(host="0.0.0.0") as broker:
        for host in ("127.0.0.1", "127.0.0.2"):
            with Connection(broker.bootstrap.replace("0.0.0.0", host)) as connection:
                (node,) = connection.call(metadata.MetadataRequest(topics=None), 5).brokers
            assert node.host == host


def test_a_topic_that_is_created_later_is_described_to_the_groups_that_there_are(
    broker: EmbeddedBroker, events: list[Event]
) -> None:
    with at_coordinator(broker.bootstrap) as group:
        stable_member(group)
    create_topic(broker.bootstrap, "later", 2)
    described = [event.partitions for event in events if isinstance(event, TopicsDescribed)]
    first = ("t-0", "t-1", "t-2", "t-3")
    assert described == [first, ("later-0", "later-1", *first)]


@pytest.mark.parametrize(
    ("auto_create", "allowed", "name", "partitions"),
    [(3, True, "new", 3), (3, False, "new", None), (0, True, "new", None), (3, True, "no topic!", None)],
)
def test_a_topic_that_is_asked_for_is_created__and_known_the_next_time(
    auto_create: int, allowed: bool, name: str, partitions: int | None
) -> None:
    topic = metadata.MetadataRequest.MetadataRequestTopic
    asked = metadata.MetadataRequest(topics=[topic(name=name)], allow_auto_topic_creation=allowed)
    look = metadata.MetadataRequest(topics=[topic(name=name)], allow_auto_topic_creation=False)
    with EmbeddedBroker(auto_create=auto_create) as broker, Connection(broker.bootstrap) as connection:
        assert connection.call(asked, 5).topics[0].error_code in {Error.UNKNOWN_TOPIC_OR_PARTITION, 17}
        known = connection.call(look, 5).topics[0]
        assert (len(known.partitions) or None) == partitions
