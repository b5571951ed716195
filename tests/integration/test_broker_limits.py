"""The limits of one connection to the embedded broker: memory, and the time of its event loop."""

import asyncio
import gc
import logging
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.connection import READ_AHEAD_BYTES, READ_AHEAD_FRAMES, ReadAhead
from rebalance_check.integration.frame_fuzz.turns import TurnWatch
from rebalance_check.integration.wire.call import Connection, split_address
from rebalance_check.integration.wire.decoder import MAX_ELEMENTS
from rebalance_check.integration.wire.kafka_python import admin, consumer, metadata

LONGEST_TURN_MS = 500.0
"""The goal is 200, of which `bench/broker.py` prints how much is used (some 100); the rest is slack for a busy machine.
In one turn, most of these requests take over 800."""
TIMEOUT_S = 60.0

HELD_UP_BYTES = 32 * 1024 * 1024
"""More than the buffers of two sockets and the read-ahead take together."""


async def put_until_full(frames: ReadAhead, frame: bytes) -> int:
    count = 0
    while True:
        try:
            await asyncio.wait_for(frames.put(frame), 0.05)
        except TimeoutError:
            return count
        count += 1


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        pytest.param(8, READ_AHEAD_FRAMES, id="short frames"),
        pytest.param(READ_AHEAD_BYTES // 4, 4, id="long frames"),
        pytest.param(READ_AHEAD_BYTES * 9, 1, id="one that is longer than the read-ahead"),
    ],
)
def test_the_read_ahead_is_bounded_in_frames_and_in_bytes(length: int, expected: int) -> None:
    async def fill() -> tuple[int, int]:
        frames = ReadAhead()
        first = await put_until_full(frames, bytes(length))
        await frames.get()
        return first, await put_until_full(frames, bytes(length))

    assert asyncio.run(fill()) == (expected, 1)


def framed(request: Any, version: int) -> bytes:
    request.API_VERSION = version
    request.with_header(correlation_id=1, client_id="c")
    return bytes(request.encode(header=True, framed=True))


def parked() -> bytes:
    topic = consumer.FetchRequest.FetchTopic
    partition = topic.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    wanted = [topic(topic="t", partitions=[partition])]
    return framed(consumer.FetchRequest(max_wait_ms=600_000, min_bytes=1, max_bytes=1, topics=wanted), 4)


def sent_until_held_up(peer: socket.socket, data: bytes) -> int:
    sent = 0
    while sent < HELD_UP_BYTES:
        try:
            sent += peer.send(data)
        except TimeoutError:
            break
    return sent


def test_a_connection_that_sends_and_sends_behind_a_parked_request_is_not_read_any_more(broker: EmbeddedBroker) -> None:
    beat = framed(consumer.HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 3) * 1_000
    with socket.create_connection(split_address(broker.bootstrap), 5) as peer:
        peer.sendall(parked())
        peer.settimeout(1.0)
        assert sent_until_held_up(peer, beat) < HELD_UP_BYTES
        with Connection(broker.bootstrap) as other:
            assert other.call(admin.ListGroupsRequest(states_filter=[]), 4).error_code == 0


def test_a_request_over_the_limit_closes_its_connection() -> None:
    with EmbeddedBroker({"t": 1}, max_request_bytes=1_000) as small:
        with socket.create_connection(split_address(small.bootstrap), 5) as peer:
            peer.sendall(struct.pack(">i", 1_001))
            assert peer.recv(1) == b""
        with Connection(small.bootstrap) as other:
            assert other.call(metadata.MetadataRequest(topics=None), 1).topics[0].name == "t"


def names(count: int) -> list[str]:
    return [f"{number:x}" for number in range(count)]


def many_topics(count: int) -> tuple[Any, int]:
    topic = metadata.MetadataRequest.MetadataRequestTopic
    return metadata.MetadataRequest(topics=[topic(name=name) for name in names(count)]), 9


def many_groups(count: int) -> tuple[Any, int]:
    return admin.DescribeGroupsRequest(groups=names(count)), 5


def many_commits(count: int) -> tuple[Any, int]:
    topic = consumer.OffsetCommitRequest.OffsetCommitRequestTopic
    partition = topic.OffsetCommitRequestPartition
    offsets = [partition(partition_index=n % 4, committed_offset=n, committed_metadata="") for n in range(count)]
    request = consumer.OffsetCommitRequest(
        group_id="g", generation_id_or_member_epoch=-1, member_id="", topics=[topic(name="t", partitions=offsets)]
    )
    return request, 8


def many_protocols(count: int) -> tuple[Any, int]:
    protocol = consumer.JoinGroupRequest.JoinGroupRequestProtocol
    request = consumer.JoinGroupRequest(
        group_id="j", session_timeout_ms=60_000, rebalance_timeout_ms=1_000, member_id="", protocol_type="consumer",
        protocols=[protocol(name=name, metadata=b"") for name in names(count)],
    )  # fmt: skip
    return request, 3


def many_leaving(count: int) -> tuple[Any, int]:
    member = consumer.LeaveGroupRequest.MemberIdentity
    return consumer.LeaveGroupRequest(group_id="g", members=[member(member_id=name) for name in names(count)]), 5


LONG = (many_topics, many_groups, many_commits, many_protocols, many_leaving)


@pytest.mark.parametrize("make", LONG)
def test_no_turn_of_the_event_loop_is_long__however_long_the_request(
    broker: EmbeddedBroker, make: Callable[[int], tuple[Any, int]]
) -> None:
    gc.collect()
    gc.freeze()  # what other tests left in this process is not collected in a turn of the broker
    watch = TurnWatch()
    watching = broker.spawn(watch.run())
    with Connection(broker.bootstrap, timeout_s=TIMEOUT_S) as connection:
        connection.call(*make(MAX_ELEMENTS - 100))
    watching.cancel()
    gc.unfreeze()
    assert watch.longest_ms < LONGEST_TURN_MS


@pytest.mark.parametrize("make", LONG)
def test_a_request_of_too_many_elements_closes_its_connection(
    broker: EmbeddedBroker, make: Callable[[int], tuple[Any, int]]
) -> None:
    with Connection(broker.bootstrap, timeout_s=TIMEOUT_S) as connection, pytest.raises(ConnectionError):
        connection.call(*make(MAX_ELEMENTS + 100))


def test_a_broker_stops_at_once__and_says_nothing__with_a_connection_that_waits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    began = time.monotonic()
    with EmbeddedBroker({"t": 1}) as stopping, socket.create_connection(split_address(stopping.bootstrap), 5) as peer:
        peer.sendall(parked() * (READ_AHEAD_FRAMES + 10))
        with Connection(stopping.bootstrap) as other:
            other.call(metadata.MetadataRequest(topics=None), 1)
    assert time.monotonic() - began < TIMEOUT_S / 4
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_pipelined_requests_do_not_hold_up_another_connection(broker: EmbeddedBroker) -> None:
    beat = framed(consumer.HeartbeatRequest(group_id="g", generation_id=1, member_id="m"), 3) * 2_000
    with socket.create_connection(split_address(broker.bootstrap), 5) as busy, Connection(broker.bootstrap) as other:
        busy.setblocking(False)
        end = time.monotonic() + 1
        while time.monotonic() < end:
            try:
                busy.send(beat)
                busy.recv(1 << 16)
            except BlockingIOError:
                pass
            assert other.call(admin.ListGroupsRequest(states_filter=[]), 4).error_code == 0
