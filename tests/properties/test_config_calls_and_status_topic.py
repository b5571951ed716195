"""Claims about what calls of config stores write and throw, who asks for them, and about the status topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConfigAppended,
    ConfigCallEnded,
    ConfigCallStarted,
    ConfigReadEnded,
    ConfigReadStarted,
    ConfigTransactionEnded,
    Event,
    HerderAsked,
    MemberCrashed,
    MemberResumed,
    ProducerInitialised,
    RunEnded,
    RunStarted,
    StatusAppended,
    StatusIgnored,
    StatusRead,
    StatusSent,
    StatusStoreStarted,
    StatusStoreStarting,
    TaskConfigsGenerated,
    WorkerConfigured,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
OURS: Final = RunStarted(subject="simulator", punctual=True)
WRITES: Final = "config_calls_write_their_arguments"
THROWS: Final = "config_calls_throw_for_a_reason"
ENDS: Final = "config_calls_end_in_time"
ASKED: Final = "stores_are_called_as_asked"
READ: Final = "safe_status_writes.reads_say_what_was_sent"
OFFSETS: Final = "safe_status_writes.offsets_have_no_gaps"
STARTS: Final = "safe_status_writes.stores_start_behind_the_topic"
NUMBERS: Final = "numbers_have_no_gaps"
FAILED: Final = "PrivilegedWriteException"
PLAIN: Final = "ConnectException"
LATE: Final = "TimeoutException"


def call(method: str, *given: tuple[str, str], number: int = 0, at: int = 0) -> ConfigCallStarted:
    connector = "" if method in {"refresh", "start", "putSessionKey", "claimWritePrivileges"} else "c"
    return ConfigCallStarted(member="w", call=number, method=method, connector=connector, given=given, time_ms=at)


def ended(method: str, error: str = "", number: int = 0, at: int = 0) -> ConfigCallEnded:
    return ConfigCallEnded(member="w", call=number, method=method, error=error, time_ms=at)


def record(key: str, value: str | None, offset: int = 0, epoch: int = -1) -> ConfigAppended:
    name = "t" if epoch >= 0 else ""
    return ConfigAppended(writer="w", offset=offset, key=key, value=value, transactional_id=name, epoch=epoch)


def committed(outcome: str = "committed") -> ConfigTransactionEnded:
    return ConfigTransactionEnded(transactional_id="t", epoch=0, offset=9, outcome=outcome)


def producer(member: str = "w", epoch: int = 0) -> ProducerInitialised:
    return ProducerInitialised(member=member, transactional_id="t", epoch=epoch)


def asked(operation: str, *given: tuple[str, str]) -> HerderAsked:
    return HerderAsked(member="w", request=0, operation=operation, work="c", given=given)


def sent(value: str | None, key: str = "status-connector-c", number: int = 1) -> StatusSent:
    return StatusSent(worker="s", key=key, attempt=0, send=number, value=value)


def appended(offset: int = 0, key: str = "status-connector-c") -> StatusAppended:
    return StatusAppended(worker="s", key=key, attempt=0, send=1, partition=0, offset=offset)


def read(
    status: str,
    worker: str = "",
    generation: int = -1,
    key: str = "status-connector-c",
    usage: tuple[tuple[str, str], ...] = (),
) -> Event:
    return StatusRead(
        worker="r",
        key=key,
        partition=0,
        offset=0,
        status=status,
        status_worker=worker,
        generation=generation,
        usage=usage,
    )


PROPERTIES: Final = ("properties", '{"v":"1"}')
CONNECTOR: Final = record("connector-c", '{"properties":{"v":"1"}}', 1)
PAUSE: Final = call("putTargetState", ("targetState", "PAUSED"))
PAUSED: Final = record("target-state-c", '{"state":"PAUSED","state.v2":"PAUSED"}')
RESTART: Final = (("onlyFailed", "true"), ("includeTasks", "false"))
READ_BACK: Final = (ConfigReadStarted(member="w"), ConfigReadEnded(member="w", offset=3))
WORKER: Final = WorkerConfigured(member="w", mode="eager")
RUNNING: Final = '{"state":"RUNNING","trace":null,"worker_id":"a","generation":2,"version":null}'
TOPIC_KEY: Final = "status-topic-t:connector-c"
TOPIC: Final = '{"topic":{"name":"t","connector":"c","task":0,"discoverTimestamp":7}}'
USAGE: Final = (("name", "t"), ("connector", "c"), ("task", "0"), ("discoverTimestamp", "7"))
CROSSED: Final = (("name", "c"), ("connector", "t"), ("task", "0"), ("discoverTimestamp", "7"))
STARTING: Final = StatusStoreStarting(worker="r", ends=(1,))
STARTED: Final = StatusStoreStarted(worker="r")

HOLDS: Final[dict[str, tuple[str, list[Event]]]] = {
    "a target state is written": (WRITES, [PAUSE, PAUSED, ended("putTargetState")]),
    "a connector is written behind its target state": (
        WRITES,
        [
            call("putConnectorConfig", PROPERTIES, ("targetState", "PAUSED")),
            PAUSED, CONNECTOR, *READ_BACK, ended("putConnectorConfig"),
        ],
    ),
    "tasks are committed": (
        WRITES,
        [
            call("putTaskConfigs", ("configs", '{"n":"0"}')), record("task-c-0", '{"properties":{"n":"0"}}', 0, 0),
            committed(), *READ_BACK, record("commit-c", '{"tasks":1}', 2, 0), committed(), *READ_BACK,
            ended("putTaskConfigs"),
        ],
    ),
    "a connector is removed": (
        WRITES,
        [
            call("removeConnectorConfig"), record("connector-c", None), record("target-state-c", None, 1), *READ_BACK,
            ended("removeConnectorConfig"),
        ],
    ),
    "a restart is written": (
        WRITES,
        [
            call("putRestartRequest", *RESTART),
            record("restart-connector-c", '{"include-tasks":false,"only-failed":true}'), *READ_BACK,
            ended("putRestartRequest"),
        ],
    ),
    "a fencing is written": (
        WRITES,
        [
            call("putTaskCountRecord", ("taskCount", "2")), record("tasks-fencing-c", '{"task-count":2}'), *READ_BACK,
            ended("putTaskCountRecord"),
        ],
    ),
    "a session key is written": (
        WRITES,
        [
            call("putSessionKey", ("algorithm", "a"), ("creationTimestamp", "5")),
            record("session-key", '{"key":"eA==","algorithm":"a","creation-timestamp":5}'), *READ_BACK,
            ended("putSessionKey"),
        ],
    ),
    "a level is written": (
        WRITES,
        [
            call("putLoggerLevel", ("level", "INFO")), record("logger-cluster-c", '{"level":"INFO"}'),
            ended("putLoggerLevel"),
        ],
    ),
    "what a call sent that threw comes late": (WRITES, [PAUSE, ended("putTargetState", PLAIN), PAUSED]),
    "a write of another process": (WRITES, [PAUSE, MemberCrashed(member="w"), CONNECTOR]),
    "a refresh takes too long": (
        THROWS, [call("refresh", ("timeoutMs", "10")), ended("refresh", LATE, at=10), RunEnded()],
    ),
    "a write takes too long": (THROWS, [PAUSE, ended("putTargetState", PLAIN, at=30_000), RunEnded()]),
    "a send is lost": (THROWS, [PAUSE, ended("putTargetState", PLAIN), RunEnded(struck=(("drop", "Stable"),))]),
    "a producer is fenced": (
        THROWS,
        [producer(), producer("x", 1), call("putTaskConfigs"), ended("putTaskConfigs", FAILED), RunEnded()],
    ),
    "no privileges": (THROWS, [call("putTaskConfigs"), ended("putTaskConfigs", "IllegalStateException"), RunEnded()]),
    "a run is cut off": (THROWS, [PAUSE, ended("putTargetState", PLAIN)]),
    "a call ends in time": (ENDS, [WORKER, PAUSE, ended("putTargetState", at=30_000)]),
    "a start takes long": (ENDS, [WORKER, call("start"), ended("start", at=90_000)]),
    "a transaction takes long": (
        ENDS,
        [
            WORKER, call("putTaskConfigs"), record("commit-c", '{"tasks":0}', 0, 0),
            ConfigTransactionEnded(transactional_id="t", epoch=0, offset=1, outcome="committed", time_ms=40_000),
            ended("putTaskConfigs", at=40_000),
        ],
    ),
    "a process is paused": (
        ENDS, [WORKER, PAUSE, MemberResumed(member="w", time_ms=50_000), ended("putTargetState", PLAIN, at=50_000)],
    ),
    "a herder is busy": (
        ENDS,
        [
            WORKER, PAUSE, ApplicationBusy(member="w", polled_ms=0, busy_ms=9_000, time_ms=29_000),
            ended("putTargetState", PLAIN, at=38_000),
        ],
    ),
    "a store without a herder is looked at late": (ENDS, [PAUSE, ended("putTargetState", PLAIN, at=50_000)]),
    "a store without a herder": (ENDS, [PAUSE, ended("putTargetState", at=30_000)]),
    "a pause is asked for": (ASKED, [WORKER, asked("pause"), PAUSE]),
    "a stop takes the tasks first": (
        ASKED,
        [WORKER, asked("stop"), call("putTaskConfigs"), call("putTargetState", ("targetState", "STOPPED"), number=1)],
    ),
    "a restart is asked for": (ASKED, [WORKER, asked("restart", *RESTART), call("putRestartRequest", *RESTART)]),
    "a configuration is asked for": (
        ASKED, [WORKER, asked("configure", PROPERTIES), call("putConnectorConfig", PROPERTIES)],
    ),
    "a deletion is asked for": (ASKED, [WORKER, asked("delete"), call("removeConnectorConfig")]),
    "task configs were generated": (
        ASKED,
        [
            WORKER,
            TaskConfigsGenerated(
                member="x", generation=1, member_id="x-1", connector="c", connector_config="{}",
                tasks=(("c-0", "{}"),), published=True,
            ),
            call("putTaskConfigs", ("configs", "{}")),
        ],
    ),
    "no worker": (ASKED, [PAUSE]),
    "a status is read": (READ, [sent(RUNNING), appended(), read("RUNNING", "a", 2)]),
    "a tombstone is read": (READ, [sent(None), appended(), read("DESTROYED")]),
    "a topic is read": (
        READ, [sent(TOPIC, TOPIC_KEY), appended(0, TOPIC_KEY), read("TOPIC", key=TOPIC_KEY, usage=USAGE)],
    ),
    "offsets follow each other": (OFFSETS, [appended(0), appended(1)]),
    "a store has read all": (STARTS, [appended(), STARTING, read("RUNNING"), STARTED]),
    "a store has read all again": (
        STARTS, [appended(), STARTING, read("RUNNING"), STARTED, STARTING, read("RUNNING"), STARTED]
    ),
    "what it ignores it has read": (
        STARTS,
        [appended(), STARTING,
         StatusIgnored(worker="r", key="status-connector-c", partition=0, offset=0, reason="malformed"), STARTED],
    ),
    "what was appended since is none of its business": (STARTS, [STARTING, appended(1), STARTED]),
    "sends of one write": (NUMBERS, [sent(None), sent(None, number=2)]),
}  # fmt: skip

BREAKS: Final[dict[str, tuple[str, list[Event]]]] = {
    "another state is written": (
        WRITES, [PAUSE, record("target-state-c", '{"state":"STARTED","state.v2":"STARTED"}')],
    ),
    "a connector overtakes its target state": (
        WRITES, [call("putConnectorConfig", PROPERTIES, ("targetState", "PAUSED")), CONNECTOR],
    ),
    "another configuration": (
        WRITES, [call("putConnectorConfig", PROPERTIES), record("connector-c", '{"properties":{"v":"2"}}')],
    ),
    "a restart says the opposite": (
        WRITES,
        [
            call("putRestartRequest", *RESTART),
            record("restart-connector-c", '{"include-tasks":true,"only-failed":false}'),
        ],
    ),
    "a tombstone of what is configured": (
        WRITES, [call("putConnectorConfig", PROPERTIES), record("connector-c", None)],
    ),
    "no JSON": (WRITES, [PAUSE, record("target-state-c", "{")]),
    "a call returns before it wrote": (WRITES, [PAUSE, ended("putTargetState")]),
    "a call returns before it committed": (
        WRITES,
        [
            call("putTaskCountRecord", ("taskCount", "2")), record("tasks-fencing-c", '{"task-count":2}', 0, 0),
            *READ_BACK, ended("putTaskCountRecord"),
        ],
    ),
    "its transaction is aborted": (
        WRITES,
        [
            call("putTaskCountRecord", ("taskCount", "2")), record("tasks-fencing-c", '{"task-count":2}', 0, 0),
            committed("aborted"), *READ_BACK, ended("putTaskCountRecord"),
        ],
    ),
    "a call returns before it read": (
        WRITES,
        [
            call("putTaskCountRecord", ("taskCount", "2")), record("tasks-fencing-c", '{"task-count":2}'),
            ended("putTaskCountRecord"),
        ],
    ),
    "a record twice": (WRITES, [PAUSE, PAUSED, PAUSED]),
    "a refresh gives up early": (THROWS, [call("refresh", ("timeoutMs", "10")), ended("refresh", LATE, at=9)]),
    "a refresh throws another error": (
        THROWS, [call("refresh", ("timeoutMs", "10")), ended("refresh", PLAIN, at=10)],
    ),
    "a write throws a time-out": (THROWS, [PAUSE, ended("putTargetState", LATE, at=30_000)]),
    "a write fails for nothing": (THROWS, [PAUSE, ended("putTargetState", PLAIN), RunEnded()]),
    "a transaction fails for nothing": (
        THROWS, [producer(), call("putTaskConfigs"), ended("putTaskConfigs", FAILED), RunEnded()],
    ),
    "a transaction fails as a write": (
        THROWS, [producer(), call("putTaskConfigs"), ended("putTaskConfigs", PLAIN)],
    ),
    "privileges are denied": (
        THROWS, [producer(), call("putTaskConfigs"), ended("putTaskConfigs", "IllegalStateException")],
    ),
    "an error of nothing": (THROWS, [call("start"), ended("start", "ConfigException")]),
    "a call goes on": (ENDS, [WORKER, PAUSE, ended("putTargetState", at=30_001)]),
    "a call of a store without a herder returns late": (ENDS, [PAUSE, ended("putTargetState", at=30_001)]),
    "a refresh goes on": (ENDS, [WORKER, call("refresh", ("timeoutMs", "10")), ended("refresh", LATE, at=11)]),
    "a call goes on behind its transaction": (
        ENDS,
        [
            WORKER, call("putTaskConfigs"), record("commit-c", '{"tasks":0}', 0, 0), committed(),
            ended("putTaskConfigs", PLAIN, at=30_001),
        ],
    ),
    "nothing was asked": (ASKED, [WORKER, PAUSE]),
    "another state was asked": (ASKED, [WORKER, asked("resume"), PAUSE]),
    "another restart was asked": (
        ASKED,
        [
            WORKER, asked("restart", *RESTART),
            call("putRestartRequest", ("onlyFailed", "true"), ("includeTasks", "true")),
        ],
    ),
    "a pause is written twice": (ASKED, [WORKER, asked("pause"), PAUSE, PAUSE]),
    "another process was asked": (ASKED, [WORKER, asked("pause"), MemberCrashed(member="w"), WORKER, PAUSE]),
    "task configs of nothing": (ASKED, [WORKER, call("putTaskConfigs", ("configs", "{}"))]),
    "another state is read": (READ, [sent(RUNNING), appended(), read("FAILED", "a", 2)]),
    "another generation is read": (READ, [sent(RUNNING), appended(), read("RUNNING", "a", 1)]),
    "another key is read": (READ, [sent(None), appended(), read("DESTROYED", key="status-connector-d")]),
    "a tombstone is read as a status": (READ, [sent(None), appended(), read("RUNNING", "a", 2)]),
    "a topic is read crosswise": (
        READ, [sent(TOPIC, TOPIC_KEY), appended(0, TOPIC_KEY), read("TOPIC", key=TOPIC_KEY, usage=CROSSED)],
    ),
    "an offset is left out": (OFFSETS, [appended(0), appended(2)]),
    "a store starts unread": (STARTS, [appended(), STARTING, STARTED]),
    "a store starts again unread": (STARTS, [appended(), STARTING, read("RUNNING"), STARTED, STARTING, STARTED]),
    "a call is left out": (NUMBERS, [PAUSE, call("refresh", number=2)]),
    "a send is left out": (NUMBERS, [sent(None, number=2)]),
}  # fmt: skip


def outcome(history: History, name: str, events: list[Event], run: RunStarted = OURS) -> Outcome:
    judged = judge(history(run, *events, ended=False), select([name]))
    return next(verdict.outcome for claim, verdict in judged.verdicts.items() if claim.name == name)


@pytest.mark.parametrize("case", HOLDS)
def test_it_holds(history: History, case: str) -> None:
    assert outcome(history, *HOLDS[case]) is not Outcome.VIOLATED


@pytest.mark.parametrize("case", BREAKS)
def test_it_breaks(history: History, case: str) -> None:
    assert outcome(history, *BREAKS[case]) is Outcome.VIOLATED


@pytest.mark.parametrize("case", [case for case, (name, _) in BREAKS.items() if name != READ])
def test_others_are_not_accused_of_what_they_may_not_have_recorded(history: History, case: str) -> None:
    assert outcome(history, *BREAKS[case], run=RunStarted(subject="broker")) is not Outcome.VIOLATED
