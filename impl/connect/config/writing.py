"""Each write of a config store, step by step; a process may end between any two of them.

A *privileged* write is a transaction of the leader's producer where exactly-once support is on, so that the brokers
refuse it to a leader that was replaced; otherwise its records are plain sends. Target states and levels of loggers are
plain sends of any worker, and nothing is read back after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rebalance_check.impl.connect.config.errors import ConfigStoreError
from rebalance_check.impl.connect.config.keys import RecordKind
from rebalance_check.impl.connect.config.log import InitTransactions, ReadToEnd
from rebalance_check.impl.connect.config.values import (
    ConfigRecord,
    RestartRequest,
    SessionKey,
    TargetState,
    WrittenProperties,
    commit_record,
    connector_record,
    logger_record,
    restart_record,
    session_key_record,
    target_state_record,
    task_count_record,
    task_record,
    tombstone,
)

READ_WRITE_TIMEOUT_MS: Final = 30_000
"""``READ_WRITE_TOTAL_TIMEOUT_MS``: how long one write, with everything that is read back, may take."""

PUT_CONNECTOR: Final = "putConnectorConfig"
CLAIM_PRIVILEGES: Final = "claimWritePrivileges"


@dataclass(frozen=True, slots=True)
class Write:
    """Append the records, as one transaction if they are ``privileged`` and the store can be fenced."""

    records: tuple[ConfigRecord, ...]
    privileged: bool = True


CallStep: TypeAlias = Write | ReadToEnd | InitTransactions


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of one call of Kafka's ``method``, each with its name in Kafka's message when it fails."""

    method: str
    steps: tuple[tuple[CallStep, str], ...]


@dataclass(slots=True, eq=False)
class ConfigCall:
    """A call of the store that is under way, or over; where Kafka blocks, the caller looks here again.

    ``deadline_ms`` bounds the call (None: nothing does), but for its transactions, which producers bound themselves.
    """

    plan: Plan
    deadline_ms: int | None
    number: int = 0
    at: int = 0
    error: ConfigStoreError | None = None

    @property
    def done(self) -> bool:
        """Whether the call is over, well or not."""
        return self.error is not None or self.at >= len(self.plan.steps)

    @property
    def step(self) -> tuple[CallStep, str]:
        """The step that the call is at, and Kafka's name for it when it fails."""
        return self.plan.steps[self.at]

    def result(self) -> None:
        """Nothing, where Kafka's method would have returned.

        Raises: ConfigStoreError, one of its kinds, when the call failed or is not over.
        """
        if self.error is not None:
            raise self.error
        if not self.done:
            raise ConfigStoreError(f"the call is at step {self.at + 1} of {len(self.plan.steps)}: let the log go on")


def _written_and_read(method: str, what: str, *records: ConfigRecord) -> Plan:
    return Plan(method, ((Write(records), what), (ReadToEnd(), what)))


def _plain(method: str, what: str, record: ConfigRecord) -> Plan:
    return Plan(method, ((Write((record,), privileged=False), what),))


def put_connector(connector: str, config: WrittenProperties, target: TargetState | None) -> Plan:
    """The target state comes first, so that a worker that reads the new connector knows it already."""
    first = () if target is None else (target_state_record(connector, target),)
    what = "writing connector configuration to Kafka"
    return _written_and_read(PUT_CONNECTOR, what, *first, connector_record(connector, config))


def put_tasks(connector: str, configs: Sequence[WrittenProperties]) -> Plan:
    """Read, write the tasks, read them back, commit, read that back; the commit of no tasks follows at once."""
    tasks = tuple(task_record(connector, number, config) for number, config in enumerate(configs))
    root = "writing root configuration to Kafka"
    steps: list[tuple[CallStep, str]] = [(ReadToEnd(), root), (Write(tasks), "writing task configurations to Kafka")]
    if tasks:
        steps.append((ReadToEnd(), root))
    steps += [(Write((commit_record(connector, len(tasks)),)), root), (ReadToEnd(), root)]
    return Plan("putTaskConfigs", tuple(steps))


def put_connector_and_tasks(
    connector: str, config: WrittenProperties, target: TargetState | None, tasks: Sequence[WrittenProperties]
) -> Plan:
    """The connector, and behind it its tasks as they are, so that compaction cannot leave them before it."""
    steps = (*put_connector(connector, config, target).steps, *put_tasks(connector, tasks).steps)
    return Plan(PUT_CONNECTOR, steps)


def remove_connector(connector: str) -> Plan:
    """Two tombstones; the records of tasks, commits, fencings and restarts stay behind."""
    gone = (tombstone(RecordKind.CONNECTOR, connector), tombstone(RecordKind.TARGET_STATE, connector))
    return _written_and_read("removeConnectorConfig", "removing connector configuration from Kafka", *gone)


def put_target_state(connector: str, state: TargetState) -> Plan:
    """Any worker may do it."""
    return _plain("putTargetState", "writing target state to Kafka", target_state_record(connector, state))


def put_task_count(connector: str, tasks: int) -> Plan:
    """After the producers of the tasks were fenced."""
    record = task_count_record(connector, tasks)
    return _written_and_read("putTaskCountRecord", "writing task count record to Kafka", record)


def put_session_key(key: SessionKey) -> Plan:
    """The leader's duty (KIP-507)."""
    return _written_and_read("putSessionKey", "writing session key to Kafka", session_key_record(key))


def put_restart(request: RestartRequest) -> Plan:
    """The leader writes a request; every worker then plans for itself."""
    return _written_and_read("putRestartRequest", f"writing {request} to Kafka", restart_record(request))


def put_logger_level(namespace: str, level: str) -> Plan:
    """Any worker may do it."""
    return _plain("putLoggerLevel", "writing logger level to Kafka", logger_record(namespace, level))


START: Final = Plan("start", ((ReadToEnd(), "starting the config store"),))
REFRESH: Final = Plan("refresh", ((ReadToEnd(), "trying to read to end of config log"),))
CLAIM: Final = Plan(
    CLAIM_PRIVILEGES, ((InitTransactions(), "creating and initializing the fencable producer for the config topic"),)
)
NOTHING: Final = Plan(CLAIM_PRIVILEGES, ())
