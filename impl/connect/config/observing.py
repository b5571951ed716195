"""The words of events about a config store: configurations as texts, work by name, callbacks by Kafka's names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from rebalance_check.impl.connect.config.changes import (
    ConfigChange,
    ConnectorConfigRemove,
    ConnectorConfigUpdate,
    LoggingLevelUpdate,
    SessionKeyUpdate,
    TargetStateChange,
    TaskConfigUpdate,
)
from rebalance_check.impl.connect.config.errors import TaskCountError
from rebalance_check.impl.connect.config.snapshot import ConfigSnapshot, ConnectorState
from rebalance_check.impl.connect.config.values import Properties, RestartRequest
from rebalance_check.impl.connect.config.writing import ConfigCall
from rebalance_check.model.vocabulary.events import (
    ConfigCallbackCalled,
    ConfigCallEnded,
    ConfigRead,
    ConfigSnapshotTaken,
)

_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def config_text(config: Properties | None) -> str:
    """A text that is equal exactly where configurations are equal, in any order of their fields."""
    return "" if config is None else _ENCODER.encode(config)


def task_name(connector: str, task: int) -> str:
    """``sink-0``."""
    return f"{connector}-{task}"


def read_event(member: str, offset: int, key: str | None, value: bytes | None, *, converted: bool) -> ConfigRead:
    """A record as the store read it; bytes that are no text are shown as such."""
    text = None if value is None else value.decode(errors="backslashreplace")
    return ConfigRead(member=member, offset=offset, key=key or "", value=text, converted=converted)


def call_ended_event(member: str, call: ConfigCall) -> ConfigCallEnded:
    """How a call ended, with Kafka's name of its exception."""
    error = "" if call.error is None else call.error.java
    return ConfigCallEnded(member=member, call=call.number, method=call.plan.method, error=error)


def callback_event(member: str, change: ConfigChange) -> ConfigCallbackCalled:
    """The call of Kafka's listener that a change stands for."""
    tasks: tuple[str, ...] = ()
    match change:
        case ConnectorConfigUpdate(connector):
            callback = "onConnectorConfigUpdate"
        case ConnectorConfigRemove(connector):
            callback = "onConnectorConfigRemove"
        case TaskConfigUpdate(connector, numbers):
            callback, tasks = "onTaskConfigUpdate", tuple(task_name(connector, number) for number in numbers)
        case TargetStateChange(connector):
            callback = "onConnectorTargetStateChange"
        case RestartRequest(connector):
            callback = "onRestartRequest"
        case SessionKeyUpdate():
            callback, connector = "onSessionKeyUpdate", ""
        case LoggingLevelUpdate(namespace):
            callback, connector = "onLoggingLevelUpdate", namespace
    return ConfigCallbackCalled(member=member, callback=callback, connector=connector, tasks=tasks)


def snapshot_event(member: str, taken: ConfigSnapshot) -> ConfigSnapshotTaken:
    """Everything that a snapshot holds, in the order of names."""
    known = dict(sorted(taken.known.items()))
    return ConfigSnapshotTaken(
        member=member,
        offset=taken.offset,
        connectors=tuple((name, config_text(s.config)) for name, s in known.items() if s.config is not None),
        target_states=tuple((name, s.target_state.value) for name, s in known.items() if s.target_state is not None),
        task_counts=tuple((name, s.task_count) for name, s in known.items() if s.task_count is not None),
        tasks=tuple(task_name(name, number) for name in known for number in _listed(taken, name)),
        task_configs=tuple(_task_configs(known)),
        inconsistent=tuple(name for name, s in known.items() if s.inconsistent),
        generations=tuple((name, s.generation) for name, s in known.items() if s.generation is not None),
        count_records=tuple(
            (name, s.task_count_record) for name, s in known.items() if s.task_count_record is not None
        ),
        pending_fencing=tuple(name for name, s in known.items() if s.pending_fencing),
        applied=tuple((name, config_text(s.applied)) for name, s in known.items() if s.applied is not None),
    )


def _listed(taken: ConfigSnapshot, connector: str) -> range:
    """The tasks of a connector; none where asking for them throws."""
    try:
        return taken.tasks(connector)
    except TaskCountError:
        return range(0)


def _task_configs(known: Mapping[str, ConnectorState]) -> Iterator[tuple[str, str]]:
    for name, state in known.items():
        for number, config in sorted(state.task_configs.items()):
            yield task_name(name, number), config_text(config)
