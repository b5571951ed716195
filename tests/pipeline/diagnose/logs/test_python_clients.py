"""The logs of kafka-python and aiokafka: ownership against their listeners' callbacks, generations, stalls, a fight."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.pipeline.diagnose.facts import (
    Assigned,
    AssignmentComputed,
    ClientFact,
    CoordinatorUnavailable,
    Fact,
    Joined,
    JoinSent,
    LeaveSent,
    Lost,
    MembershipReset,
    NotUnderstood,
    PollTimedOut,
    ProcessStarted,
    RejoinDecided,
    RequestRefused,
    Synced,
)
from rebalance_check.pipeline.diagnose.logs.python_clients import PythonClientLog, is_aiokafka, is_kafka_python
from tests.diagnose_logs import (
    LOGS,
    assert_same_ownership,
    callbacks,
    everything,
    not_understood,
    of_lines,
    only,
    ownership,
    records_of,
    truth,
)

MEMBERS = [
    *(("kafka-python", member) for member in ("p1", "p2", "p3")),
    *(("kafka-python-stall", member) for member in ("p1", "p2")),
    *(("kafka-python-cooperative", member) for member in ("p1", "p2")),
    *(("aiokafka", member) for member in ("p1", "p2", "p3")),
    *(("aiokafka-stall", member) for member in ("p1", "p2")),
    *(("aiokafka-static", member) for member in ("p1", "p1b")),
]
GROUPS = {
    "kafka-python": "app-kafka-python", "kafka-python-stall": "stall-kafka-python",
    "kafka-python-cooperative": "kp-coop", "aiokafka": "app-aiokafka", "aiokafka-stall": "stall-aiokafka",
}  # fmt: skip


def log_of(run: str, member: str) -> list[Fact | NotUnderstood]:
    return everything(PythonClientLog(), f"python/{run}-{member}.log")


@pytest.mark.parametrize(("run", "member"), MEMBERS)
def test_each_line_is_understood__and_carries_the_client(run: str, member: str) -> None:
    facts = log_of(run, member)
    assert not_understood(facts) == []
    client = member if run.startswith("kafka") else f"{run}-{member}"
    assert {fact.client for fact in only(ClientFact, facts)} == {client}


@pytest.mark.parametrize(("run", "member"), MEMBERS)
def test_ownership_begins_and_ends_with_the_listener_s_callbacks(run: str, member: str) -> None:
    facts, rows = log_of(run, member), truth(f"python/{run}.tsv")
    assert_same_ownership(facts, rows, member, within_ms=15)
    assert len(ownership(facts)) == len(callbacks(rows, member))


@pytest.mark.parametrize(
    ("run", "member", "generations"),
    [
        ("kafka-python", "p1", [1, 2, 3, 4, 5]), ("kafka-python", "p2", [2, 3]), ("kafka-python", "p3", [3, 4]),
        ("kafka-python-stall", "p1", [1, 2, 3, 4]), ("kafka-python-stall", "p2", [2, 4]),
        ("kafka-python-cooperative", "p2", [2, 3, 4, 6, 7, 8, 10, 11]),
        ("aiokafka", "p1", [1, 2, 3, 4, 5]), ("aiokafka", "p3", [3, 4]), ("aiokafka-stall", "p2", [2, 4, 5]),
    ],
)  # fmt: skip
def test_generations__and_member_ids(run: str, member: str, generations: list[int]) -> None:
    joined = only(Joined, log_of(run, member))
    assert [fact.generation for fact in joined] == generations
    assert all(fact.member.startswith(f"{member}-") for fact in joined)
    assert {fact.group for fact in joined} == {GROUPS[run]}


def test_a_process_begins_where_it_subscribes() -> None:
    (started,) = only(ProcessStarted, log_of("kafka-python", "p1"))
    assert (started.release, started.client, started.topics) == ("kafka-python", "p1", ("t-app-kafka-python",))
    (started,) = only(ProcessStarted, log_of("aiokafka", "p1"))
    assert (started.release, started.group, started.topics) == ("aiokafka", "app-aiokafka", ("t-app-aiokafka",))


def test_a_killed_process_that_begins_again_in_the_same_file() -> None:
    first, second = (
        (LOGS / f"python/{name}.log").read_text(encoding="utf-8") for name in ("aiokafka-p3", "aiokafka-p1")
    )
    starts = only(ProcessStarted, of_lines(PythonClientLog(), first + second))
    assert len(starts) == 2
    assert [start.place.number for start in starts] == [1, len(first.splitlines()) + 1]


def test_a_subscription_of_a_running_consumer_is_no_start() -> None:
    lines = (LOGS / "python/aiokafka-p1.log").read_text(encoding="utf-8").splitlines()
    facts = of_lines(PythonClientLog(), "\n".join([*lines[:9], *lines[:2], *lines[9:]]))
    assert len(only(ProcessStarted, facts)) == 1


def test_an_application_that_polls_too_seldom() -> None:
    facts = log_of("kafka-python-stall", "p2")
    (timeout,) = only(PollTimedOut, facts)
    assert (timeout.group, timeout.member) == ("stall-kafka-python", "p2-648cc6cf-ddbd-4d5f-8a98-b7081abd8782")
    assert only(LeaveSent, facts)[0].time_ms == timeout.time_ms
    assert [fact.partitions for fact in only(Lost, facts)] == [("t-stall-kafka-python-2", "t-stall-kafka-python-3")]


def test_a_blocked_event_loop__which_aiokafka_takes_for_a_dead_coordinator() -> None:
    facts = log_of("aiokafka-stall", "p2")
    assert [(fact.request, fact.error) for fact in only(RequestRefused, facts)] == [
        ("Heartbeat", "local member_id was not recognized")
    ]
    assert [fact.reason for fact in only(CoordinatorUnavailable, facts)] == ["Heartbeat session expired", ""]
    assert [fact.member for fact in only(MembershipReset, facts)] == ["p2-0bd61baa-9305-4d14-914f-426b1d6c4de9"]
    assert [fact.reason for fact in only(RejoinDecided, facts)] == ["is rebalancing"]


def test_two_processes_with_one_instance_id_join_again_and_again() -> None:
    for member in ("p1", "p1b"):
        facts = log_of("aiokafka-static", member)
        ids = [fact.member for fact in only(Joined, facts)]
        assert len(set(ids)) >= 19
        assert {fact.generation for fact in only(Synced, facts)[2:]} == {2}
        refused = [(fact.request, fact.error) for fact in only(RequestRefused, facts)]
        assert set(refused) == {
            ("Heartbeat", "local member_id was not recognized"),
            ("OffsetCommit", "UnknownMemberIdError"),
        }


def test_the_leader_s_assignment_at_debug() -> None:
    found = only(AssignmentComputed, log_of("kafka-python-cooperative", "p1"))
    assert [fact.generation for fact in found] == list(range(1, 13))
    names = [{member[:2]: tuple(name[-1] for name in parts) for member, parts in fact.assignments} for fact in found]
    assert names[:4] == [
        {"p1": ("0", "1", "2", "3")},
        {"p2": (), "p1": ("0", "1")},
        *2 * [{"p2": ("2", "3"), "p1": ("0", "1")}],
    ]


AT = "2026-01-01 00:00:00,000 "
SENTENCES = [
    ("INFO:kafka.coordinator:Successfully joined group g with generation 7", Joined, {"generation": 7, "group": "g"}),
    ("WARNING:kafka.coordinator:Heartbeat poll expired, leaving group", PollTimedOut, {}),
    ("INFO:kafka.coordinator:Leaving consumer group (g).", LeaveSent, {"group": "g"}),
    ("WARNING:kafka.coordinator:Heartbeat failed for group g: generation id is not  current.", RequestRefused,
     {"request": "Heartbeat", "error": "generation id is not"}),
    ("WARNING:kafka.coordinator:Marking the coordinator dead (node 3) for group my.group: [Error 16] x.",
     CoordinatorUnavailable, {"group": "my.group", "reason": "[Error 16] x"}),
    ("ERROR:kafka.coordinator:Attempt to join group g failed due to fatal error: InconsistentGroupProtocolError",
     RequestRefused, {"request": "JoinGroup", "error": "InconsistentGroupProtocolError", "group": "g"}),
    ("INFO:kafka.coordinator:Attempt to join group g rejected since coordinator 1 is loading the group.",
     RequestRefused, {"request": "JoinGroup", "error": "coordinator 1 is loading the group"}),
    ("ERROR:kafka.coordinator:SyncGroup for group g failed due to fenced id error: i7", RequestRefused,
     {"request": "SyncGroup", "error": "FENCED_INSTANCE_ID", "instance": "i7"}),
    ("ERROR:kafka.coordinator.heartbeat:Heartbeat failed for group g due to fenced id error: i7", RequestRefused,
     {"request": "Heartbeat", "error": "FENCED_INSTANCE_ID", "instance": "i7"}),
    ("ERROR:aiokafka.consumer.group_coordinator:LeaveGroup request failed: [Error 25] UnknownMemberIdError",
     RequestRefused, {"request": "LeaveGroup", "error": "UnknownMemberIdError"}),
    ("WARNING:kafka.coordinator.consumer:Auto offset commit failed for group g: CommitFailedError()", RequestRefused,
     {"request": "OffsetCommit", "error": "CommitFailedError", "group": "g"}),
    ("ERROR:kafka.coordinator:Error sending JoinGroupRequest_v5 to node 1 [KafkaConnectionError: x]", RequestRefused,
     {"request": "JoinGroup", "error": "KafkaConnectionError"}),
    ("WARNING:kafka.coordinator.consumer:Assignment rejected: no topic t. Probably due to a deleted topic. Requesting",
     RejoinDecided, {"reason": "Assignment rejected: no topic t"}),
    ("INFO:aiokafka.consumer.group_coordinator:Metadata for topic has changed from {} to {}. ", RejoinDecided,
     {"reason": "Metadata for topic has changed"}),
    ("INFO:kafka.coordinator:(Re-)joining group g", JoinSent, {"group": "g", "client": "app"}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "kind", "expected"), SENTENCES)
def test_sentences_that_no_sample_has(line: str, kind: type[Fact], expected: dict[str, object]) -> None:
    found = of_lines(PythonClientLog(), AT + line)
    assert type(found[0]) is kind
    assert {name: getattr(found[0], name) for name in expected} == expected


def test_a_line_without_a_group_belongs_to_none_of_two() -> None:
    text = "\n".join(
        AT + line
        for line in (
            "INFO:kafka.coordinator:(Re-)joining group one",
            "WARNING:kafka.coordinator.heartbeat:Consumer poll timeout has expired. This means",
            "INFO:kafka.coordinator:(Re-)joining group two",
            "WARNING:kafka.coordinator.heartbeat:Consumer poll timeout has expired. This means",
        )
    )
    assert [fact.group for fact in only(PollTimedOut, of_lines(PythonClientLog(), text))] == ["one", ""]


def test_two_client_ids_at_one_time_name_none() -> None:
    text = "\n".join(
        AT + line
        for line in (
            "INFO:kafka.net.selector:IO loop starting (client_id=a)",
            "INFO:kafka.net.selector:IO loop starting (client_id=b)",
            "INFO:kafka.coordinator:(Re-)joining group one",
        )
    )
    assert [fact.client for fact in only(JoinSent, of_lines(PythonClientLog(), text))] == ["app"]


@pytest.mark.parametrize(
    "line",
    [
        "INFO:kafka.coordinator:(Re-)joining group g",
        "INFO - kafka.coordinator - (Re-)joining group g",
        "[kafka.coordinator] INFO (Re-)joining group g",
        "(Re-)joining group g",
    ],
)
def test_layouts_of_the_application(line: str) -> None:
    assert [type(fact) for fact in of_lines(PythonClientLog(), AT + line)] == [JoinSent]


def test_a_java_consumer_s_line_is_none_of_a_python_client() -> None:
    java = "org.apache.kafka.clients.consumer.internals.AbstractCoordinator"
    assert of_lines(PythonClientLog(), f"[{AT.strip()}] INFO (Re-)joining group g ({java})") == []


def test_a_new_sentence_of_the_coordinator_is_not_understood() -> None:
    text = f"{AT}INFO:kafka.coordinator:something new\n{AT}INFO:kafka.coordinator.assignors.sticky:something new"
    assert not_understood(of_lines(PythonClientLog(), text)) == ["app.log:1"]


def test_a_partial_assignment_of_the_leader_is_not_used() -> None:
    line = f"{AT}DEBUG:kafka.coordinator:Finished assignment for group g: {{'a': ConsumerProtocolAssignment(version=1"
    assert of_lines(PythonClientLog(), line) == []
    aiokafka = (
        f"{AT}DEBUG:aiokafka.consumer.group_coordinator:Finished assignment for group g: {{'a': "
        "ConsumerProtocolMemberAssignment(version=0, assignment=[('t', [0, 3])], user_data=b'')}"
    )
    (computed,) = only(AssignmentComputed, of_lines(PythonClientLog(), aiokafka))
    assert computed.assignments == (("a", ("t-0", "t-3")),)


def test_recognition_by_content() -> None:
    for run, member in MEMBERS:
        kafka_python = run.startswith("kafka-python")
        found = list(records_of(f"python/{run}-{member}.log"))
        assert any(map(is_kafka_python, found)) == kafka_python
        assert any(map(is_aiokafka, found)) != kafka_python
    assert not any(is_kafka_python(one) or is_aiokafka(one) for one in records_of("connect/3.9.2/w1-part1.log"))


LINES = [
    line
    for name in ("kafka-python-cooperative-p1", "kafka-python-stall-p2", "aiokafka-stall-p2", "aiokafka-static-p1")
    for line in (LOGS / f"python/{name}.log").read_text(encoding="utf-8").splitlines()
]


@given(
    st.lists(
        st.tuples(st.sampled_from(LINES), st.integers(0, 250), st.text(max_size=9), st.integers(0, 60)), max_size=8
    )
)
def test_mangled_lines_never_raise(edits: list[tuple[str, int, str, int]]) -> None:
    text = "\n".join(line[:at] + inserted + line[at + cut :] for line, at, inserted, cut in edits)
    facts = of_lines(PythonClientLog(), text)
    assert all(isinstance(fact, Fact | NotUnderstood) for fact in facts)
    assert all(fact.partitions for fact in only(Assigned, facts))
