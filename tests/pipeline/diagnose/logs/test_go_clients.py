"""The logs of franz-go and sarama: ownership against their callbacks, generations, plans, sessions, other loggers."""

from __future__ import annotations

from collections import defaultdict

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
    ModernGroupSeen,
    NotUnderstood,
    ProcessStarted,
    RejoinDecided,
    RequestRefused,
    Revoked,
    Synced,
)
from rebalance_check.pipeline.diagnose.logs.franz_go import FranzGoLog, is_franz_go, partitions
from rebalance_check.pipeline.diagnose.logs.sarama import SaramaLog, is_sarama
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

FRANZ_GO = [
    *(("eager", member) for member in ("p1", "p2", "p3")),  # the loggers: basic, slog's JSON, slog's text
    *(("cooperative", member) for member in ("p1", "p2", "p3")),  # p3 at DEBUG
    *(("consumer-protocol", member) for member in ("p1", "p2")),
    ("static", "p1b"),
]
SARAMA = ["p1", "p2", "p3"]


def log_of(run: str, member: str) -> list[Fact | NotUnderstood]:
    return everything(FranzGoLog(), f"go/{run}-{member}.log")


def sarama(member: str) -> list[Fact | NotUnderstood]:
    return everything(SaramaLog(), f"go/sarama-{member}.log")


# ------------------------------------------------------------------------------------------------------------ franz-go


@pytest.mark.parametrize(("run", "member"), [*FRANZ_GO, ("static", "p1")])
def test_each_line_is_understood__and_carries_the_group(run: str, member: str) -> None:
    facts = log_of(run, member)
    group = {"eager": "fg-eager", "cooperative": "fg-coop", "consumer-protocol": "fg-848", "static": "rd-static"}[run]
    assert not_understood(facts) == []
    assert {fact.group for fact in facts if isinstance(fact, Fact)} == {group}
    assert {fact.client for fact in only(ClientFact, facts)} == {f"{run}-{member}"}


@pytest.mark.parametrize(("run", "member"), FRANZ_GO)
def test_ownership_begins_and_ends_with_the_callbacks(run: str, member: str) -> None:
    facts, rows = log_of(run, member), truth(f"go/{run}.tsv")
    assert_same_ownership(facts, rows, member, within_ms=10)
    assert len(ownership(facts)) == len(callbacks(rows, member))


@pytest.mark.parametrize(
    ("run", "member", "generations", "leads"),
    [
        ("eager", "p1", list(range(1, 9)), True), ("eager", "p2", [2, 3], False), ("eager", "p3", [3, 4, 6, 7], False),
        ("cooperative", "p1", list(range(1, 11)), True), ("cooperative", "p2", [2, 3, 4, 5, 7, 8], False),
        ("cooperative", "p3", [4, 5, 6, 7, 8, 9], False), ("static", "p1", [3], True),
    ],
)  # fmt: skip
def test_generations(run: str, member: str, generations: list[int], leads: bool) -> None:
    facts = log_of(run, member)
    assert [fact.generation for fact in only(Joined, facts)] == generations
    assert {fact.leader for fact in only(Joined, facts)} == {leads}
    assert [fact.generation for fact in only(Synced, facts)] == generations


@pytest.mark.parametrize("run", ["eager", "cooperative"])
def test_the_leader_s_plan_is_that_which_the_members_receive(run: str) -> None:
    plans = {fact.generation or 0: dict(fact.assignments) for fact in only(AssignmentComputed, log_of(run, "p1"))}
    assert sorted(plans) == list(range(1, len(plans) + 1))
    for member in ("p1", "p2", "p3"):
        for joined in only(Joined, log_of(run, member)):
            assert joined.member in plans[joined.generation or 0]
    for plan in plans.values():
        names = [name for share in plan.values() for name in share]
        assert len(names) == len(set(names))
    assert sorted(map(len, plans[2].values())) == ([2, 2] if run == "eager" else [0, 2])


def test_why_a_client_joins_again() -> None:
    assert [fact.reason for fact in only(RejoinDecided, log_of("eager", "p1"))] == [
        *["REBALANCE_IN_PROGRESS"] * 5, "from ForceRebalance", "REBALANCE_IN_PROGRESS",
    ]  # fmt: skip


def test_a_frozen_client() -> None:
    facts = log_of("eager", "p3")
    assert [(fact.request, fact.error) for fact in only(RequestRefused, facts)] == [
        ("JoinGroup", "MEMBER_ID_REQUIRED"), ("Heartbeat", "UNKNOWN_MEMBER_ID"), ("JoinGroup", "UNKNOWN_MEMBER_ID"),
        ("JoinGroup", "MEMBER_ID_REQUIRED"),
    ]  # fmt: skip
    assert [fact.partitions for fact in only(Lost, facts)] == [("t-fg-eager-2", "t-fg-eager-3")]
    assert [fact.member[:11] for fact in only(MembershipReset, facts)] == ["p3-4369731d"]
    assert [fact.member[:11] for fact in only(JoinSent, facts)][-2:] == ["p3-3c66451d", "p3-3c66451d"]


def test_a_fenced_static_client() -> None:
    facts = log_of("static", "p1")
    assert {fact.instance for fact in facts if isinstance(fact, RequestRefused | Lost)} == {"i7"}
    assert [(fact.request, fact.error) for fact in only(RequestRefused, facts)] == [
        ("Heartbeat", "FENCED_INSTANCE_ID"), *[("JoinGroup", "FENCED_INSTANCE_ID")] * 4,
    ]  # fmt: skip
    assert [len(fact.partitions) for fact in only(Lost, facts)] == [4]
    assert {fact.time_ms for fact in facts if isinstance(fact, Fact)} == {None}  # its logger writes no time


def test_a_leave() -> None:
    facts = log_of("eager", "p1")
    (left,) = only(LeaveSent, facts)
    assert left.member == "p1-22dbbeb1-d18c-43f5-bd5c-792a246f07f3"
    assert [fact.release for fact in only(ProcessStarted, facts)] == ["franz-go"]


def test_the_consumer_protocol() -> None:
    facts = log_of("consumer-protocol", "p2")
    assert [(fact.kind, fact.epoch) for fact in only(ModernGroupSeen, facts)] == [
        ("consumer", 3), ("consumer", 3), ("consumer", 5),
    ]  # fmt: skip
    assert {fact.member for fact in only(Assigned, facts)} == {"fogu0Gm9Q5v_9BTYOLPSpw==", "FJUnHXehvEUM4WWXq6tj2Q=="}
    assert ("ConsumerGroupHeartbeat", "UNKNOWN_MEMBER_ID") in [
        (fact.request, fact.error) for fact in only(RequestRefused, facts)
    ]


OTHER_LOGGERS = [
    "2026-01-01T00:00:00.000Z\tINFO\tkgo/client.go:1\tnew group session begun\t"
    '{"group": "g", "added": {"t": [0, 1], "other.topic": [12]}, "lost": {}}',
    '{"level":"info","ts":1767225600.000,"msg":"new group session begun","group":"g",'
    '"added":"t[0 1], other.topic[12]","lost":""}',
    'time="2026-01-01T00:00:00Z" level=info msg="new group session begun" added="t[0 1], other.topic[12]" group=g',
    '2026-01-01T00:00:00Z INF new group session begun added="t[0 1], other.topic[12]" group=g lost=',
    "2026-01-01 00:00:00.000 [INFO] new group session begun; group: g, added: t[0 1], other.topic[12], lost: ",
]


@pytest.mark.parametrize("line", OTHER_LOGGERS)
def test_the_same_sentence_through_other_loggers(line: str) -> None:
    (fact,) = of_lines(FranzGoLog(), line)
    assert isinstance(fact, Assigned)
    assert (fact.group, fact.partitions) == ("g", ("other.topic-12", "t-0", "t-1"))
    assert fact.time_ms == 1_767_225_600_000


SENTENCES = [
    ("[WARN] sync group failed; group: g, err: ILLEGAL_GENERATION: The provided", RequestRefused,
     {"request": "SyncGroup", "error": "ILLEGAL_GENERATION"}),
    ("[INFO] sync failed with RebalanceInProgress, rejoining; group: g", RequestRefused, {"request": "SyncGroup"}),
    ("[ERROR] default commit failed; group: g, err: dial tcp: refused", RequestRefused,
     {"request": "OffsetCommit", "error": "dial tcp: refused"}),
    ("[INFO] offset commit returned a fatal group member error, triggering rejoin; group: g, err: UNKNOWN_MEMBER_ID: x",
     RequestRefused, {"request": "OffsetCommit", "error": "UNKNOWN_MEMBER_ID"}),
    ("[INFO] heartbeat hit retryable error, max retries reached; group: g, err: EOF, retries: 3", RequestRefused,
     {"request": "Heartbeat", "error": "EOF"}),
    ("[INFO] calling onRevoke at the end of a session; group: g, lost: t[3]", Revoked,
     {"partitions": ("t-3",)}),
    ("[INFO] joined as leader but unable to balance group due to KIP-345 limitations; group: g, member_id: m, "
     "instance_id: i, generation: 4, balance_protocol: range, leader: true", Joined,
     {"generation": 4, "leader": True, "instance": "i", "protocol": "range"}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "kind", "expected"), SENTENCES)
def test_sentences_that_no_sample_has(line: str, kind: type[Fact], expected: dict[str, object]) -> None:
    fact = of_lines(FranzGoLog(), f"2026-01-01 00:00:00.000 {line}")[0]
    assert type(fact) is kind
    assert {name: getattr(fact, name) for name in expected} == expected


def test_words_of_the_application_are_no_facts() -> None:
    text = '2026-01-01 00:00:00 [INFO] user joined; id: 7\n2026-01-01 00:00:01 INFO replica synced\n{"msg":"joined"}'
    assert of_lines(FranzGoLog(), text) == []


def test_a_new_sentence_about_a_group_is_not_understood() -> None:
    text = "2026-01-01 00:00:00 [INFO] something new; group: g\n2026-01-01 00:00:00 [INFO] something new; topic: t"
    assert not_understood(of_lines(FranzGoLog(), text)) == ["app.log:1"]


@pytest.mark.parametrize(
    ("value", "names"),
    [("", ()), (None, ()), ({"t": [1, 0], "bad": 3}, ("t-0", "t-1")), ("map[t:[2 3]]", ("t-2", "t-3")), (7, ())],
)
def test_partitions_in_each_form(value: object, names: tuple[str, ...]) -> None:
    assert partitions(value) == names


# -------------------------------------------------------------------------------------------------------------- sarama


@pytest.mark.parametrize("member", SARAMA)
def test_sarama_names_partitions_one_by_one__shortly_after_the_application_owns_them(member: str) -> None:
    facts = sarama(member)
    assert not_understood(facts) == []
    bursts: dict[tuple[str, int], set[str]] = defaultdict(set)
    expected = callbacks(truth("go/sarama.tsv"), member)
    for time, kind, (name,) in ownership(facts):
        near = next(row for row in expected if row[1] == kind and name in row[2] and -5 <= time - row[0] <= 150)
        bursts[kind, near[0]].add(name)
    assert [(kind, time) for kind, time in bursts] == [(kind, time) for time, kind, _ in expected]
    assert all(bursts[kind, time] == set(names) for time, kind, names in expected)


@pytest.mark.parametrize(("member", "generations"), [("p1", [1, 2, 3, 4, 5]), ("p2", [2, 3]), ("p3", [3])])
def test_sarama_names_generations_when_their_sessions_end(member: str, generations: list[int]) -> None:
    joined = only(Joined, sarama(member))
    assert [(fact.generation, fact.time_ms, fact.group) for fact in joined] == [
        (generation, None, "app-sarama") for generation in generations
    ]
    assert {fact.member[:3] for fact in joined} == {f"{member}-"}


def test_a_sarama_process_begins_with_its_client() -> None:
    (started,) = only(ProcessStarted, sarama("p1"))
    assert (started.place.number, started.group, started.release) == (1, "app-sarama", "sarama")
    text = (LOGS / "go/sarama-p3.log").read_text(encoding="utf-8")  # killed while it owned partitions
    assert [start.place.number for start in only(ProcessStarted, of_lines(SaramaLog(), text + text))] == [1, 25]


def test_another_client_of_a_running_process_is_no_start() -> None:
    lines = (LOGS / "go/sarama-p1.log").read_text(encoding="utf-8").splitlines()
    lines.insert(19, "[sarama] 2026/11/28 14:34:27.000000 Initializing new client")
    assert len(only(ProcessStarted, of_lines(SaramaLog(), "\n".join(lines)))) == 1


def test_a_consumer_without_a_group_has_no_facts() -> None:
    text = "[sarama] 2026/11/28 14:34:26.291395 consumer/broker/1 added subscription to t/0"
    assert of_lines(SaramaLog(), text) == []


SARAMA_AT = "[sarama] 2026/11/28 14:34:26.000000 "
SARAMA_SENTENCES = [
    ("consumergroup/my g: lost ownership of map[a:[0 1] b:[7]] due to kafka server: x", Lost,
     {"group": "my g", "partitions": ("a-0", "a-1", "b-7")}),
    ("JoinGroup failed: group instance id i7 has been fenced", RequestRefused,
     {"request": "JoinGroup", "error": "FENCED_INSTANCE_ID", "instance": "i7"}),
    ("client/coordinator coordinator for g is not available", CoordinatorUnavailable,
     {"group": "g", "reason": "is not available"}),
    ("consumergroup/g loop check partition number goroutine find partitions in topics [t] changed from 4 to 6",
     RejoinDecided, {"group": "g", "reason": "partitions in topics [t] changed from 4 to 6"}),
    ("kafka server: The provided member is not known in the current generation", RequestRefused,
     {"request": "", "error": "The provided member is not known in the current generation"}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "kind", "expected"), SARAMA_SENTENCES)
def test_sentences_of_sarama_that_no_sample_has(line: str, kind: type[Fact], expected: dict[str, object]) -> None:
    text = f"{SARAMA_AT}client/coordinator coordinator for {expected.get('group', 'g')} is #1 (h:1)\n{SARAMA_AT}{line}"
    fact = of_lines(SaramaLog(), text)[-1]
    assert type(fact) is kind
    assert {name: getattr(fact, name) for name in expected} == expected


def test_a_new_sentence_of_sarama_s_group_is_not_understood() -> None:
    assert not_understood(of_lines(SaramaLog(), f"{SARAMA_AT}consumergroup/g something new")) == ["app.log:1"]


def test_recognition_by_content() -> None:
    for run, member in FRANZ_GO:
        assert any(map(is_franz_go, records_of(f"go/{run}-{member}.log")))
        assert not any(map(is_sarama, records_of(f"go/{run}-{member}.log")))
    for member in SARAMA:
        assert any(map(is_sarama, records_of(f"go/sarama-{member}.log")))
        assert not any(map(is_franz_go, records_of(f"go/sarama-{member}.log")))


LINES = [
    line
    for name in ("eager-p1", "eager-p2", "eager-p3", "cooperative-p2", "consumer-protocol-p2", "sarama-p1")
    for line in (LOGS / f"go/{name}.log").read_text(encoding="utf-8").splitlines()
]


@given(
    st.lists(
        st.tuples(st.sampled_from(LINES), st.integers(0, 200), st.text(max_size=9), st.integers(0, 40)), max_size=8
    )
)
def test_mangled_lines_never_raise(edits: list[tuple[str, int, str, int]]) -> None:
    text = "\n".join(line[:at] + inserted + line[at + cut :] for line, at, inserted, cut in edits)
    for reader in (FranzGoLog(), SaramaLog()):
        assert all(isinstance(fact, Fact | NotUnderstood) for fact in of_lines(reader, text))
