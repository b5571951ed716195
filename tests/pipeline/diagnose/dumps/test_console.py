"""The output of the console consumer: many objects on a line, text in Scala, keys and values of Connect's topics."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from rebalance_check.pipeline.diagnose.dumps.console import is_console, read_console
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
GLUED = "[2026-11-28 14:20:53,484] ERROR Error processing message, terminating consumer process:  (org.ConsoleConsumer)"


def key(group: str, kind: str = "type") -> dict[str, Any]:
    return {"key": {kind: 2, "data": {"group": group}}}


DATA: dict[str, Any] = {
    "protocolType": "", "generation": 0, "protocol": None, "leader": None, "currentStateTimestamp": 5, "members": [],
}  # fmt: skip
VALUE: dict[str, Any] = {"version": 3, "data": DATA}


def row(group: str, kind: str = "type", value: Any = VALUE) -> str:
    return json.dumps({**key(group, kind), "value": value}, separators=(",", ":"))


# ----------------------------------------------------------------------------------------------------------------- json


def test_all_objects_of_a_line_are_read_and_the_log_at_its_end_is_not(read: Read) -> None:
    facts = read(read_console, "3.9.2/console-group-metadata-json.dump")
    assert [type(fact) for fact in facts] == [GroupRecorded] * 25
    assert {fact.place.number for fact in facts} == {1}
    assert [(fact.group, fact.generation, len(fact.members)) for fact in facts][:5] == [
        ("tax-evicted", generation, count) for generation, count in ((2, 2), (3, 2), (4, 3), (5, 2), (6, 0))
    ]
    first = facts[0]
    assert (first.time_ms, first.state_time_ms) == (None, 1795875501242)
    assert first.members[0] == RecordedMember(
        member="m1-3253ab39-0b8c-4fe1-91a6-739a8cfbb1e0", client="m1", host="127.0.0.1", session_timeout_ms=30_000,
        rebalance_timeout_ms=6_000, topics=("t-tax-evicted",), claimed_generation=-1,
        assignment=("t-tax-evicted-0", "t-tax-evicted-1"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        (row("a") + row("b", "version") + GLUED, "ab"),
        (GLUED + row("a"), "a"),
        (row("a") + "\n" + row("b"), "ab"),
        (row("a", value=None) + row("b"), "ab"),
        ("Processed a total of 27 messages\n\norg.apache.kafka.common.errors.TimeoutException", ""),
    ],
)
def test_objects_are_found_wherever_they_stand(text: str, groups: str, read: Read) -> None:
    assert "".join(fact.group for fact in read(read_console, "c", text)) == groups


def test_a_tombstone_deletes_the_group(read: Read) -> None:
    (fact,) = read(read_console, "c", row("a", value=None))
    assert fact == GroupDeleted(place=Place("c", 1), time_ms=None, group="a")


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (row("x")[:-30], "the JSON of a record is damaged"),
        (row("x", value="unknown"), "there is no field named data"),
        (row("x", value={"version": 3, "data": {}}), "Object missing required field"),
        (row("x", value={"version": 3, "data": {**DATA, "generation": "1"}}), "Expected `int`, got `str`"),
        ('{"key":{"type":31,"data":{}},"value":null}', "a record of type 31, which no known release writes"),
        ('{"key":{"type":2,"data":{"group":"x"}},"other":1}', "the JSON of a record has no value"),
        ('{"key":{"type":"two"},"value":null}', "a record of type -1"),
    ],
)
def test_a_broken_object_is_noted_and_the_next_is_read(broken: str, why: str, read: Read) -> None:
    note, fact = read(read_console, "c", broken + row("b"))
    assert isinstance(note, NotUnderstood)
    assert why in note.why
    assert fact.group == "b"


def test_bytes_that_are_no_base64_are_noted(read: Read) -> None:
    member = {
        "memberId": "m", "groupInstanceId": None, "clientId": "c", "clientHost": "/h", "rebalanceTimeout": 1,
        "sessionTimeout": 2, "subscription": "A", "assignment": "",
    }  # fmt: skip
    data = {**DATA, "protocolType": "consumer", "members": [member]}
    recorded, note = read(read_console, "c", row("g", value={"version": 3, "data": data}))
    assert recorded.members[0].assignment is None
    assert note.why.startswith("the bytes of m are no base64")


# ---------------------------------------------------------------------------------------------------------------- scala

MEMBER = (
    "MemberMetadata(memberId=m-1, {instance}clientId=m, clientHost=/h, sessionTimeoutMs=6000, rebalanceTimeoutMs=7000, "
    "supportedProtocols=List(range))"
)
GROUP = (
    "my group::GroupMetadata(groupId=my group, generation=4, protocolType={type}, currentState={state}, "
    "members={members})"
)


@pytest.mark.parametrize(
    ("instance", "expected"), [("groupInstanceId=Some(i-1), ", "i-1"), ("groupInstanceId=None, ", ""), ("", "")]
)
@pytest.mark.parametrize("kind", ["HashMap", "Map"])
def test_a_group_in_scala_is_read(instance: str, expected: str, kind: str, read: Read) -> None:
    member = MEMBER.format(instance=instance)
    text = GROUP.format(type="Some(consumer)", state="Stable", members=f"{kind}(m-1 -> {member})")
    assert read(read_console, "c", text) == [
        GroupRecorded(
            place=Place("c", 1), time_ms=None, group="my group", generation=4, leader="", protocol="range",
            protocol_type="consumer",
            members=(RecordedMember(member="m-1", instance=expected, client="m", host="h", session_timeout_ms=6_000,
                                    rebalance_timeout_ms=7_000),),
        )
    ]  # fmt: skip


COMMITTED = "[g,with,commas,a.b-c,7]::"


@pytest.mark.parametrize(
    ("text", "offset", "time_ms"),
    [
        ("OffsetAndMetadata(offset=12, leaderEpoch=Optional[3], metadata=a,b, commitTimestamp=17, x=None)", 12, 17),
        ("[OffsetMetadata[12,NO_METADATA],CommitTime 17,ExpirationTime 99]", 12, 17),
        ("NULL", None, None),
    ],
)
def test_a_commit_in_scala_is_read(text: str, offset: int | None, time_ms: int | None, read: Read) -> None:
    assert read(read_console, "c", COMMITTED + text) == [
        OffsetRecorded(place=Place("c", 1), time_ms=time_ms, group="g,with,commas", partition="a.b-c-7", offset=offset)
    ]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("g::NULL", [GroupDeleted]),
        (GROUP.format(type="None", state="Empty", members="HashMap()"), [GroupRecorded]),
        ("g::GroupMetadata(groupId=g, generation=one)", [NotUnderstood]),
        (GROUP.format(type="None", state="Dead", members="Map(MemberMetadata(m))"), [GroupRecorded, NotUnderstood]),
    ],
)
def test_other_lines_in_scala(text: str, kinds: list[type], read: Read) -> None:
    assert [type(fact) for fact in read(read_console, "c", text)] == kinds


# -------------------------------------------------------------------------------------------------------------- connect


@pytest.mark.parametrize("release", ["3.9.2", "4.3.1"])
def test_the_config_topic_gives_keys_counts_and_target_states_and_no_other_value(release: str, read: Read) -> None:
    facts = read(read_console, f"connect-{release}/console-pipes-configs.dump")
    assert [type(fact) for fact in facts] == [ConfigRecorded] * 22
    assert facts[0].key == "session-key"
    assert [(fact.key, fact.value) for fact in facts if fact.value] == [
        ("commit-demo", "3"), ("commit-demo", "3"), ("target-state-demo", "PAUSED"), ("target-state-demo", "STARTED"),
        ("commit-two", "2"), ("commit-demo", "1"),
    ]  # fmt: skip
    assert [fact.key for fact in facts if fact.deleted] == ["connector-demo", "target-state-demo"]
    kept = "".join(map(repr, facts)) + "".join(fact.place.text for fact in facts)
    assert not any(secret in kept for secret in ("REDACTED", "HmacSHA256", "DemoSource", "fail"))


STATUS = '{"state":"RUNNING","trace":null,"worker_id":"w:8083","generation":3}'


@pytest.mark.parametrize(
    ("line", "time_ms"),
    [
        (f"CreateTime:17\tPartition:0\tOffset:1\tstatus-task-a-0\t{STATUS}", 17),
        (f"LogAppendTime:17\tstatus-task-a-0\t{STATUS}", 17),
        (f"NoTimestampType\tNO_HEADERS\tstatus-task-a-0\t{STATUS}", None),
        (f"status-task-a-0\t{STATUS}", None),
        (f"status-task-a-0:{STATUS}", None),
        (f"status-task-a-0 = {STATUS}", None),
        (json.dumps({"topic": "s", "offset": 1, "ts": 17, "key": "status-task-a-0", "payload": STATUS}), 17),
    ],
)
def test_a_status_is_read_with_each_setting_of_the_formatter(line: str, time_ms: int | None, read: Read) -> None:
    line = line.replace('", "', '","').replace('": ', '":').replace(', "', ',"')
    assert read(read_console, "c", line) == [
        StatusRecorded(place=Place("c", 1), time_ms=time_ms, work="a-0", state="RUNNING", worker="w:8083", generation=3)
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (STATUS, "the status has no key"),
        (f"CreateTime:17\t{STATUS}", "the status has no key"),
        ('status-task-a-0\t{"state":"RUN', "the status of a-0 has no state and generation"),
        ('{"topic":"s","key":"status-task-a-0","payl', "the JSON of a record is damaged"),
        ('{"topic":"s","key":"status-task-a-0","payload":7}', "of another type"),
    ],
)
def test_a_status_that_cannot_be_read_is_noted(line: str, why: str, read: Read) -> None:
    (note,) = read(read_console, "c", line)
    assert isinstance(note, NotUnderstood)
    assert why in note.why


@pytest.mark.parametrize(
    "line",
    [
        'connector-a\t{"properties":{"password":"hunter2"}',
        'CreateTime:1\tconnector-a\t{"properties":{"password":"hunter2"}}',
        'connector-a {"properties":{"password":"hunter2"}} x::NULL',
        '{"topic":"c","key":"connector-a","payload":"{\\"password\\":\\"hunter2\\"}"}',
        '{"topic":"c","key":"connector-a","payload":"{\\"password\\":\\"hunter2\\"',
        '{"key":"hunter2","algorithm":"HmacSHA256"}',
        'session-key\t{"key":"hunter2","algorithm":"HmacSHA256"}',
        'target-state-a\t{"state":"hunter2"}',
        'commit-a\t{"tasks":"hunter2"}',
    ],
)
def test_no_secret_is_kept(line: str, read: Read) -> None:
    facts = read(read_console, "c", line)
    assert "hunter2" not in "".join(map(repr, facts)) + "".join(fact.place.text for fact in facts)


def test_console_outputs_are_recognised(sample: Callable[[str], bytes]) -> None:
    for name in (
        "3.9.2/console-group-metadata.dump",
        "3.9.2/console-group-metadata-json.dump",
        "3.9.2/console-offsets.dump",
        "4.3.1/console-offsets.dump",
        "connect-3.9.2/console-pipes-status.dump",
        "connect-4.3.1/console-pipes-configs.dump",
    ):
        assert is_console(sample(name)[:65_536].decode()), name
    others = ("3.9.2/dumplog-__consumer_offsets-0.dump", "3.9.2/list-state.table", "connect-3.9.2/rest-status.jsonl")
    for name in others:
        assert not is_console(sample(name)[:65_536].decode()), name
