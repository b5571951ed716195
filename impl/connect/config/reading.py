"""The fold of the config topic: the effect of each record on a worker's knowledge, whenever it is read.

One function per kind of record (``KafkaConfigBackingStore.ConsumeCallback``). Task configurations are kept apart until
a commit record says that they are complete, so that a writer that dies half-way leaves the earlier ones in force.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from rebalance_check.impl.connect.config.changes import (
    ConfigChange,
    ConnectorConfigRemove,
    ConnectorConfigUpdate,
    LoggingLevelUpdate,
    SessionKeyUpdate,
    TargetStateChange,
    TaskConfigUpdate,
)
from rebalance_check.impl.connect.config.errors import RecordKeyError, SessionKeyError, TaskNumberError
from rebalance_check.impl.connect.config.keys import ConfigKey, RecordKind, read_config_key
from rebalance_check.impl.connect.config.snapshot import NOTHING_READ, UNKNOWN, ConfigSnapshot, ConnectorState
from rebalance_check.impl.connect.config.values import (
    Properties,
    RestartRequest,
    SessionKey,
    TargetState,
    read_base64,
    read_target_state,
)
from rebalance_check.impl.protocol.java_text import low_bits
from rebalance_check.impl.protocol.json_converter import ConversionError, JsonValue, is_integer, read_json

_INT_BITS: Final = 32


@dataclass(slots=True, eq=False)
class ConfigState:
    """Everything that one worker has read; ``deferred`` are task configurations that no commit followed yet."""

    offset: int = NOTHING_READ
    session_key: SessionKey | None = None
    connectors: dict[str, ConnectorState] = field(default_factory=dict)
    deferred: dict[str, dict[int, Properties]] = field(default_factory=dict)

    def snapshot(self) -> ConfigSnapshot:
        """A copy that later records do not change."""
        return ConfigSnapshot(offset=self.offset, session_key=self.session_key, known=dict(self.connectors))

    def of(self, connector: str) -> ConnectorState:
        """The knowledge of a connector."""
        return self.connectors.get(connector, UNKNOWN)


@dataclass(slots=True, eq=False)
class Reading:
    """The outcome of a record: ``converted`` False left the offset where it was; no ``key`` names nothing known."""

    converted: bool
    key: ConfigKey | None = None
    changes: tuple[ConfigChange, ...] = ()


_Step: TypeAlias = Callable[[ConfigState, ConfigKey, JsonValue], tuple[ConfigChange, ...]]


def read_record(state: ConfigState, offset: int, key: str | None, value: bytes | None) -> Reading:
    """Fold one record into the state. The offset advances before the record is looked at, so also for a bad one.

    Raises: RecordKeyError, TaskNumberError or SessionKeyError where Kafka's callback throws; the state is as Kafka
    leaves it.
    """
    try:
        converted = read_json(value)
    except ConversionError:
        return Reading(False)
    state.offset = offset + 1
    if key is None:
        raise RecordKeyError(f"the record at offset {offset} has no key: no config record is written so")
    named = read_config_key(key)
    if named is None:
        return Reading(True)
    return Reading(True, named, _STEPS[named.kind](state, named, converted))


def _read_connector(state: ConfigState, key: ConfigKey, value: JsonValue) -> tuple[ConfigChange, ...]:
    """A tombstone removes the connector; a configuration replaces the one before, and nothing else of the connector."""
    if value is None:
        _remove(state, key.name)
        return (ConnectorConfigRemove(key.name),)
    config = _properties(value)
    if config is None:
        return ()
    known = state.of(key.name)
    state.connectors[key.name] = replace(known, config=config, target_state=known.target_state or TargetState.STARTED)
    return (ConnectorConfigUpdate(key.name),)


def _remove(state: ConfigState, connector: str) -> None:
    """Target state, task count record, generation and both flags outlive the connector."""
    state.deferred.pop(connector, None)
    if connector in state.connectors:
        state.connectors[connector] = replace(
            state.connectors[connector], config=None, task_count=None, task_configs={}, applied=None
        )


def _read_task(state: ConfigState, key: ConfigKey, value: JsonValue) -> tuple[ConfigChange, ...]:
    """A task configuration waits for its commit; the connector need not be known."""
    config = _properties(value)
    if config is not None:
        state.deferred.setdefault(key.name, {})[key.task] = config
    return ()


def _read_commit(state: ConfigState, key: ConfigKey, value: JsonValue) -> tuple[ConfigChange, ...]:
    """The deferred task configurations come into force if there is one of each task; they are dropped in any case."""
    known = state.of(key.name)
    if known.config is None:
        _remove(state, key.name)
        return ()
    if not isinstance(value, Mapping):
        return ()
    deferred = state.deferred.get(key.name)
    count = _integer(value, "tasks")
    complete = len(deferred or {}) >= count and all(task in (deferred or {}) for task in range(count))
    updated = tuple(sorted(deferred)) if complete and deferred else ()
    committed = _completed(known, deferred) if complete else replace(known, inconsistent=True)
    state.connectors[key.name] = replace(committed, task_count=count, pending_fencing=True)
    if deferred is not None:
        state.deferred[key.name] = {}
    return (TaskConfigUpdate(key.name, updated),)


def _completed(known: ConnectorState, deferred: Mapping[int, Properties] | None) -> ConnectorState:
    """A complete commit; the generation counts only those of a connector that ever had a task configuration."""
    done = replace(known, inconsistent=False, applied=known.config)
    if deferred is None:
        return done
    generation = 0 if known.generation is None else known.generation + 1
    return replace(done, task_configs={**known.task_configs, **deferred}, generation=generation)


def _read_target_state(state: ConfigState, key: ConfigKey, value: JsonValue) -> tuple[ConfigChange, ...]:
    """A tombstone takes the state back to its default, without a callback."""
    known = state.of(key.name)
    if value is None:
        default = None if known.config is None else TargetState.STARTED
        if key.name in state.connectors:
            state.connectors[key.name] = replace(known, target_state=default)
        return ()
    target = read_target_state(value) if isinstance(value, Mapping) else None
    if target is None:
        return ()
    state.connectors[key.name] = replace(known, target_state=target)
    changed = known.config is not None and known.target_state is not target
    return (TargetStateChange(key.name),) if changed else ()


def _read_task_count(state: ConfigState, key: ConfigKey, value: JsonValue) -> tuple[ConfigChange, ...]:
    """So many tasks were fenced: no fencing is pending any more, until the next commit."""
    if isinstance(value, Mapping):
        count = _integer(value, "task-count")
        known = state.of(key.name)
        state.connectors[key.name] = replace(known, task_count_record=count, pending_fencing=False)
    return ()


def _read_session_key(state: ConfigState, key: ConfigKey, value: JsonValue) -> tuple[ConfigChange, ...]:
    """A new key replaces the one before; the store knows no expiry and looks at no algorithm."""
    if not isinstance(value, Mapping):
        return ()
    text, algorithm, created = value.get("key"), value.get("algorithm"), value.get("creation-timestamp")
    if not isinstance(text, str):
        return ()
    secret = read_base64(text)
    if secret is None:
        raise SessionKeyError(f"the record {str(key)!r} holds {text!r}, which is no Base64: write a new session key")
    if not (isinstance(algorithm, str) and is_integer(created)):
        return ()
    if not secret:
        raise SessionKeyError(f"the record {str(key)!r} holds an empty key: write a new session key")
    state.session_key = SessionKey(secret, algorithm, created)
    return (SessionKeyUpdate(state.session_key),)


def _read_restart(state: ConfigState, key: ConfigKey, value: JsonValue) -> tuple[ConfigChange, ...]:  # noqa: ARG001 - one shape for all
    """A request changes nothing that is known; a flag that is missing, or no boolean, is false."""
    if not isinstance(value, Mapping):
        return ()
    return (RestartRequest(key.name, value.get("only-failed") is True, value.get("include-tasks") is True),)


def _read_logger(state: ConfigState, key: ConfigKey, value: JsonValue) -> tuple[ConfigChange, ...]:  # noqa: ARG001 - one shape for all
    """A level is passed on, valid or not."""
    level = value.get("level") if isinstance(value, Mapping) else None
    return (LoggingLevelUpdate(key.name, level),) if isinstance(level, str) else ()


_STEPS: Final[Mapping[RecordKind, _Step]] = {
    RecordKind.TARGET_STATE: _read_target_state,
    RecordKind.CONNECTOR: _read_connector,
    RecordKind.TASK: _read_task,
    RecordKind.COMMIT: _read_commit,
    RecordKind.RESTART: _read_restart,
    RecordKind.TASK_COUNT: _read_task_count,
    RecordKind.SESSION_KEY: _read_session_key,
    RecordKind.LOGGER: _read_logger,
}


def _properties(value: JsonValue) -> Properties | None:
    """The configuration in a value, or None where there is none: Kafka ignores the record then."""
    properties = value.get("properties") if isinstance(value, Mapping) else None
    return properties if isinstance(properties, Mapping) else None


def _integer(value: Mapping[str, JsonValue], name: str) -> int:
    """The low 32 bits of an integer field."""
    number = value.get(name)
    if not is_integer(number):
        raise TaskNumberError(f"the field {name!r} holds {number!r}, which is no integer: write a whole number")
    return low_bits(number, _INT_BITS)
