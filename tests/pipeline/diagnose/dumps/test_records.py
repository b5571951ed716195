"""One record, as bytes, gives facts; a record of an unknown form gives a note, and never an error."""

import struct
from collections.abc import Callable
from typing import Any

import pytest

from rebalance_check.impl.protocol.connect_protocol import (
    ConnectAssignment,
    WorkerState,
    write_connect_assignment,
    write_worker_state,
)
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.pipeline.diagnose.dumps.records import MODERN, RecordKind, kind_of, record_facts
from rebalance_check.pipeline.diagnose.facts import (
    GroupDeleted,
    GroupRecorded,
    ModernGroupSeen,
    NotUnderstood,
    OffsetRecorded,
    Place,
)

Fields = Callable[[list[bytes | str]], bytes]
AT = Place("topic", 9)


def i16(number: int) -> bytes:
    return struct.pack(">h", number)


def i32(number: int) -> bytes:
    return struct.pack(">i", number)


def i64(number: int) -> bytes:
    return struct.pack(">q", number)


def facts_of(key: bytes | None, value: bytes | None, time_ms: int | None = 1_000) -> list[Any]:
    return list(record_facts(key, value, source="topic", offset=9, time_ms=time_ms, partition=3))


OWN = [TopicPartition("t", 1), TopicPartition("u", 0)]
SUBSCRIPTION = write_subscription(Subscription(topics=("t", "u"), owned=(OWN[0],), generation=4))
ASSIGNMENT = write_assignment(Assignment(partitions=tuple(OWN)))


# ------------------------------------------------------------------------------------------------------------- commits


@pytest.mark.parametrize(
    ("version", "rest"),
    [
        (0, ["", i64(5)]),
        (1, ["", i64(5), i64(6)]),
        (2, ["meta", i64(5)]),
        (3, [i32(-1), "", i64(5)]),
        (4, [i32(-1), b"\x01", i64(5), b"\x00"]),
    ],
)
def test_a_commit_of_each_version_is_read(version: int, rest: list[bytes | str], fields: Fields) -> None:
    key = fields([i16(version % 2), "g", "a-topic", i32(12)])
    value = fields([i16(version), i64(77), *rest])
    assert facts_of(key, value) == [
        OffsetRecorded(place=AT, time_ms=1_000, group="g", partition="a-topic-12", offset=77)
    ]
    assert kind_of(key) is RecordKind.OFFSET
    (cut,) = facts_of(key, value[:19])
    assert "is cut off after 19 bytes" in cut.why


def test_a_tombstone_of_a_commit_has_no_offset(commit: Callable[..., tuple[bytes, bytes | None]]) -> None:
    assert facts_of(*commit(None), time_ms=-1) == [
        OffsetRecorded(place=AT, time_ms=None, group="g", partition="t-0", offset=None)
    ]


# -------------------------------------------------------------------------------------------------------------- groups


def member(version: int) -> list[bytes | str]:
    instance: list[bytes | str] = ["static"] if version >= 3 else []
    rebalance = [i32(60_000)] if version >= 1 else []
    sized = [part for data in (SUBSCRIPTION, ASSIGNMENT) for part in (i32(len(data)), data)]
    return ["m-1", *instance, "m", "/10.0.0.1", *rebalance, i32(9_000), *sized]


def compact(data: bytes | str) -> bytes:
    raw = data if isinstance(data, bytes) else data.encode()
    length = len(raw) + 1
    return (bytes([length]) if length < 0x80 else bytes([length & 0x7F | 0x80, length >> 7])) + raw


FLEXIBLE = [
    i16(4), compact("consumer"), i32(8), compact("range"), compact("m-1"), i64(900), b"\x02",
    compact("m-1"), compact("static"), compact("m"), compact("/10.0.0.1"), i32(60_000), i32(9_000),
    compact(SUBSCRIPTION), compact(ASSIGNMENT), b"\x00", b"\x01\x07\x02ab",
]  # fmt: skip


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_a_group_of_each_version_is_read(version: int, fields: Fields) -> None:
    stamp = [i64(900)] if version >= 2 else []
    parts: list[bytes | str] = [i16(version), "consumer", i32(8), "range", "m-1", *stamp, i32(1), *member(version)]
    (found,) = facts_of(fields([i16(2), "g"]), fields([*FLEXIBLE] if version == 4 else parts))
    assert isinstance(found, GroupRecorded)
    assert (found.group, found.generation, found.leader, found.protocol) == ("g", 8, "m-1", "range")
    assert (found.protocol_type, found.partition, found.time_ms) == ("consumer", 3, 1_000)
    assert found.state_time_ms == (900 if version >= 2 else None)
    (one,) = found.members
    assert (one.member, one.client, one.host, one.session_timeout_ms) == ("m-1", "m", "10.0.0.1", 9_000)
    assert one.instance == ("static" if version >= 3 else "")
    assert one.rebalance_timeout_ms == (60_000 if version >= 1 else 9_000)
    assert (one.topics, one.owned, one.claimed_generation) == (("t", "u"), ("t-1",), 4)
    assert one.assignment == ("t-1", "u-0")


def test_a_group_that_is_created_or_empty_or_deleted(fields: Fields) -> None:
    key = fields([i16(2), "g"])
    (created,) = facts_of(key, fields([i16(3), "", i32(0), i16(-1), i16(-1), i64(900), i32(0)]))
    assert (created.generation, created.protocol_type, created.leader, created.members) == (0, "", "", ())
    assert facts_of(key, None) == [GroupDeleted(place=AT, time_ms=1_000, group="g")]


@pytest.mark.parametrize(("version", "claim"), [(0, None), (1, None), (2, 4), (3, 4)])
def test_an_old_subscription_has_no_place_for_a_generation(version: int, claim: int | None, fields: Fields) -> None:
    data = write_subscription(Subscription(topics=("t",), owned=(OWN[0],), generation=4), version)
    sized = [i32(len(data)), data, i32(0)]
    row: list[bytes | str] = ["m-1", i16(-1), "m", "h", i32(-1), i32(9_000), *sized]
    value = fields([i16(3), "consumer", i32(1), "range", "m-1", i64(-1), i32(1), *row])
    (found,) = facts_of(fields([i16(2), "g"]), value)
    (one,) = found.members
    assert (one.claimed_generation, one.owned, one.assignment) == (claim, ("t-1",) if version else (), ())
    assert (one.rebalance_timeout_ms, found.state_time_ms) == (9_000, None)


def test_bytes_of_members_that_are_damaged_are_noted_and_the_rest_is_kept(fields: Fields) -> None:
    row: list[bytes | str] = ["m-1", i16(-1), "m", "h", i32(1), i32(2), i32(3), b"\x00\x03\x00", i32(1), b"\x00"]
    value = fields([i16(3), "consumer", i32(1), "range", "m-1", i64(5), i32(1), *row])
    recorded, note = facts_of(fields([i16(2), "g"]), value)
    assert (recorded.members[0].topics, recorded.members[0].assignment) == ((), None)
    assert note.why.startswith("the subscription of m-1: cannot read a consumer subscription")
    assert "the assignment of m-1" in note.why


def test_bytes_of_an_unknown_protocol_stay_unread(fields: Fields) -> None:
    row: list[bytes | str] = ["m-1", i16(-1), "m", "h", i32(1), i32(2), i32(1), b"{", i32(1), b"}"]
    value = fields([i16(3), "sr", i32(1), "v0", "m-1", i64(5), i32(1), *row])
    (recorded,) = facts_of(fields([i16(2), "schemas"]), value)
    assert (recorded.protocol_type, recorded.members[0].assignment) == ("sr", None)


# ----------------------------------------------------------------------------------------------------------- new groups


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        *((number, RecordKind.CONSUMER) for number in (3, 4, 5, 6, 7, 8, 16)),
        *((number, RecordKind.SHARE) for number in range(9, 16)),
        *((number, RecordKind.STREAMS) for number in range(17, 24)),
    ],
)
def test_a_new_group_is_seen_and_no_more(number: int, kind: RecordKind, fields: Fields) -> None:
    key = fields([i16(number), "g", "member"])
    epoch = 6 if number in {3, 11, 17} else None
    seen = ModernGroupSeen(place=AT, time_ms=1_000, group="g", kind=MODERN[kind], epoch=epoch)
    assert kind_of(key) is kind
    assert facts_of(key, i16(0) + i32(6) + b"\x00") == [seen]
    assert [type(each) for each in facts_of(key, None)] == [ModernGroupSeen]


# ------------------------------------------------------------------------------------------------------ unknown records


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        (None, b"", "the record has no key"),
        (b"", b"", "the record has no key"),
        (b"\x00", b"", "no known topic has a key"),
        (i16(24) + b"\x00\x01g", b"", "no known topic has a key that begins with b'\\x00\\x18"),
        (i16(-1), b"", "no known topic has a key"),
        (b"orders-17", b"{}", "no known topic has a key"),
        (i16(2), b"", "cannot read the key of a group: field 'group'"),
        (i16(1) + b"\x00\x01g", b"", "cannot read the key of a commit: field 'topic'"),
        (i16(2) + b"\x00\x01g", i16(5), "field 'version' at byte 2 is 5, known are 0 to 4"),
        (i16(2) + b"\x00\x01g", i16(3) + i16(9), "cannot read the record of the group g: field 'protocolType'"),
        (i16(1) + b"\x00\x01g\x00\x01t" + i32(0), i16(5) + i64(0), "has version 5, known are 0 to 4"),
        (i16(1) + b"\x00\x01g\x00\x01t" + i32(0), b"\x00", "has version -1"),
        (i16(3) + b"\x00\x01g", b"\x00", "cannot read the epoch of the group g"),
        (b"status-task-", b"{}", "is no key of the status topic"),
        (b"status-task-a-0", b"{}", "the status of a-0 has no state and generation"),
    ],
)
def test_a_record_that_is_none_is_noted(key: bytes | None, value: bytes, why: str) -> None:
    (note,) = facts_of(key, value)
    assert isinstance(note, NotUnderstood)
    assert why in note.why
    assert str(note.place) == "topic:9"


# -------------------------------------------------------------------------------------------------------------- connect

CLAIM: Any = write_connect_assignment(ConnectAssignment(leader="w", leader_url="u", connectors=("a",)), 2)
STATE = write_worker_state(WorkerState(url="http://w:8083/", config_offset=4), 2)


def connect_row(state: bytes, assignment: bytes) -> list[bytes | str]:
    sized = [part for data in (state, assignment) for part in (i32(len(data)), data)]
    member: list[bytes | str] = ["w-1", i16(-1), "w", "h", i32(1), i32(2), *sized]
    return [i16(3), "connect", i32(1), "sessioned", "w-1", i64(5), i32(1), *member]


@pytest.mark.parametrize(
    ("state", "assignment", "worker", "work"),
    [
        (STATE, CLAIM, "w:8083", ("a",)),
        (STATE, b"", "w:8083", ()),
        (write_worker_state(WorkerState(url="http://[w", config_offset=4), 2), CLAIM, "http://[w", ("a",)),
    ],
)
def test_a_worker_is_read(state: bytes, assignment: bytes, worker: str, work: tuple[str, ...], fields: Fields) -> None:
    (found,) = facts_of(fields([i16(2), "connect"]), fields(connect_row(state, assignment)))
    assert (found.members[0].worker, found.members[0].assignment) == (worker, work)


def test_the_work_of_a_worker_whose_claim_is_damaged_is_unknown(fields: Fields) -> None:
    found, note = facts_of(fields([i16(2), "connect"]), fields(connect_row(STATE[:9], CLAIM)))
    assert found.members[0].assignment is None
    assert note.why.startswith("the subscription of w-1: cannot read a worker's metadata")


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b"7", b'{"tasks":"3"}', b'{"tasks":true}'])
def test_a_count_that_cannot_be_read_is_left_out(value: bytes) -> None:
    (found,) = facts_of(b"commit-a", value)
    assert (found.key, found.value, found.deleted) == ("commit-a", "", False)


def test_the_topics_of_a_connector_are_no_status() -> None:
    assert facts_of(b"status-topic-orders:connector-a", b'{"topic":{"name":"orders"}}') == []
