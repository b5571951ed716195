"""The output of kafka-dump-log: the decoder's JSON, its older text, plain topics of Connect, transactions."""

from collections.abc import Callable
from typing import Any

import pytest

from rebalance_check.pipeline.diagnose.dumps.console import read_console
from rebalance_check.pipeline.diagnose.dumps.dump_log import is_dump_log, read_dump_log
from rebalance_check.pipeline.diagnose.facts import (
    ConfigRecorded,
    GroupDeleted,
    GroupRecorded,
    NotUnderstood,
    OffsetRecorded,
    Place,
    RecordedMember,
    StatusRecorded,
)

Read = Callable[..., list[Any]]
HEAD = "| offset: 4 CreateTime: 1664531116553 keySize: 12 valueSize: 257 sequence: -1 headerKeys: []"
BATCH = (
    "baseOffset: 1 lastOffset: 1 count: 1 baseSequence: 0 lastSequence: 0 producerId: {producer} producerEpoch: 0 "
    "partitionLeaderEpoch: 0 isTransactional: {transactional} isControl: {control} deleteHorizonMs: OptionalLong.empty "
    "position: 339 CreateTime: 1664531387354 size: 118 magic: 2 compresscodec: none crc: 810578779 isvalid: true"
)
TIME = 1664531116553


def one(text: str, read: Read) -> Any:
    (fact,) = read(read_dump_log, "dump.txt", text)
    return fact


WORK = """
1 | | none
2 | |
3 | demo |
4 | demo demo-0 demo-2 | demo-1
5 | demo demo-0 demo-2 | demo-1
6 | demo demo-0 demo-2 | demo-1 two
7 | demo demo-0 demo-2 | demo-1 two two-0 two-1
8 | demo demo-0 demo-2 | none
9 | demo demo-0 demo-1 demo-2 two two-0 two-1 | none
10 | demo demo-0 demo-1 demo-2 |
11 | demo demo-0 demo-1 demo-2 | two two-0 two-1
12 | demo demo-0 demo-1 demo-2 | none
13 | demo demo-0 demo-1 demo-2 two two-0 two-1 | none
14 | demo demo-0 demo-1 demo-2 |
15 | demo demo-0 demo-1 demo-2 | two two-0 two-1
16 | demo demo-0 demo-1 demo-2 | none
17 | demo demo-0 demo-1 demo-2 |
18 | demo demo-0 demo-1 demo-2 | two two-0 two-1
19 | demo demo-0 | two two-0 two-1
20 | demo demo-0 | two two-0 two-1
21 | | two two-1
22 | two-0 | two two-1
"""
"""The work of both workers in each generation, as their own logs say: ``Joined group at generation``."""


def test_the_work_of_workers_is_as_they_log_it_in_each_generation(read: Read) -> None:
    facts = read(read_dump_log, "connect-3.9.2/dumplog-__consumer_offsets-1.dump")
    assert {(fact.group, fact.protocol_type, fact.protocol) for fact in facts if fact.members} == {
        ("pipes", "connect", "sessioned")
    }
    found = {}
    for fact in facts:
        work = {member.client: " ".join(sorted(member.assignment)) for member in fact.members}
        found[fact.generation] = f"{fact.generation} | {work.get('w1', 'none')} | {work.get('w2', 'none')}"
    expected = {int(line.split(" ")[0]): line for line in WORK.strip().split("\n")}
    assert {generation: " ".join(found[generation].split()) for generation in expected} == expected


def test_the_claims_and_addresses_of_workers_are_read(read: Read) -> None:
    facts = read(read_dump_log, "connect-3.9.2/dumplog-__consumer_offsets-1.dump")
    (fourth,) = (fact for fact in facts if fact.generation == 4)
    assert {(member.client, member.worker, member.owned) for member in fourth.members} == {
        ("w1", "127.0.0.1:47863", ("demo",)), ("w2", "127.0.0.1:52139", ()),
    }  # fmt: skip
    assert {member.claimed_generation for member in fourth.members} == {None}
    assert (fourth.partition, fourth.time_ms) == (1, 1795875137281)


def test_the_status_topic_says_the_same_by_both_tools(read: Read) -> None:
    dumped = read(read_dump_log, "connect-3.9.2/dumplog-pipes-status-0.dump")
    console = read(read_console, "connect-3.9.2/console-pipes-status.dump")

    def bare(facts: list[Any]) -> list[tuple[Any, ...]]:
        return [(type(each), each.time_ms, each.work, each.state, each.worker, each.generation) for each in facts]

    assert bare(dumped)[:61] == bare(console)
    assert (len(dumped), len(console)) == (64, 61)
    assert bare(dumped)[51] == (StatusRecorded, 1795875249789, "demo-1", None, "", None)
    assert bare(dumped)[3] == (StatusRecorded, 1795875137369, "demo-1", "RUNNING", "127.0.0.1:52139", 4)
    failed = [fact for fact in dumped if fact.state == "FAILED"]
    assert [(fact.work, fact.trace.split(":")[0]) for fact in failed] == [("demo-1", "java.lang.IllegalStateException")]


OLD_GROUP = (
    'key: group_metadata::group=my::group payload: {"protocolType":"consumer","protocol":"range","generationId":1,'
    '"assignment":"{c-1-75=[in-0, in-1],c-2-80=[],c-3-1=[o-5]:0A0B}"}'
)
OFFSET: dict[str, Any] = {"place": Place("dump.txt", 1), "time_ms": TIME, "group": "g,x"}


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        (
            OLD_GROUP,
            GroupRecorded(
                place=Place("dump.txt", 1), time_ms=TIME, group="my::group", generation=1, leader="", protocol="range",
                protocol_type="consumer",
                members=(
                    RecordedMember(member="c-1-75", assignment=("in-0", "in-1")),
                    RecordedMember(member="c-2-80", assignment=()),
                    RecordedMember(member="c-3-1", assignment=("o-5",)),
                ),
            ),
        ),
        ("key: group_metadata::group=g payload: <DELETE>", GroupDeleted(place=Place("", 1), time_ms=TIME, group="g")),
        (
            "key: offset_commit::group=g,x,partition=a-b-3 payload: offset=17,metadata=some,thing",
            OffsetRecorded(partition="a-b-3", offset=17, **OFFSET),
        ),
        (
            "key: offset_commit::group=g,x,partition=a-b-3 payload: <DELETE>",
            OffsetRecorded(partition="a-b-3", offset=None, **OFFSET),
        ),
        (
            'key: {"type":"1","data":{"group":"g,x","topic":"a.b","partition":3}} payload: <DELETE>',
            OffsetRecorded(partition="a.b-3", offset=None, **OFFSET),
        ),
        (
            'key: {"type":"2","data":{"group":"g"}} payload: <DELETE>',
            GroupDeleted(place=Place("", 1), time_ms=TIME, group="g"),
        ),
    ],
)  # fmt: skip
def test_a_line_of_each_form_is_read(line: str, fact: Any, read: Read) -> None:
    found = one(f"{HEAD} {line}", read)
    assert found.place.number == 1
    assert (found == fact) if fact.place.source else (type(found), found.group) == (type(fact), fact.group)


@pytest.mark.parametrize("payload", ["", " payload: <DELETE>", " payload: null"])
def test_a_tombstone_of_a_plain_topic(payload: str, read: Read) -> None:
    found = one(f"{HEAD} key: status-task-a-1{payload}", read)
    assert (found.work, found.state) == ("a-1", None) if payload != " payload: null" else found.why


def test_the_partition_is_that_of_the_dumped_file(read: Read) -> None:
    value = '"protocolType":"","generation":0,"protocol":null,"leader":null,"currentStateTimestamp":-1,"members":[]'
    group = f'{HEAD} key: {{"type":"2","data":{{"group":"g"}}}} payload: {{"version":"3","data":{{{value}}}}}'
    lines = ["Dumping /k/__consumer_offsets-17/0.log", group, "Dumping /k/other-1/0.log", group]
    assert [fact.partition for fact in read(read_dump_log, "d", "\n".join(lines))] == [17, None]


@pytest.mark.parametrize(("end", "kept"), [("COMMIT", [3, 1]), ("ABORT", [3])])
def test_commits_of_a_transaction_count_by_its_marker(end: str, kept: list[int], read: Read) -> None:
    commit = HEAD + " key: offset_commit::group=g,partition=t-0 payload: offset={}"
    lines = [
        BATCH.format(producer=7, transactional="true", control="false"), commit.format(1),
        BATCH.format(producer=8, transactional="true", control="false"), commit.format(2),
        BATCH.format(producer=-1, transactional="false", control="false"), commit.format(3),
        BATCH.format(producer=7, transactional="true", control="true"),
        f"{HEAD} endTxnMarker: {end} coordinatorEpoch: 0",
    ]  # fmt: skip
    *facts, note = read(read_dump_log, "d", "\n".join(lines))
    assert [fact.offset for fact in facts] == kept
    assert note.why.startswith("1 records belong to transactions whose end is not in the source")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('key: {"type":"2","data":{"group":"g"}} payload: {"version":"3","data', "the JSON of the record is damaged"),
        ('key: {"type":"2","data":{"gr', "the JSON of the record is damaged"),
        ('key: {"type":"2","data":{}} payload: <DELETE>', "a record of type 2: Object missing required field `group`"),
        ('key: {"type":"2"} payload: <DELETE>', "a record of type 2: there is no field named data"),
        ('key: {"type":"99","data":{}} payload: <DELETE>', "a record of type 99, which no known release writes"),
        ('key: {"id":5} payload: {}', "a record of type -1"),
        ("key: offset_commit::group=g,partition=t-0 payload: none", "the commit has no offset"),
        ("key: group_metadata::group=g payload: {}", "the JSON of the group is damaged"),
        ("key: \x00\x02\x00\x01g payload: x", "give kafka-dump-log --offsets-decoder"),
        ("key: status-task-a-0 payload: {}", "the status of a-0 has no state and generation"),
    ],
)
def test_a_line_that_is_not_understood_is_noted(line: str, why: str, read: Read) -> None:
    note = one(f"{HEAD} {line}", read)
    assert isinstance(note, NotUnderstood)
    assert why in note.why


def test_of_another_topic_only_the_first_records_are_noted(read: Read) -> None:
    lines = [f"{HEAD} key: order-{number} payload: x" for number in range(150)]
    assert len(read(read_dump_log, "d", "\n".join(lines))) == 100


def test_values_of_the_config_topic_are_not_kept(read: Read) -> None:
    value = '{"properties":{"database.password":"hunter2"}}'
    lines = [f"{HEAD} key: {key} payload: {value}" for key in ("connector-a", "task-a-0", "session-key")]
    lines.append(f"{HEAD} key: connector-a {value}")
    facts = read(read_dump_log, "d", "\n".join(lines))
    assert [type(fact) for fact in facts] == [ConfigRecorded] * 3 + [NotUnderstood]
    assert "hunter2" not in "".join(map(repr, facts)) + "".join(fact.place.text for fact in facts)


def test_dumps_are_recognised(sample: Callable[[str], bytes]) -> None:
    for name in ("3.9.2/dumplog-__consumer_offsets-0.dump", "connect-3.9.2/dumplog-pipes-status-0.dump"):
        assert is_dump_log(sample(name)[:65_536].decode())
    assert is_dump_log(f"{HEAD} {OLD_GROUP}")
    for name in ("3.9.2/console-group-metadata.dump", "3.9.2/list-state.table", "connect-3.9.2/rest-status.jsonl"):
        assert not is_dump_log(sample(name).decode())
