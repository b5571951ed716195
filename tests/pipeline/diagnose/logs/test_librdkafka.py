"""The log of librdkafka: ownership against the callbacks of confluent-kafka, generations, timeouts, fencing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.pipeline.diagnose.facts import (
    Assigned,
    AssignmentComputed,
    ConfigSeen,
    CoordinatorUnavailable,
    Fact,
    Joined,
    JoinSent,
    LeaveSent,
    Lost,
    MembershipReset,
    ModernGroupSeen,
    NotUnderstood,
    PollTimedOut,
    ProcessStarted,
    RejoinDecided,
    RequestRefused,
    Revoked,
    Synced,
)
from rebalance_check.pipeline.diagnose.logs.librdkafka import LibrdkafkaLog, is_librdkafka
from tests.diagnose_logs import (
    LOGS,
    assert_same_ownership,
    everything,
    not_understood,
    of_lines,
    only,
    ownership,
    records_of,
    truth,
)

MEMBERS = [
    ("eager", "p1"), ("eager", "p2"), ("eager", "p3"),
    ("eager-3.9.2", "p1"), ("eager-3.9.2", "p2"), ("eager-3.9.2", "p3"),
    ("cooperative", "p1"), ("cooperative", "p2"), ("consumer-protocol", "p1"), ("consumer-protocol", "p2"),
    ("static", "p1b"),
]  # fmt: skip


def log_of(run: str, member: str) -> list[Fact | NotUnderstood]:
    return everything(LibrdkafkaLog(), f"librdkafka/{run}-{member}.log")


@pytest.mark.parametrize(("run", "member"), [*MEMBERS, ("static", "p1"), ("plain", "p1"), ("plain", "p2")])
def test_each_line_is_understood(run: str, member: str) -> None:
    assert not_understood(log_of(run, member)) == []


@pytest.mark.parametrize(("run", "member"), MEMBERS)
def test_ownership_begins_and_ends_with_the_application_s_callbacks(run: str, member: str) -> None:
    assert_same_ownership(log_of(run, member), truth(f"librdkafka/{run}.tsv"), member, within_ms=10)


def test_a_whole_run_of_a_cooperative_consumer__to_its_end() -> None:
    found = ownership(log_of("cooperative", "p1"))
    assert len(found) == 8
    assert found[-1][1:] == ("revoked", tuple(f"t-rd-coop-{number}" for number in range(4)))


@pytest.mark.parametrize(
    ("run", "member", "group", "generations", "leads"),
    [
        ("eager", "p1", "app-confluent", [1, 2], True), ("eager", "p2", "app-confluent", [2, 3], False),
        ("eager", "p3", "app-confluent", [3, 4], False), ("cooperative", "p1", "rd-coop", list(range(1, 11)), True),
        ("cooperative", "p2", "rd-coop", [2, 3, 5, 6, 8, 9], False),
        ("static", "p1", "rd-static", [1], True), ("static", "p1b", "rd-static", [1], False),
    ],
)  # fmt: skip
def test_generations(run: str, member: str, group: str, generations: list[int], leads: bool) -> None:
    facts = log_of(run, member)
    joined = only(Joined, facts)
    assert [fact.generation for fact in joined] == generations
    assert {fact.leader for fact in joined} == {leads}
    assert [fact.generation for fact in only(Synced, facts)] == generations
    assert {fact.group for fact in joined} == {group}


def test_joins__with_the_member_id_that_the_coordinator_gives() -> None:
    facts = log_of("eager", "p1")
    given_id = "rdkafka-f9c4136b-c9e6-4234-ad05-fd4a89d0317c"
    assert [fact.member for fact in only(JoinSent, facts)] == ["", given_id, given_id]
    (refused,) = only(RequestRefused, facts)
    assert (refused.request, refused.error) == ("JoinGroup", "Broker: Group member needs a valid member ID")
    assert [fact.reason for fact in only(RejoinDecided, facts)] == ["rebalance in progress"]
    assert {fact.client for fact in only(JoinSent, facts)} == {"rdkafka"}


def test_the_leader_s_assignment_is_put_together_from_many_lines() -> None:
    one, two, three = (f"rdkafka-{name}" for name in ("f9c4136b", "6219913a", "49bd5fde"))
    found = [
        (fact.generation, tuple((member[:16], names) for member, names in fact.assignments))
        for fact in only(AssignmentComputed, log_of("eager", "p1"))
    ]
    names = [f"t-app-confluent-{number}" for number in range(4)]
    assert found == [(1, ((one, tuple(names)),)), (2, ((one, tuple(names[2:])), (two, tuple(names[:2]))))]
    assert three not in str(found)


def test_under_a_cooperative_protocol_only_an_assignment_that_is_sent_as_computed_counts() -> None:
    found = {fact.generation: dict(fact.assignments) for fact in only(AssignmentComputed, log_of("cooperative", "p1"))}
    assert sorted(generation for generation in found if generation) == [1, 3, 4, 6, 7, 9, 10]
    assert sorted(len(names) for names in found[3].values()) == [2, 2]
    assert sorted(len(names) for names in found[4].values()) == [4]


def test_an_application_that_polls_too_seldom__and_then_loses_its_partitions() -> None:
    facts = log_of("cooperative", "p2")
    (timeout,) = only(PollTimedOut, facts)
    assert (timeout.limit_ms, timeout.over_ms) == (6_000, 397)
    (left,) = only(LeaveSent, facts)
    assert left.member == "c2-3f70fe94-4628-4c63-aeb1-e48813155839"
    lost = only(Lost, facts)
    assert [fact.member[:11] for fact in lost] == ["c2-3f70fe94", "c2-97a13df2"]
    assert timeout.time_ms is not None
    assert lost[0].time_ms is not None
    awake = next(row.time_ms for row in truth("librdkafka/cooperative.tsv") if row.what == "awake")
    assert timeout.time_ms < awake
    assert abs(lost[0].time_ms - awake) < 10


def test_a_frozen_consumer() -> None:
    facts = log_of("cooperative", "p2")
    (lost,) = only(CoordinatorUnavailable, facts)
    assert lost.reason.startswith("session timed out (in join-state steady) after 9477 ms")
    assert [fact.reason for fact in only(MembershipReset, facts)] == ["", "session timed out"]
    assert ("Heartbeat", "Broker: Unknown member") in [(one.request, one.error) for one in only(RequestRefused, facts)]


def test_without_debug_there_are_the_timeouts() -> None:
    (unavailable, reset) = log_of("plain", "p1")
    assert isinstance(unavailable, CoordinatorUnavailable)
    assert isinstance(reset, MembershipReset)
    assert unavailable.client == "d1"
    assert "after 9969 ms without a successful response" in unavailable.reason
    (timeout,) = log_of("plain", "p2")  # through the logger of the Python binding
    assert isinstance(timeout, PollTimedOut)
    assert (timeout.client, timeout.limit_ms, timeout.over_ms) == ("d2", 6_000, 440)


def test_a_fenced_static_consumer() -> None:
    facts = log_of("static", "p1")
    fenced = "Broker: Static consumer fenced by other consumer with same group.instance.id"
    assert [(fact.request, fact.error) for fact in only(RequestRefused, facts)] == [("Heartbeat", fenced)]
    assert [type(fact) for fact in facts if isinstance(fact, Assigned | Revoked | Lost)] == [Assigned, Lost]


def test_a_fatal_error_alone() -> None:
    line = next(
        line
        for line in (LOGS / "librdkafka/static-p1.log").read_text(encoding="utf-8").splitlines()
        if "|FATAL|" in line
    )
    (refused,) = only(RequestRefused, of_lines(LibrdkafkaLog(), line))
    assert (refused.request, refused.error[:31]) == ("", "Broker: Static consumer fenced ")


def test_the_consumer_protocol() -> None:
    facts = log_of("consumer-protocol", "p2")
    assert [(fact.kind, fact.epoch, fact.group) for fact in only(ModernGroupSeen, facts)] == [
        ("consumer", 7, "rd-848"), ("consumer", 9, "rd-848"),
    ]  # fmt: skip
    assert {fact.member for fact in only(Assigned, facts)} == {"PTHH2/p0TDOpeAAdbT0GdQ"}
    assert only(JoinSent, facts) == []


def test_releases() -> None:
    assert [fact.release for fact in only(ProcessStarted, log_of("cooperative", "p1"))] == ["librdkafka 2.16.0"]
    assert [fact.release for fact in only(ProcessStarted, log_of("eager", "p1"))] == [""]


HEAD = "%7|1700000000.100|"
MAIN = "|my app#consumer-1| [thrd:main]:"
SENTENCES = [
    (f"%4|1700000000.100|COMMITFAIL{MAIN} Offset commit (auto) failed for 1/2 partition(s) in join-state steady: "
     "Broker: Unknown member: t[0]@7(Broker: Unknown member)", RequestRefused,
     {"request": "OffsetCommit", "error": "Broker: Unknown member", "client": "my app"}),
    (f'{HEAD}COORD{MAIN} Group "g": marking the coordinator (3) dead: Broker: Not coordinator: Heartbeat error',
     CoordinatorUnavailable, {"reason": "Broker: Not coordinator: Heartbeat error", "group": "g"}),
    (f'{HEAD}CGRPCOORD{MAIN} h:1/1: Group "g" FindCoordinator response error: COORDINATOR_NOT_AVAILABLE: text',
     CoordinatorUnavailable, {"reason": "COORDINATOR_NOT_AVAILABLE"}),
    (f"{HEAD}LEAVEGROUP{MAIN} LeaveGroup response error in state up: Broker: Unknown member", RequestRefused,
     {"request": "LeaveGroup", "error": "Broker: Unknown member"}),
    (f"{HEAD}SYNCGROUP{MAIN} SyncGroup response: Broker: Group rebalance in progress (0 bytes of MemberState data)",
     RequestRefused, {"request": "SyncGroup", "error": "Broker: Group rebalance in progress"}),
    (f'{HEAD}CGRPJOINSTATE{MAIN} Group "g" changed join state init -> wait-join (state up)', JoinSent, {"group": "g"}),
    (f"{HEAD}CONF|my app#consumer-1| [thrd:app]:   session.timeout.ms = 6000", ConfigSeen,
     {"values": (("session.timeout.ms", "6000"),)}),
    ('2026-01-01 00:00:00 INFO  librdkafka: CGRPJOINSTATE [thrd:main]: Group "g" changed join state init -> wait-join',
     JoinSent, {"group": "g", "client": "app"}),
    ('{"severity":7,"fac":"LEAVE","message":"[thrd:main]: Group \\"g\\": leave (in state up)"}', LeaveSent,
     {"group": "g"}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "kind", "expected"), SENTENCES)
def test_sentences_that_no_sample_has__and_other_bindings(
    line: str, kind: type[Fact], expected: dict[str, object]
) -> None:
    (found,) = of_lines(LibrdkafkaLog(), line)
    assert type(found) is kind
    assert {name: getattr(found, name) for name in expected} == expected


def test_no_values_of_the_config_but_those_a_diagnosis_may_use() -> None:
    assert of_lines(LibrdkafkaLog(), f"{HEAD}CONF|a#consumer-1| [thrd:app]:   sasl.password = secret") == []


def test_two_handles_in_one_process_stay_apart() -> None:
    one, other = (
        (LOGS / f"librdkafka/eager-p{number}.log").read_text(encoding="utf-8").splitlines() for number in (1, 2)
    )
    mixed = [
        line
        for pair in zip(one, [line.replace("#consumer-1|", "#consumer-2|") for line in other], strict=False)
        for line in pair
    ]
    facts = of_lines(LibrdkafkaLog(), "\n".join(mixed))
    apart = {
        name: [fact for fact in facts if getattr(fact, "client", "") == name]
        for name in ("rdkafka", "rdkafka#consumer-2")
    }
    assert ownership(apart["rdkafka"]) == ownership(log_of("eager", "p1"))
    assert (
        ownership(apart["rdkafka#consumer-2"])
        == ownership(log_of("eager", "p2"))[: len(ownership(apart["rdkafka#consumer-2"]))]
    )
    assert ownership(apart["rdkafka#consumer-2"])


def test_a_file_that_begins_in_the_middle__counts_where_it_cannot_name() -> None:
    lines = (LOGS / "librdkafka/eager-p1.log").read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if "is rebalancing" in line)
    facts = of_lines(LibrdkafkaLog(), "\n".join(lines[at:]))
    assert [(fact.partitions, fact.count) for fact in only(Revoked, facts)] == [((), 4)]
    assert [(fact.partitions, fact.count) for fact in only(Assigned, facts)] == [
        (("t-app-confluent-2", "t-app-confluent-3"), None)
    ]


def test_a_list_that_is_cut_is_not_used() -> None:
    lines = (LOGS / "librdkafka/eager-p1.log").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.endswith((" t-app-confluent [1]", "t-app-confluent [1] offset INVALID"))]
    facts = of_lines(LibrdkafkaLog(), "\n".join(kept))
    assert [fact.generation for fact in only(AssignmentComputed, facts)] == []
    first = only(Assigned, facts)[0]
    assert (first.partitions, first.count) == ((), 4)


def test_a_producer_is_passed__and_a_new_sentence_of_a_group_is_not_understood() -> None:
    text = f"%7|1700000000.100|JOIN|a#producer-1| [thrd:main]: something new\n{HEAD}JOIN{MAIN} something new"
    assert not_understood(of_lines(LibrdkafkaLog(), text)) == ["app.log:2"]


def test_recognition_by_content() -> None:
    for run, member in [*MEMBERS, ("plain", "p1"), ("plain", "p2")]:
        assert all(map(is_librdkafka, records_of(f"librdkafka/{run}-{member}.log")))
    assert not any(map(is_librdkafka, records_of("connect/3.9.2/w1-part1.log")))


LINES = [
    line
    for name in ("cooperative-p2", "consumer-protocol-p2", "static-p1b")
    for line in (LOGS / f"librdkafka/{name}.log").read_text(encoding="utf-8").splitlines()
]


@given(
    st.lists(
        st.tuples(st.integers(0, len(LINES) - 1), st.integers(0, 200), st.text(max_size=9), st.integers(0, 30)),
        max_size=8,
    )
)
def test_mangled_lines_never_raise(edits: list[tuple[int, int, str, int]]) -> None:
    text = "\n".join(
        "\n".join([LINES[number][:at] + inserted + LINES[number][at + cut :], *LINES[number + 1 : number + 9]])
        for number, at, inserted, cut in edits
    )
    assert all(isinstance(fact, Fact | NotUnderstood) for fact in of_lines(LibrdkafkaLog(), text))
