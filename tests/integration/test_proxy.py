"""The recording proxy before the embedded broker: clients notice nothing, and every frame of theirs is recorded."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange import nodes
from rebalance_check.integration.exchange.faults import Effect, Fault, FaultPlan
from rebalance_check.integration.exchange.nodes import Address, Nodes
from rebalance_check.integration.exchange.proxy import RecordingProxy
from rebalance_check.integration.exchange.rewriting import REWRITTEN, highest, narrow, rewritten
from rebalance_check.integration.live.kafka_python_api import KafkaConsumer, RangePartitionAssignor
from rebalance_check.integration.wire.call import Connection, split_address
from rebalance_check.integration.wire.frames import MalformedFrame, Prefix, encode_response
from rebalance_check.integration.wire.kafka_python import admin, consumer, metadata, producer
from rebalance_check.integration.wire.messages import KEY_OF, MESSAGES
from rebalance_check.integration.wire.raw_group import MemberConnection, RawGroup
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    ConnectionClosed,
    ConnectionOpened,
    CoordinatorMoved,
    Event,
    ReplyObserved,
    RequestObserved,
)

TIMEOUT_S = 20.0


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def proxied(broker: EmbeddedBroker, events: list[Event]) -> Iterator[RecordingProxy]:
    with RecordingProxy(broker.bootstrap, listener=events.append) as proxy:
        yield proxy


@pytest.fixture
def moving(broker: EmbeddedBroker, events: list[Event]) -> Iterator[RecordingProxy]:
    with RecordingProxy(broker.bootstrap, listener=events.append, virtual_nodes=2) as proxy:
        yield proxy


def join(member_id: str = "") -> msg.JoinGroupRequest:
    return msg.JoinGroupRequest(
        group_id="g", version=3, session_timeout_ms=6_000, rebalance_timeout_ms=6_000, member_id=member_id,
        protocol_type="consumer", protocols=(msg.JoinProtocol("range", b"x"),),
    )  # fmt: skip


def port_of(bootstrap: str) -> int:
    return int(bootstrap.rpartition(":")[2])


# ------------------------------------------------------------------------------------------------ what passes


def test_a_request_behind_one_that_is_not_answered_yet__is_recorded_before_the_reply(
    broker: EmbeddedBroker, events: list[Event]
) -> None:
    heartbeat = msg.HeartbeatRequest(group_id="g", version=3, generation_id=1, member_id="m")
    delay = Fault("Heartbeat", Effect.DELAY, delay_s=0.05)
    with RecordingProxy(broker.bootstrap, listener=events.append, faults=FaultPlan(delay)) as proxy:
        member = MemberConnection(0, split_address(proxy.bootstrap_for("p0")), "c")
        for _ in range(2):
            member.send(heartbeat)
        while member.in_flight:
            assert {reply.error for reply in member.receive()} == {Error.UNKNOWN_MEMBER_ID}
        member.socket.close()
    passed = [event for event in events if getattr(event, "api", "") == "Heartbeat"]
    assert [type(event) for event in passed] == [RequestObserved, RequestObserved, ReplyObserved, ReplyObserved]


def test_replies_name_the_ports_of_the_process_that_asks(proxied: RecordingProxy, broker: EmbeddedBroker) -> None:
    ports = {process: port_of(proxied.bootstrap_for(process)) for process in ("p0", "p1", "p0")}
    assert len({*ports.values(), port_of(broker.bootstrap)}) == 3
    for process, port in ports.items():
        with Connection(proxied.bootstrap_for(process)) as connection:
            for version in range(10):
                (found,) = connection.call(metadata.MetadataRequest(topics=None), version).brokers
                assert (found.node_id, found.host, found.port) == (1, "127.0.0.1", port)
            for version in range(6):
                request = metadata.FindCoordinatorRequest(key="g", key_type=0, coordinator_keys=["g"])
                found = connection.call(request, version)
                found = found.coordinators[0] if version >= 4 else found
                assert (found.node_id, found.port) == (1, port)


def test_connections_requests_and_replies_are_recorded_with_their_process(
    proxied: RecordingProxy, events: list[Event]
) -> None:
    for process in ("p0", "p1"):
        with RawGroup(proxied.bootstrap_for(process), f"group of {process}") as group:
            group.request(0, join())
            group.replies(at_least=1, timeout_s=5)
    opened = [(event.process, event.node) for event in events if isinstance(event, ConnectionOpened)]
    assert opened == [("p0", 1), ("p1", 1)]
    asked = [(event.process, event.api) for event in events if isinstance(event, RequestObserved)]
    assert asked == [(process, api) for process in ("p0", "p1") for api in ("ApiVersions", "JoinGroup")]
    answered = {event.request for event in events if isinstance(event, ReplyObserved)}
    assert answered == {1, 2, 3, 4}


def test_faults_strike_what_passes(broker: EmbeddedBroker, events: list[Event]) -> None:
    plan = FaultPlan(Fault("JoinGroup", Effect.ANSWER, process="p1", error=Error.GROUP_MAX_SIZE_REACHED))
    with RecordingProxy(broker.bootstrap, listener=events.append, faults=plan) as proxy:
        for process, error in (("p0", Error.NONE), ("p1", Error.GROUP_MAX_SIZE_REACHED)):
            with RawGroup(proxy.bootstrap_for(process), f"group of {process}") as group:
                group.request(0, join())
                assert [reply.error for _, reply in group.replies(at_least=1, timeout_s=5)] == [error]
    assert broker.faults.seen("JoinGroup") == 1


def test_consumers_in_processes_of_their_own_share_a_group(proxied: RecordingProxy, events: list[Event]) -> None:
    with ExitStack() as stack:
        both = [stack.enter_context(Consuming(proxied, f"p{n}")) for n in range(2)]
        poll_until(both, lambda: [len(each.owned()) for each in both] == [2, 2])
    shown = [event for event in events if isinstance(event, ReplyObserved) and len(event.assignment) == 2]
    assert {event.process for event in shown} == {"p0", "p1"}
    left = [event.process for event in events if isinstance(event, RequestObserved) and event.api == "LeaveGroup"]
    assert sorted(left) == ["p0", "p1"]


class Consuming:
    """A kafka-python consumer of the topic t, as the client process of a name."""

    def __init__(self, proxy: RecordingProxy, process: str) -> None:
        self._consumer: Any = KafkaConsumer(
            "t", bootstrap_servers=proxy.bootstrap_for(process), group_id="g", client_id=process,
            partition_assignment_strategy=[RangePartitionAssignor], session_timeout_ms=6_000,
            heartbeat_interval_ms=50, enable_auto_commit=False, metrics_enabled=False,
        )  # fmt: skip
        self._consumer.topics()

    def __enter__(self) -> Consuming:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def poll(self) -> None:
        self._consumer.poll(timeout_ms=20)

    def owned(self) -> set[int]:
        return {tp.partition for tp in self._consumer.assignment()}


def poll_until(consumers: list[Consuming], reached: Callable[[], bool]) -> None:
    for _ in range(int(TIMEOUT_S * 1000 / 20)):
        if reached():
            return
        for each in consumers:
            each.poll()
    pytest.fail(f"not reached: {[each.owned() for each in consumers]}")


# ------------------------------------------------------------------------------------------------ virtual nodes


def test_the_first_virtual_node_coordinates_until_the_coordinator_moves(
    moving: RecordingProxy, events: list[Event]
) -> None:
    bootstrap = moving.bootstrap_for("p0")
    assert moving.node_ids == (1, 2)
    for node in (1, 2):
        with Connection(bootstrap) as connection:
            brokers = connection.call(metadata.MetadataRequest(topics=None), 5).brokers
            ports = {found.node_id: found.port for found in brokers}
            assert sorted(ports) == [1, 2]
            assert ports[1] == port_of(bootstrap) != ports[2]
            found = connection.call(metadata.FindCoordinatorRequest(key="g", key_type=0), 2)
            assert (found.node_id, found.port) == (node, ports[node])
        beat = consumer.HeartbeatRequest(group_id="g", generation_id=0, member_id="none")
        for asked, error in ((node, Error.UNKNOWN_MEMBER_ID), (3 - node, Error.NOT_COORDINATOR)):
            with Connection(f"127.0.0.1:{ports[asked]}") as connection:
                assert connection.call(beat, 3).error_code == error
        if node == 1:
            moving.move_coordinator("g", 2)
    assert [event.node for event in events if isinstance(event, CoordinatorMoved)] == [2]


def test_what_is_parked_is_answered_when_the_coordinator_moves(moving: RecordingProxy) -> None:
    with RawGroup(moving.bootstrap_for("p0"), "g") as group:
        group.request(0, join())
        group.replies(at_least=1, timeout_s=5)
        group.request(1, join())
        group.barrier()
        assert group.replies(at_least=0, timeout_s=0) == []
        moving.move_coordinator("g", 2)
        ((member, reply),) = group.replies(at_least=1, timeout_s=5)
        assert (member, reply.error) == (1, Error.NOT_COORDINATOR)
        group.request(1, join())
        ((member, reply),) = group.replies(at_least=1, timeout_s=5)
        assert (member, reply.error) == (1, Error.NOT_COORDINATOR)


def test_consumers_follow_the_coordinator(moving: RecordingProxy, events: list[Event]) -> None:
    with ExitStack() as stack:
        both = [stack.enter_context(Consuming(moving, f"p{n}")) for n in range(2)]
        poll_until(both, lambda: [len(each.owned()) for each in both] == [2, 2])
        moving.move_coordinator("g", 2)
        seen = len(events)
        poll_until(both, lambda: {
            event.process for event in events[seen:] if isinstance(event, ReplyObserved) and event.node == 2
        } == {"p0", "p1"})  # fmt: skip
        poll_until(both, lambda: [len(each.owned()) for each in both] == [2, 2])


def test_a_fault_moves_the_coordinator(broker: EmbeddedBroker) -> None:
    plan = FaultPlan(Fault("Heartbeat", Effect.MOVE_COORDINATOR, nth=2, node=2))
    beat = consumer.HeartbeatRequest(group_id="g", generation_id=0, member_id="none")
    with (
        RecordingProxy(broker.bootstrap, faults=plan, virtual_nodes=2) as proxy,
        Connection(proxy.bootstrap_for("p0")) as connection,
    ):
        errors = [connection.call(beat, 3).error_code for _ in range(3)]
    assert errors == [Error.UNKNOWN_MEMBER_ID, Error.NOT_COORDINATOR, Error.NOT_COORDINATOR]


# ------------------------------------------------------------------------------------------------ what goes wrong


def test_a_coordinator_that_cannot_be_moved_says_so(proxied: RecordingProxy, moving: RecordingProxy) -> None:
    with pytest.raises(RebalanceCheckError, match="put virtual nodes in front of it"):
        proxied.move_coordinator("g", 2)
    with pytest.raises(RebalanceCheckError, match=r"no virtual node 3 .* the nodes are 1, 2"):
        moving.move_coordinator("g", 3)


@pytest.mark.parametrize("effect", [Effect.MOVE_COORDINATOR, Effect.END_SESSION, Effect.JUMP_CLOCK])
def test_a_fault_that_the_broker_cannot_carry_out_is_refused_before_the_run(
    broker: EmbeddedBroker, effect: Effect
) -> None:
    plan = FaultPlan(Fault("Heartbeat", effect, node=1, jump_ms=1))
    with pytest.raises(RebalanceCheckError, match=f"cannot do {effect} .* use the embedded broker"):
        RecordingProxy(broker.bootstrap, faults=plan).__enter__()


def test_virtual_nodes_need_a_broker_with_one() -> None:
    with pytest.raises(RebalanceCheckError, match="has 2 nodes of its own"):
        Nodes("somewhere:1", {1: Address("a", 1), 2: Address("a", 2)}, virtual=2)


def test_a_broker_that_is_not_there_is_an_error_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closing:
        port = closing.getsockname()[1]
    with pytest.raises(RebalanceCheckError, match=f"no broker answers at 127.0.0.1:{port}"):
        RecordingProxy(f"127.0.0.1:{port}").__enter__()


def test_a_broker_that_hangs_is_an_error_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(RebalanceCheckError, match=r"did not answer a Metadata request within 0.2 s"):
            RecordingProxy(f"127.0.0.1:{port}").__enter__()


def test_a_broker_that_dies_takes_the_connections_with_it(events: list[Event]) -> None:
    with ExitStack() as stack:
        broker = stack.enter_context(EmbeddedBroker({"t": 1}))
        proxy = stack.enter_context(RecordingProxy(broker.bootstrap, listener=events.append))
        idle = stack.enter_context(socket.create_connection(("127.0.0.1", port_of(proxy.bootstrap_for("p0"))), 5))
        with Connection(proxy.bootstrap_for("p0")) as connection:
            connection.call(metadata.MetadataRequest(topics=None), 1)
            broker.__exit__(None, None, None)
            stack.pop_all()
            assert idle.recv(1) == b""
            with pytest.raises(ConnectionError):
                connection.call(metadata.MetadataRequest(topics=None), 1)
        with socket.create_connection(("127.0.0.1", port_of(proxy.bootstrap_for("p0"))), 5) as late:
            assert late.recv(1) == b""
        proxy.__exit__(None, None, None)
    assert {event.closed_by for event in events if isinstance(event, ConnectionClosed)} == {"broker"}


def test_a_reply_that_comes_with_the_end_of_the_connection_reaches_the_client(events: list[Event]) -> None:
    """A broker that answers and hangs up in the same segment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=answer_twice, args=(server,))
        answering.start()
        with (
            RecordingProxy(f"127.0.0.1:{server.getsockname()[1]}", listener=events.append) as proxy,
            Connection(proxy.bootstrap_for("p0")) as connection,
        ):
            beat = consumer.HeartbeatRequest(group_id="g", generation_id=0, member_id="m")
            assert connection.call(beat, 0).error_code == Error.NOT_COORDINATOR
            with pytest.raises(ConnectionError):
                connection.call(beat, 0)
        answering.join()
    assert [event.error for event in events if isinstance(event, ReplyObserved)] == ["NOT_COORDINATOR"]


def answer_twice(server: socket.socket) -> None:
    """One connection is answered with Metadata, the next one with a Heartbeat reply; each is closed at once."""
    address = server.getsockname()
    broker = metadata.MetadataResponse.MetadataResponseBroker(node_id=1, host=address[0], port=address[1])
    replies = (
        encode_response(metadata.MetadataResponse(brokers=[broker], topics=[]), 1, 1),
        encode_response(consumer.HeartbeatResponse(error_code=Error.NOT_COORDINATOR), 0, 1),
    )
    for reply in replies:
        peer, _ = server.accept()
        with peer:
            peer.recv(1 << 16)
            peer.sendall(reply)


# ------------------------------------------------------------------------------------------------ rewriting


def full_response(api: str, version: int) -> Any:
    """A response with an address in it, of a version that may have more fields than one."""
    where = {"host": "broker", "port": 9092}
    match api:
        case "Metadata":
            broker = metadata.MetadataResponse.MetadataResponseBroker(node_id=1, rack="r", **where)
            topic = metadata.MetadataResponse.MetadataResponseTopic(name="t", partitions=[], is_internal=True)
            return metadata.MetadataResponse(brokers=[broker], topics=[topic], controller_id=1, cluster_id="c")
        case "FindCoordinator" if version < 4:
            return metadata.FindCoordinatorResponse(node_id=1, error_message="none", **where)
        case "FindCoordinator":
            found = metadata.FindCoordinatorResponse.Coordinator(key="g", node_id=1, **where)
            return metadata.FindCoordinatorResponse(coordinators=[found])
        case "DescribeCluster":
            broker = admin.DescribeClusterResponse.DescribeClusterBroker(broker_id=1, **where)
            return admin.DescribeClusterResponse(brokers=[broker], cluster_id="c", controller_id=1, endpoint_type=1)
        case "Produce" if version >= 10:
            endpoint = producer.ProduceResponse.NodeEndpoint(node_id=1, **where)
            return producer.ProduceResponse(responses=[], node_endpoints=[endpoint])
        case "Produce":
            return producer.ProduceResponse(responses=[])
        case _:
            api_key = metadata.ApiVersionsResponse.ApiVersion
            keys = [api_key(api_key=11, min_version=2, max_version=9)]
            return metadata.ApiVersionsResponse(api_keys=keys)


def rewritten_as(api: str, version: int, response: Any, to: Address) -> bytes:
    async def place(node: int) -> Address:
        assert node == 1
        return to

    prefix = Prefix(KEY_OF[api], version, 5)
    reply = encode_response(response, version, 5)
    return asyncio.run(rewritten(prefix, b"", reply, Nodes("b:1", {1: Address("broker", 9092)}), place))


EVERY_VERSION = [
    (api, version) for api in ("Metadata", "FindCoordinator", "DescribeCluster", "Produce", "ApiVersions")
    for version in range(MESSAGES[KEY_OF[api]].high + 1)
]  # fmt: skip


def test_every_api_with_addresses_is_tried_below() -> None:
    assert {KEY_OF[api] for api, _ in EVERY_VERSION} == REWRITTEN


@pytest.mark.parametrize(("api", "version"), EVERY_VERSION)
def test_a_rewritten_reply_differs_in_its_addresses_alone(api: str, version: int) -> None:
    plain = encode_response(full_response(api, version), version, 5)
    assert rewritten_as(api, version, full_response(api, version), Address("broker", 9092)) == plain
    moved = rewritten_as(api, version, full_response(api, version), Address("bROKER", 9093))
    has_address = b"broker" in plain
    assert has_address == (api != "ApiVersions" and (api != "Produce" or version >= 10))
    assert moved == plain.replace(b"broker", b"bROKER").replace(b"\x23\x84", b"\x23\x85")


def test_an_api_versions_reply_offers_what_can_be_read() -> None:
    key = metadata.ApiVersionsResponse.ApiVersion
    offered = {1: (4, 18), 3: (0, 99), 9: (1, 10), 11: (0, 9), 17: (0, 1), 68: (0, 1), 3000: (0, 0), 32: (5, 6)}
    response = metadata.ApiVersionsResponse(
        api_keys=[key(api_key=api, min_version=low, max_version=high) for api, (low, high) in offered.items()]
    )
    narrow(response)
    left = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}
    assert left == {1: (4, 12), 3: (0, 13), 9: (1, 9), 11: (0, 9), 17: (0, 1)}
    assert highest(3000) == -1


def test_an_address_that_cannot_be_rewritten_does_not_pass() -> None:
    async def place(node: int) -> Address:
        raise AssertionError(node)

    reply, behind = b"\0\0\0\4abcd", Nodes("b:1", {1: Address("b", 1)})
    with pytest.raises(MalformedFrame, match="Metadata v99, whose reply cannot be rewritten"):
        asyncio.run(rewritten(Prefix(KEY_OF["Metadata"], 99, 5), b"", reply, behind, place))
