"""The log of a Connect worker: its rounds, its work against the status topic, its starts against the driver's."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.pipeline.diagnose.facts import (
    ClientFact,
    ConfigBehind,
    ConfigSeen,
    CoordinatorUnavailable,
    Fact,
    Joined,
    JoinSent,
    LeaveSent,
    MembershipReset,
    NotUnderstood,
    PollTimedOut,
    ProcessStarted,
    RejoinDecided,
    RequestRefused,
    WorkerJoined,
    WorkFailed,
    WorkStarted,
    WorkStopFailed,
    WorkStopRequested,
    WorkStopsFinished,
)
from rebalance_check.pipeline.diagnose.logs.connect import ConnectLog, is_connect_worker
from rebalance_check.pipeline.diagnose.logs.connect_work import worker_name
from tests.diagnose_logs import LOGS, everything, not_understood, of_lines, only, records_of, truth

PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "3.9.2": {"w1": ("w1-part1", "w1-part2"), "w2": ("w2-part1", "w2-part2", "w2-part3")},
    "4.3.1": {"w1": ("w1-part1", "w1-part2", "w1-part3"), "w2": ("w2-part1", "w2-part2", "w2-part3")},
    "ungraceful": {"w1": ("w1-part1",), "w2": ("w2-part1",)},
}
URLS = {
    ("3.9.2", "w1"): "127.0.0.1:47863", ("3.9.2", "w2"): "127.0.0.1:52139",
    ("4.3.1", "w1"): "127.0.0.1:44897", ("4.3.1", "w2"): "127.0.0.1:46361",
}  # fmt: skip
RUNS = ["3.9.2", "4.3.1", "ungraceful"]
WORKERS = [(run, worker) for run in RUNS for worker in ("w1", "w2")]


def log_of(run: str, worker: str) -> list[Fact | NotUnderstood]:
    return everything(ConnectLog(), *(f"connect/{run}/{part}.log" for part in PARTS[run][worker]))


class Status(NamedTuple):
    """A record of the status topic."""

    time_ms: int
    work: str
    state: str
    worker: str
    before: str


def statuses(run: str) -> list[Status]:
    """The status topic as a console consumer printed it; ``before``: the state before of the same work."""
    found: list[Status] = []
    last: dict[str, str] = {}
    for line in (LOGS / f"connect/{run}/statuses.log").read_text(encoding="utf-8").splitlines():
        row = re.match(r"CreateTime:(\d+)\t.*\tstatus-(?:connector|task)-(\S+)\t(.*)$", line)
        if row is None:
            continue
        value: dict[str, Any] = json.loads(row[3]) or {"state": "DESTROYED", "worker_id": ""}
        found.append(Status(int(row[1]), row[2], value["state"], value["worker_id"], last.get(row[2], "")))
        last[row[2]] = value["state"]
    return found


@pytest.mark.parametrize(("run", "worker"), WORKERS)
def test_each_line_is_understood__and_carries_client_and_group(run: str, worker: str) -> None:
    facts = log_of(run, worker)
    assert not_understood(facts) == []
    assert {(fact.client, fact.group) for fact in only(ClientFact, facts)} == {(worker, "pipes")}
    assert len(only(ClientFact, facts)) == len(facts)


@pytest.mark.parametrize("run", RUNS)
def test_the_workers_of_a_generation_agree__and_no_work_has_two_of_them(run: str) -> None:
    rounds: dict[int, list[WorkerJoined]] = defaultdict(list)
    for worker in ("w1", "w2"):
        for joined in only(WorkerJoined, log_of(run, worker)):
            rounds[joined.generation].append(joined)
    assert sorted(rounds) == list(range(1, max(rounds) + 1))
    for of_one in rounds.values():
        assert len({(one.leader, one.leader_url, one.config_offset, one.delay_ms, one.error) for one in of_one}) == 1
        work = [name for one in of_one for name in one.assigned]
        assert len(work) == len(set(work))


def test_the_rounds_of_one_worker() -> None:
    found = [(one.generation, one.config_offset, one.assigned, one.revoked, one.delay_ms)
             for one in only(WorkerJoined, log_of("3.9.2", "w2"))]  # fmt: skip
    assert found[4:13] == [
        (6, 14, ("two", "demo-1"), (), 0),
        (7, 17, ("two", "two-0", "two-1", "demo-1"), (), 0),
        (10, 17, (), (), 0),
        (11, 17, ("two", "two-0", "two-1"), (), 0),
        (14, 17, (), ("two", "two-0", "two-1"), 0),
        (15, 17, ("two", "two-0", "two-1"), (), 0),
        (17, 17, (), (), 2968),
        (18, 17, ("two", "two-0", "two-1"), (), 0),
        (19, 20, ("two", "two-0", "two-1"), (), 0),
    ]


@pytest.mark.parametrize(("run", "worker"), WORKERS)
def test_each_start_of_the_process_is_the_driver_s(run: str, worker: str) -> None:
    commands = [
        row.time_ms
        for row in truth(f"connect/{run}/truth.tsv")
        if row.what == "starts worker" and row.rest[0] == worker
    ]
    starts = only(ProcessStarted, log_of(run, worker))
    assert [start.release for start in starts] == [{"ungraceful": "3.9.2"}.get(run, run)] * len(commands)
    for command, start in zip(commands, starts, strict=True):
        assert start.time_ms is not None
        assert 0 < start.time_ms - command < 30_000


@pytest.mark.parametrize("run", ["3.9.2", "4.3.1"])
def test_work_that_starts_and_stops_is_that_of_the_status_topic(run: str) -> None:
    logs = {URLS[run, worker]: log_of(run, worker) for worker in ("w1", "w2")}
    topic = statuses(run)
    runs = [status for status in topic if status.state == "RUNNING" and status.before != "PAUSED"]
    assert sum(len(only(WorkStarted, facts)) for facts in logs.values()) == len(runs)
    for kind, states in ((WorkStarted, runs), (WorkStopRequested, [one for one in topic if one.state == "UNASSIGNED"]),
                         (WorkFailed, [one for one in topic if one.state == "FAILED"])):  # fmt: skip
        assert states
        for status in states:
            times = [fact.time_ms for fact in only(kind, logs[status.worker]) if fact.work == status.work]
            assert any(time is not None and -5 <= status.time_ms - time <= 1_500 for time in times), status


def test_a_worker_that_leads_shows_its_address() -> None:
    assert {fact.worker for fact in only(WorkStarted, log_of("3.9.2", "w1"))} == {URLS["3.9.2", "w1"]}
    assert {fact.worker for fact in only(WorkStarted, log_of("3.9.2", "w2"))} == {""}


def test_a_stop_that_takes_too_long_fails__and_ends_the_wait_for_it() -> None:
    facts = [
        fact
        for fact in log_of("ungraceful", "w1")
        if isinstance(fact, WorkStopRequested | WorkStopFailed | WorkStopsFinished)
    ]
    assert [(type(fact).__name__, getattr(fact, "work", ""), str(fact.place).rpartition(":")[2]) for fact in facts] == [
        ("WorkStopRequested", "demo-0", "60"),
        ("WorkStopFailed", "demo-0", "61"),
        ("WorkStopsFinished", "", "62"),
        ("WorkStopRequested", "demo", "76"),
        ("WorkStopRequested", "demo-1", "79"),
        ("WorkStopFailed", "demo-1", "80"),
        ("WorkStopsFinished", "", "84"),
    ]


def test_tasks_that_a_config_change_stops_have_stopped_when_the_worker_joins_again() -> None:
    facts = [
        fact for fact in log_of("3.9.2", "w2") if isinstance(fact, WorkStopRequested | WorkStopsFinished | JoinSent)
    ]
    at = next(index for index, fact in enumerate(facts) if isinstance(fact, WorkStopRequested))
    assert [type(fact) for fact in facts[at : at + 3]] == [WorkStopRequested, WorkStopsFinished, JoinSent]


def test_a_frozen_worker_notices_afterwards() -> None:
    facts = log_of("3.9.2", "w2")
    assert [fact.reason for fact in only(CoordinatorUnavailable, facts)] == [
        "session timed out without receiving a heartbeat response", "coordinator unavailable",
    ]  # fmt: skip
    assert [(fact.request, fact.error) for fact in only(RequestRefused, facts)] == [("Heartbeat", "UNKNOWN_MEMBER_ID")]
    assert [fact.reason for fact in only(MembershipReset, facts)] == [
        "encountered UNKNOWN_MEMBER_ID from HEARTBEAT response",
        "consumer pro-actively leaving the group",
        "consumer pro-actively leaving the group",
    ]
    assert [(fact.member[:11], fact.reason) for fact in only(LeaveSent, facts)] == [
        ("w2-7aa1bd69", "the consumer is being closed"), ("w2-952459ae", "the consumer is being closed"),
    ]  # fmt: skip


def test_the_settings_and_the_address_belong_to_the_client_that_a_later_line_names() -> None:
    facts = everything(ConnectLog(), "connect/w1-unfiltered.log")
    assert not_understood(facts) == []
    settings, address = only(ConfigSeen, facts)
    assert {settings.client, address.client} == {"connect-127.0.0.1:39188"}
    assert {
        "session.timeout.ms": "6000",
        "scheduled.rebalance.max.delay.ms": "4000",
        "group.id": "pipes",
    }.items() <= dict(settings.values).items()
    assert dict(address.values) == {"rest.advertised.host.name": "127.0.0.1", "rest.advertised.port": "39188"}
    assert [(fact.work, fact.reason) for fact in only(WorkFailed, facts)] == [
        ("bad-0", "java.lang.RuntimeException: bad task"), ("worse", "java.lang.RuntimeException: no"),
    ]  # fmt: skip
    assert {fact.worker for fact in only(WorkStarted, facts)} == {"127.0.0.1:39188"}


HERDER = "(org.apache.kafka.connect.runtime.distributed.DistributedHerder)"


def test_the_older_print_forms__without_prefix_and_generation() -> None:
    facts = everything(ConnectLog(), "connect/forms-of-1.1.log")
    assert [(fact.release, fact.client) for fact in only(ProcessStarted, facts)] == [("1.1.1", "forms-of-1.1")]
    assert [fact.generation for fact in only(Joined, facts)] == [7]
    (joined,) = only(WorkerJoined, facts)
    assert (joined.generation, joined.error, joined.assigned, joined.revoked) == (
        7, "CONFIG_MISMATCH", ("one", "one-0", "one-two-11"), (),
    )  # fmt: skip
    (started,) = only(WorkStarted, facts)
    assert (started.work, started.client, started.group) == ("one-two-11", "connect-1", "pipes")


PREFIX = "[2026-01-01 00:00:00,000] INFO [Worker clientId=c, groupId=g] "
SENTENCES = [
    ("Current config state offset 5 does not match group assignment 4. Forcing rebalance.", RejoinDecided,
     {"reason": "Current config state offset 5 does not match group assignment 4"}),
    ("Didn't reach end of config log quickly enough", ConfigBehind, {}),
    ("Was selected to perform assignments, but do not have latest config found in sync request.", ConfigBehind, {}),
    ("Revoking current running assignment {} because after 5 retries the worker has not caught up", ConfigBehind, {}),
    ("Join group completed, but assignment failed. We were up to date, so just retrying.", RejoinDecided,
     {"reason": "assignment failed"}),
    ("Join group completed, but assignment failed and we lagging. Reading", ConfigBehind, {}),
    ("worker poll timeout has expired. The last known action being performed by the worker is : x", PollTimedOut, {}),
    ("Member c-1 sending LeaveGroup request to coordinator h:1 (id: 1) due to worker poll timeout has expired.",
     LeaveSent, {"member": "c-1", "reason": "worker poll timeout has expired."}),
    ("Broker coordinator was unreachable for 3000ms. Revoking previous assignment {} to avoid running tasks",
     CoordinatorUnavailable, {"reason": "Broker coordinator was unreachable for 3000ms"}),
    ("Group coordinator h:1 is unavailable or invalid, will attempt rediscovery", CoordinatorUnavailable, {}),
    ("Request joining group due to: enforced by user", RejoinDecided, {"reason": "enforced by user"}),
    ("Attempt to heartbeat failed since group is rebalancing", RejoinDecided, {"reason": "group is rebalancing"}),
    ("Resetting generation after encountering UNKNOWN_MEMBER_ID from HEARTBEAT response",
     MembershipReset, {"reason": "after encountering UNKNOWN_MEMBER_ID from HEARTBEAT response"}),
    ("JoinGroup failed due to non-fatal error: MEMBER_ID_REQUIRED. Will set the member id as c-1 and then rejoin.",
     RequestRefused, {"request": "JoinGroup", "error": "MEMBER_ID_REQUIRED"}),
    ("SyncGroup failed: The group began another rebalance. Need to re-join the group.", RequestRefused,
     {"request": "SyncGroup", "error": "The group began another rebalance. Need to re-join the group"}),
    ("Couldn't instantiate task a-1 because it has an invalid task configuration. This task will not execute",
     WorkFailed, {"work": "a-1", "reason": "because it has an invalid task configuration"}),
    ("Starting connector name with spaces", WorkStarted, {"work": "name with spaces"}),
    ("Stopping task name with spaces-10", WorkStopRequested, {"work": "name with spaces-10"}),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "kind", "expected"), SENTENCES)
def test_sentences_that_no_sample_has(sentence: str, kind: type[Fact], expected: dict[str, str]) -> None:
    found = of_lines(ConnectLog(), PREFIX + sentence)
    assert type(found[0]) is kind
    assert {name: getattr(found[0], name) for name in expected} == expected


def test_a_connector_that_did_not_stop() -> None:
    line = ("[2026-01-01 00:00:00,000] ERROR [it's|worker] Connector `it's` failed to properly shut down, has become "
            "unresponsive (org.apache.kafka.connect.runtime.Worker:500)")  # fmt: skip
    assert [fact.work for fact in only(WorkStopFailed, of_lines(ConnectLog(), line))] == ["it's"]


def test_a_connector_s_own_words_are_no_facts() -> None:
    assert everything(ConnectLog(), "connect/words-of-others.log") == []


def test_a_new_sentence_of_the_herder_is_not_understood__and_one_of_the_network_is_passed() -> None:
    herder = f"{PREFIX}Something new {HERDER}"
    network = f"{PREFIX}Something new (org.apache.kafka.clients.NetworkClient)"
    assert not_understood(of_lines(ConnectLog(), f"{network}\n{herder}")) == ["app.log:2"]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://a:8083/", "a:8083"),
        ("https://[::1]:8083", "[::1]:8083"),
        ("a:8083/", "a:8083"),
        ("http://a/", "http://a"),
    ],
)
def test_the_name_of_a_worker(url: str, name: str) -> None:
    assert worker_name(url) == name


def test_recognition_by_content() -> None:
    assert all(any(map(is_connect_worker, records_of(f"connect/{run}/{worker}-part1.log"))) for run, worker in WORKERS)
    assert not any(map(is_connect_worker, records_of("connect/3.9.2/statuses.log")))


LINES = [
    line for run in RUNS for line in (LOGS / f"connect/{run}/w2-part1.log").read_text(encoding="utf-8").splitlines()
]


@given(
    st.lists(
        st.tuples(st.sampled_from(LINES), st.integers(0, 300), st.text(max_size=12), st.integers(0, 40)), max_size=6
    )
)
def test_mangled_lines_never_raise(edits: list[tuple[str, int, str, int]]) -> None:
    text = "\n".join(line[:at] + inserted + line[at + cut :] for line, at, inserted, cut in edits)
    assert all(isinstance(fact, Fact | NotUnderstood) for fact in of_lines(ConnectLog(), text))
