"""The exchange: what passes is recorded as it is, and faults strike as the plan says, whatever the broker does."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.connection import serve
from rebalance_check.integration.exchange.exchange import Exchange
from rebalance_check.integration.exchange.faults import Effect, Fault, FaultPlan
from rebalance_check.integration.wire.frames import LENGTH_BYTES, encode_response
from rebalance_check.integration.wire.kafka_python import consumer, metadata
from rebalance_check.integration.wire.messages import error_name, name_of
from rebalance_check.integration.wire.raw_group import RawGroup
from rebalance_check.integration.wire.templates import ordinary
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    ConnectionClosed,
    ConnectionOpened,
    CoordinatorMoved,
    Event,
    ReplyObserved,
    RequestObserved,
)

PEER = "/127.0.0.1"
SUBSCRIPTION = Subscription(topics=("t",), owned=(TopicPartition("t", 1),), generation=4)
JOIN = msg.JoinGroupRequest(
    group_id="g", version=6, client_id="c", session_timeout_ms=6_000, rebalance_timeout_ms=7_000, member_id="c-1",
    group_instance_id="i", protocol_type="consumer",
    protocols=(msg.JoinProtocol("range", write_subscription(SUBSCRIPTION, 2)), msg.JoinProtocol("rr", b"")),
)  # fmt: skip
BEAT = msg.HeartbeatRequest(group_id="g", version=3, client_id="c", generation_id=4, member_id="c-1")


class Broker:
    """Answers each request with the responses that it was given, and keeps what it received."""

    def __init__(self, *responses: Any) -> None:
        self.responses = list(responses)
        self.received: list[bytes] = []

    async def answer(self, frame: bytes, peer: str) -> bytes | None:  # noqa: ARG002 - as `Answer` has it
        self.received.append(frame)
        response = self.responses.pop(0)
        if response is None or isinstance(response, bytes):
            return response
        version = struct.unpack_from(">h", frame, 2)[0]
        return encode_response(response, version, 0)


class Moved:
    """A control that keeps what it was asked for."""

    effects = frozenset(Effect)
    node_ids = (1, 2)

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def move_coordinator(self, group: str, node: int) -> None:
        self.asked.append((group, node))

    def end_session(self, group: str, member_id: str) -> None:
        self.asked.append((group, member_id))

    def jump_clock(self, jump_ms: int) -> None:
        self.asked.append((jump_ms,))


def passed(broker: Broker, *frames: bytes, faults: tuple[Fault, ...] = (), **more: Any) -> tuple[list[Any], list[Any]]:
    """The answers to frames of one connection, and the events of it."""
    events: list[Event] = []
    exchange = Exchange(events.append, FaultPlan(*faults), clock=lambda: 17, **more)

    async def run() -> list[Any]:
        one = exchange.connection(broker.answer, node=2, process="p0")
        answers = [await one.answer(frame, PEER) for frame in frames]
        one.closed()
        return answers

    return asyncio.run(run()), events


def test_what_a_client_sends_ahead_is_recorded_when_it_arrives() -> None:
    broker, events = Broker(consumer.JoinGroupResponse()), list[Event]()
    exchange = Exchange(events.append, clock=lambda: 17)

    async def run() -> None:
        one = exchange.connection(broker.answer, node=1, process="p0")
        for _ in range(2):
            await one.arrives(ordinary(JOIN))
        await one.answer(ordinary(JOIN), PEER)

    asyncio.run(run())
    _, first, second, reply = events
    assert [getattr(event, "request", None) for event in (first, second, reply)] == [1, 2, 1]
    assert isinstance(second, RequestObserved)
    assert isinstance(reply, ReplyObserved)


def sync_of(assignment: dict[str, Assignment], version: int = 5) -> msg.SyncGroupRequest:
    given = tuple(msg.SyncAssignment(name, write_assignment(each)) for name, each in assignment.items())
    return msg.SyncGroupRequest(
        group_id="g", version=version, client_id="c", generation_id=4, member_id="c-1", protocol_type="consumer",
        protocol_name="range", assignments=given,
    )  # fmt: skip


def test_a_malformed_subscription__is_recorded_with_its_bytes__and_the_topics_that_can_be_read() -> None:
    cut = write_subscription(Subscription(topics=("t",)), version=0)[:-4] + bytes(4)
    cut = b"\x00\x01" + cut[2:]  # version 1, without owned partitions: kafka-go and kafkajs 1.12 sent such ones
    join = replace(JOIN, protocols=(msg.JoinProtocol("range", cut),))
    _, (_, request, *_) = passed(Broker(consumer.JoinGroupResponse()), ordinary(join))
    assert isinstance(request, RequestObserved)
    assert request.malformed == (("range", cut.hex()),)
    assert (request.topics, request.subscription_version) == (("t",), -1)


def test_a_malformed_assignment__is_recorded_with_its_bytes() -> None:
    sync = replace(sync_of({"c-1": Assignment(), "c-2": Assignment()}), protocol_type="consumer")
    first, second = sync.assignments
    sync = replace(sync, assignments=(first, replace(second, assignment=b"\x00")))
    _, (_, request, *_) = passed(Broker(consumer.SyncGroupResponse()), ordinary(sync))
    assert isinstance(request, RequestObserved)
    assert request.malformed == (("c-2", "00"),)


def test_a_join_and_its_reply_are_recorded_with_what_they_say() -> None:
    member = consumer.JoinGroupResponse.JoinGroupResponseMember
    response = consumer.JoinGroupResponse(
        generation_id=4, protocol_name="range", leader="c-1", member_id="c-1",
        members=[member(member_id="c-1", group_instance_id="i", metadata=b"x")],
    )  # fmt: skip
    broker = Broker(response)
    (answered,), (opened, request, reply, closed) = passed(broker, ordinary(JOIN))
    assert broker.received == [ordinary(JOIN)]
    assert answered is not None
    stamp: dict[str, Any] = {"source": "wire", "time_ms": 17, "connection": 1, "process": "p0"}
    assert opened == ConnectionOpened(**stamp, seq=0, node=2)
    assert request == RequestObserved(
        **stamp, group="g", seq=0, request=1, api="JoinGroup", version=6, client_id="c", member_id="c-1",
        instance_id="i", session_timeout_ms=6_000, rebalance_timeout_ms=7_000, protocol_type="consumer",
        protocols=("range", "rr"), topics=("t",), subscription_version=2, owned=("t-1",), owned_generation=4,
        metadata="a62b4db5", malformed=(("rr", ""),),
    )  # fmt: skip
    assert reply == ReplyObserved(
        **stamp, group="g", seq=1, request=1, api="JoinGroup", reply_generation=4, assigned_member_id="c-1",
        leader="c-1", protocol="range", members=(("c-1", "i"),),
    )  # fmt: skip
    assert closed == ConnectionClosed(**stamp, group="g", seq=2, closed_by="client")


def test_assignments_are_recorded_as_partitions__and_those_of_other_protocols_not() -> None:
    two = {"a": Assignment(partitions=(TopicPartition("t", 0),)), "b": Assignment()}
    assignment = write_assignment(Assignment(partitions=(TopicPartition("t", 2), TopicPartition("u", 0))))
    broker = Broker(consumer.SyncGroupResponse(assignment=assignment))
    _, events = passed(broker, ordinary(sync_of(two)))
    assert (events[1].assignments, events[1].protocols) == ((("a", ("t-0",)), ("b", ())), ("range",))
    assert events[2].assignment == ("t-2", "u-0")
    join = ordinary(msg.JoinGroupRequest(
        group_id="g", version=3, session_timeout_ms=1, rebalance_timeout_ms=1, member_id="", protocol_type="connect",
        protocols=(msg.JoinProtocol("default", b"\0\1"),),
    ))  # fmt: skip
    sync = ordinary(sync_of(two, version=3))
    broker = Broker(consumer.JoinGroupResponse(error_code=79), consumer.SyncGroupResponse(assignment=assignment))
    _, (_, joined, refused, synced, reply, _) = passed(broker, join, sync)
    assert (joined.subscription_version, refused.error) == (-1, "MEMBER_ID_REQUIRED")
    assert (synced.assignments, reply.assignment) == ((("a", ()), ("b", ())), ())


def test_commits_leaves_and_fetches_name_their_partitions() -> None:
    commit = msg.OffsetCommitRequest(
        group_id="g", version=7, generation_id=4, member_id="c-1", offsets=(msg.CommittedOffset("t", 1, 9),)
    )
    topic = consumer.OffsetCommitResponse.OffsetCommitResponseTopic
    refused = topic(name="t", partitions=[topic.OffsetCommitResponsePartition(partition_index=1, error_code=22)])
    leave = msg.LeaveGroupRequest(
        group_id="g", version=5, members=(msg.MemberIdentity("c-1", None, "closing"), msg.MemberIdentity("", "i"))
    )
    fetch = msg.OffsetFetchRequest(group_id="g", version=8, partitions=(("t", 0), ("t", 3)))
    broker = Broker(
        consumer.OffsetCommitResponse(topics=[refused]),
        consumer.LeaveGroupResponse(members=[]),
        consumer.OffsetFetchResponse(groups=[]),
    )
    _, events = passed(broker, ordinary(commit), ordinary(leave), ordinary(fetch))
    requests = [event for event in events if isinstance(event, RequestObserved)]
    assert (requests[0].offsets, requests[0].request_generation) == ((("t-1", 9),), 4)
    assert (requests[1].leaving, requests[1].reason) == ((("c-1", ""), ("", "i")), "closing")
    assert requests[2].partitions == ("t-0", "t-3")
    reply = next(event for event in events if isinstance(event, ReplyObserved))
    assert (reply.error, reply.partition_errors) == ("ILLEGAL_GENERATION", (("t-1", "ILLEGAL_GENERATION"),))


def test_a_request_is_recorded_under_the_group_that_its_process_spoke_for_last() -> None:
    """A FindCoordinator speaks for its group; Metadata, and connections, go with what their process said before."""
    events: list[Event] = []
    exchange = Exchange(events.append)
    ask = metadata.FindCoordinatorRequest(coordinator_keys=["g"])
    look = metadata.MetadataRequest(topics=[metadata.MetadataRequest.MetadataRequestTopic(name="t")])
    partition = metadata.MetadataResponse.MetadataResponseTopic
    topic = partition(name="t", partitions=[partition.MetadataResponsePartition(partition_index=1)])
    found = metadata.FindCoordinatorResponse.Coordinator(key="g", node_id=3)
    broker = Broker(
        metadata.MetadataResponse(topics=[topic]), metadata.FindCoordinatorResponse(coordinators=[found]),
        metadata.MetadataResponse(topics=[]),
    )  # fmt: skip

    async def run() -> None:
        one = exchange.connection(broker.answer, node=1, process="p0")
        for request, version in ((look, 9), (ask, 4), (look, 9)):
            request.API_VERSION = version
            request.with_header(client_id="c")
            await one.answer(bytes(request.encode(header=True)), PEER)
        exchange.connection(broker.answer, node=1, process="p0").closed("broker")
        exchange.connection(broker.answer, node=1, process="p1")

    asyncio.run(run())
    assert [(event.group, type(event).__name__) for event in events] == [
        ("", "ConnectionOpened"), ("", "RequestObserved"), ("", "ReplyObserved"), ("g", "RequestObserved"),
        ("g", "ReplyObserved"), ("g", "RequestObserved"), ("g", "ReplyObserved"), ("g", "ConnectionOpened"),
        ("g", "ConnectionClosed"), ("", "ConnectionOpened"),
    ]  # fmt: skip
    replies = [event for event in events if isinstance(event, ReplyObserved)]
    assert (replies[0].partitions, replies[1].node) == (("t-1",), 3)
    assert [event.topics for event in events if isinstance(event, RequestObserved)] == [("t",), (), ("t",)]


@pytest.mark.parametrize(
    ("frame", "api", "version"),
    [
        pytest.param(struct.pack(">hhih", 999, 7, 1, -1), "999", 7, id="unknown api"),
        pytest.param(struct.pack(">hhih", 68, 1, 1, -1), "ConsumerGroupHeartbeat", 1, id="api that cannot be read"),
        pytest.param(struct.pack(">hhih", 11, 99, 1, -1), "JoinGroup", 99, id="newer version"),
        pytest.param(struct.pack(">hhih", 11, 5, 1, -1) + b"\x7f", "JoinGroup", 5, id="garbage"),
    ],
)
def test_what_cannot_be_read_passes__and_is_recorded_as_far_as_known(frame: bytes, api: str, version: int) -> None:
    answer = b"\0\0\0\5hello"
    broker = Broker(answer)
    answers, (_, request, reply, _) = passed(broker, frame)
    assert (answers, broker.received) == ([answer], [frame])
    assert (request.api, request.version, request.group) == (api, version, "")
    assert (reply.api, reply.error) == (api, "NONE")


def test_a_broker_that_hangs_up_is_recorded_as_the_one_who_did() -> None:
    answers, events = passed(Broker(None), ordinary(BEAT))
    assert answers == [None]
    assert [type(event) for event in events] == [ConnectionOpened, RequestObserved, ConnectionClosed]
    assert events[-1].closed_by == "broker"


def ok() -> Any:
    return consumer.HeartbeatResponse(error_code=0)


def error_in(answer: bytes | None) -> int:
    assert answer
    return int(consumer.HeartbeatResponse.decode(answer[LENGTH_BYTES:], version=3, header=True).error_code)


@pytest.mark.parametrize(
    ("effect", "handled", "answered", "closed_by"),
    [
        (Effect.DROP_REPLY, 1, b"", "client"),
        (Effect.CLOSE_AFTER, 1, None, "fault"),
        (Effect.CLOSE_BEFORE, 0, None, "fault"),
    ],
)
def test_a_reply_that_a_fault_takes_away_is_recorded_with_the_fault(
    effect: Effect, handled: int, answered: bytes | None, closed_by: str
) -> None:
    broker = Broker(ok())
    answers, events = passed(broker, ordinary(BEAT), faults=(Fault("Heartbeat", effect),))
    assert (answers, len(broker.received)) == ([answered], handled)
    assert (events[2].fault, events[-1].closed_by) == (effect, closed_by)


def test_a_fault_answers_in_the_place_of_the_broker() -> None:
    fault = Fault("Heartbeat", Effect.ANSWER, nth=2, error=Error.NOT_COORDINATOR)
    broker = Broker(ok(), ok())
    answers, events = passed(broker, *[ordinary(BEAT)] * 3, faults=(fault,))
    assert [error_in(answer) for answer in answers] == [0, Error.NOT_COORDINATOR, 0]
    replies = [(event.error, event.fault) for event in events if isinstance(event, ReplyObserved)]
    assert replies == [("NONE", ""), ("NOT_COORDINATOR", "answer"), ("NONE", "")]


@pytest.mark.parametrize(
    ("named", "strikes"),
    [
        ({"client_id": "c"}, True), ({"client_id": "d"}, False), ({"process": "p0"}, True), ({"process": "p1"}, False),
        ({"member_id": "c-"}, True), ({"member_id": "d-"}, False), ({"instance_id": "i"}, False),
    ],
)  # fmt: skip
def test_a_fault_is_about_the_sender_that_it_names__and_counts_that_senders_requests(
    named: dict[str, Any], strikes: bool
) -> None:
    other = msg.HeartbeatRequest(group_id="g", version=3, client_id="x", generation_id=4, member_id="x-1")
    fault = Fault("Heartbeat", Effect.ANSWER, nth=2, error=Error.NOT_COORDINATOR, **named)
    frames = [ordinary(each) for each in (BEAT, other, BEAT)]
    answers, _ = passed(Broker(ok(), ok(), ok()), *frames, faults=(fault,))
    struck = [error_in(answer) != 0 for answer in answers]
    is_of_process = "process" in named
    assert struck == ([False, strikes, False] if is_of_process else [False, False, strikes])


@pytest.mark.parametrize(
    ("fault", "asked"),
    [
        (Fault("Heartbeat", Effect.MOVE_COORDINATOR, node=2), ("g", 2)),
        (Fault("Heartbeat", Effect.END_SESSION), ("g", "c-1")),
        (Fault("Heartbeat", Effect.JUMP_CLOCK, jump_ms=900), (900,)),
    ],
)
def test_what_a_fault_does_to_the_coordinator_is_left_to_its_control(fault: Fault, asked: tuple[Any, ...]) -> None:
    control = Moved()
    answers, events = passed(Broker(ok()), ordinary(BEAT), faults=(fault,), control=control)
    assert control.asked == [asked]
    assert (error_in(answers[0]), events[2].fault) == (0, fault.effect)


@pytest.mark.parametrize(
    ("api", "effect", "message"),
    [
        ("Metadata", Effect.ANSWER, "cannot answer OffsetForLeaderEpoch"),
        ("Heartbeat", Effect.MOVE_COORDINATOR, "needs node >= 0"),
        ("Heartbeat", Effect.JUMP_CLOCK, "needs jump_ms > 0"),
    ],
)
def test_a_fault_that_nobody_could_carry_out_is_refused(api: str, effect: Effect, message: str) -> None:
    with pytest.raises(RebalanceCheckError, match=message):
        Fault("OffsetForLeaderEpoch" if effect is Effect.ANSWER else api, effect, error=Error.NOT_COORDINATOR)


def test_a_move_of_a_coordinator_is_recorded() -> None:
    events: list[Event] = []
    Exchange(events.append, clock=lambda: 3).moved("g", 2)
    assert events == [CoordinatorMoved(group="g", source="wire", seq=0, time_ms=3, node=2)]


def test_names_of_apis_and_errors_are_kafkas__and_numbers_where_there_is_none() -> None:
    assert [name_of(key) for key in (11, 68, 999)] == ["JoinGroup", "ConsumerGroupHeartbeat", "999"]
    assert [error_name(code) for code in (0, 16, 74, 999)] == ["NONE", "NOT_COORDINATOR", "FENCED_LEADER_EPOCH", "999"]


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def broker(events: list[Event]) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker({"t": 4}, wire_listener=events.append) as started:
        yield started


def test_what_a_client_sends_before_it_closes_is_handled_and_recorded(
    broker: EmbeddedBroker, group: RawGroup, events: list[Event]
) -> None:
    """A LeaveGroup whose sender does not wait for the reply: Kafka handles what it received."""
    group.request(0, replace(JOIN, version=3, member_id="", group_instance_id=None))
    ((_, joined),) = group.replies(at_least=1, timeout_s=5)
    assert isinstance(joined, msg.JoinGroupReply)
    leave = msg.LeaveGroupRequest(group_id="g", version=3, members=(msg.MemberIdentity(joined.member_id),))
    group.request(0, leave)
    group.disconnect(0)
    group.barrier()
    assert broker.call(lambda: broker.coordinators.describe("g").state) == "Empty"
    left = [event for event in events if isinstance(event, RequestObserved) and event.api == "LeaveGroup"]
    assert [event.leaving for event in left] == [((joined.member_id, ""),)]


class Unheard:
    """The writing side of a connection whose client is gone."""

    closed = False

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return ("127.0.0.1", 1)

    def is_closing(self) -> bool:
        return self.closed

    def write(self, _data: bytes) -> None:
        raise ConnectionResetError

    def close(self) -> None:
        self.closed = True


def test_frames_that_arrive_with_the_end_of_their_connection_are_handled_all_the_same() -> None:
    handled: list[bytes] = []
    ends: list[int] = []

    async def answer(frame: bytes, _peer: str) -> bytes:
        await asyncio.sleep(0)
        handled.append(frame)
        return b"an answer"

    async def run() -> None:
        reader = asyncio.StreamReader()
        writer: Any = Unheard()
        for frame in (b"LeaveGroup", b"and another"):
            reader.feed_data(struct.pack(">i", len(frame)) + frame)
        reader.feed_eof()
        await serve(reader, writer, answer, 100, lambda: ends.append(len(handled)))

    asyncio.run(run())
    assert handled == [b"LeaveGroup", b"and another"]
    assert ends[0] == 2, "the connection is recorded as closed only after what was sent on it"


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_the_history_of_a_consumer_is_complete(
    consumer: Callable[..., Any], events: list[Event], protocol: str
) -> None:
    """Every request of a real client can be read, and each group's events are numbered without a gap."""
    one = consumer(protocol)
    while not one.assignment():
        one.poll(timeout_ms=20)
    one.close()
    asked = {event.request: event for event in events if isinstance(event, RequestObserved)}
    replies = [event for event in events if isinstance(event, ReplyObserved)]
    assert {"ApiVersions", "FindCoordinator", "JoinGroup", "SyncGroup"} <= {event.api for event in asked.values()}
    unanswered = asked.keys() - {event.request for event in replies}
    assert {asked[number].api for number in unanswered} <= {"Fetch"}
    assert {event.assignment for event in replies if event.assignment} == {("t-0", "t-1", "t-2", "t-3")}
    for group in {event.group for event in events}:
        numbers = [event.seq for event in events if event.group == group]
        assert numbers == list(range(len(numbers)))
