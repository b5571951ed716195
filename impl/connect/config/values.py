"""The values of the config topic: the fields of each kind of record, and its bytes as Kafka writes them.

Values are JSON without schemas. Writers put the fields in the order of Kafka's schemas and write a null field as null.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from rebalance_check.impl.connect.config.keys import ConfigKey, RecordKind
from rebalance_check.impl.protocol.json_converter import JsonValue, json_object, json_text

Properties: TypeAlias = Mapping[str, JsonValue]
"""A configuration as it was read: Kafka writes strings and nulls, and accepts any JSON value."""

WrittenProperties: TypeAlias = Mapping[str, str | None]
"""A configuration as it is written, in the order of its fields."""


class TargetState(StrEnum):
    """The state that a connector shall be in (Kafka's ``TargetState``)."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The key with which workers sign requests to each other (KIP-507); ``created_ms`` is the leader's clock then."""

    key: bytes
    algorithm: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class RestartRequest:
    """A request to restart a connector and its tasks (KIP-745)."""

    connector: str
    only_failed: bool = False
    include_tasks: bool = False

    def __str__(self) -> str:
        """As Kafka's messages show it."""
        flags = f"onlyFailed={_bool(self.only_failed)}, includeTasks={_bool(self.include_tasks)}"
        return f"restart request for {{connectorName='{self.connector}', {flags}}}"


class ConfigRecord(NamedTuple):
    """A record to write; ``value`` None is a tombstone."""

    key: str
    value: bytes | None


# ------------------------------------------------------------------------------------------------ records


def connector_record(connector: str, config: WrittenProperties) -> ConfigRecord:
    """The configuration of a connector."""
    return _record(ConfigKey(RecordKind.CONNECTOR, connector), {"properties": _properties(config)})


def task_record(connector: str, task: int, config: WrittenProperties) -> ConfigRecord:
    """The configuration of a task, which counts once a commit record follows it."""
    return _record(ConfigKey(RecordKind.TASK, connector, task), {"properties": _properties(config)})


def commit_record(connector: str, tasks: int) -> ConfigRecord:
    """From here on the connector has ``tasks`` tasks, whose configurations precede this record."""
    return _record(ConfigKey(RecordKind.COMMIT, connector), {"tasks": str(tasks)})


def target_state_record(connector: str, state: TargetState) -> ConfigRecord:
    """The target state; releases before STOPPED existed (KIP-875) read PAUSED for it."""
    older = TargetState.PAUSED if state is TargetState.STOPPED else state
    fields = {"state": json_text(older), "state.v2": json_text(state)}
    return _record(ConfigKey(RecordKind.TARGET_STATE, connector), fields)


def task_count_record(connector: str, tasks: int) -> ConfigRecord:
    """The producers of so many tasks were fenced (KIP-618)."""
    return _record(ConfigKey(RecordKind.TASK_COUNT, connector), {"task-count": str(tasks)})


def session_key_record(key: SessionKey) -> ConfigRecord:
    """A new session key."""
    fields = {
        "key": json_text(b64encode(key.key).decode()),
        "algorithm": json_text(key.algorithm),
        "creation-timestamp": str(key.created_ms),
    }
    return _record(ConfigKey(RecordKind.SESSION_KEY), fields)


def restart_record(request: RestartRequest) -> ConfigRecord:
    """A request to restart."""
    fields = {"include-tasks": _bool(request.include_tasks), "only-failed": _bool(request.only_failed)}
    return _record(ConfigKey(RecordKind.RESTART, request.connector), fields)


def logger_record(namespace: str, level: str) -> ConfigRecord:
    """The level of a logger on all workers (KIP-976)."""
    return _record(ConfigKey(RecordKind.LOGGER, namespace), {"level": json_text(level)})


def tombstone(kind: RecordKind, connector: str) -> ConfigRecord:
    """The record that takes back earlier records of its key."""
    return ConfigRecord(str(ConfigKey(kind, connector)), None)


def _record(key: ConfigKey, fields: Mapping[str, str]) -> ConfigRecord:
    return ConfigRecord(str(key), json_object(fields).encode())


def _properties(config: WrittenProperties) -> str:
    return json_object({name: json_text(value) for name, value in config.items()})


def _bool(value: bool) -> str:
    return "true" if value else "false"


# ------------------------------------------------------------------------------------------------ reading

_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?")


def read_base64(text: str) -> bytes | None:
    """The bytes of a key, with or without padding at the end; None where Java's decoder throws."""
    if not _BASE64.fullmatch(text):
        return None
    return b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))


def read_target_state(value: Mapping[str, JsonValue]) -> TargetState | None:
    """The state that a value names; ``state.v2`` hides ``state`` when it is a string, even of an unknown name."""
    newer, older = value.get("state.v2"), value.get("state")
    name = newer if isinstance(newer, str) else older
    return TargetState(name) if isinstance(name, str) and name in TargetState.__members__ else None
