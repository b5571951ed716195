"""The required state of each worker's config store, derived from the records that it read: a second, plain
implementation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.model.vocabulary.events import ConfigRead, ConfigStoreStarted, MemberStarted, WorkerConfigured
from rebalance_check.properties.kinds import Memory

PREFIXES: Final = (
    "target-state-", "connector-", "task-", "commit-", "restart-connector-", "tasks-fencing-", "logger-cluster-",
)  # fmt: skip
"""In the order in which a reader compares them."""


_DECODER: Final = json.JSONDecoder()
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(slots=True, eq=False)
class Connector:
    """The state of a connector; configurations are texts, tasks are by number.

    ``deferred`` are the tasks that no commit has put in force yet.
    """

    config: str | None = None
    target: str | None = None
    count: int | None = None
    tasks: dict[int, str] = field(default_factory=dict)
    deferred: dict[int, str] = field(default_factory=dict)
    count_record: int | None = None
    inconsistent: bool = False

    def forget(self) -> None:
        """The connector is removed; its target state and its task count record stay."""
        self.config = self.count = None
        self.tasks, self.deferred = {}, {}

    def commit(self, count: int) -> None:
        """Put the deferred tasks in force, if the topic holds all of them."""
        is_complete = all(number in self.deferred for number in range(count))
        if is_complete:
            self.tasks = {**self.tasks, **self.deferred}
        self.inconsistent, self.count, self.deferred = not is_complete, count, {}


@dataclass(slots=True, eq=False)
class Reader:
    """One worker's store from its start."""

    offset: int = -1
    connectors: dict[str, Connector] = field(default_factory=dict)
    latest: ConfigRead | None = None
    is_recorded: bool = False


class ConfigReaders(Memory):
    """The readers of a group by member, as they must be after the events so far."""

    def __init__(self) -> None:
        self.readers: dict[str, Reader] = {}
        super().__init__(
            {
                ConfigRead: self._read,
                ConfigStoreStarted: self._started,
                MemberStarted: self._begun,
                WorkerConfigured: self._begun,
            }
        )

    def of(self, member: str) -> Reader:
        """The reader of a worker."""
        return self.readers.setdefault(member, Reader())

    def _begun(self, event: MemberStarted | WorkerConfigured) -> None:
        """A new process has read nothing."""
        self.readers.pop(event.member, None)

    def _started(self, event: ConfigStoreStarted) -> None:
        self.of(event.member).is_recorded = True

    def _read(self, event: ConfigRead) -> None:
        reader = self.of(event.member)
        reader.is_recorded, reader.latest = True, event
        if event.converted:
            reader.offset = event.offset + 1
            _fold(reader, event)


def text_of(config: Mapping[str, Any]) -> str:
    """The text of a configuration in events: JSON with sorted names and without spaces."""
    return _ENCODER.encode(config)


def task_of(work: str) -> tuple[str, int]:
    """Connector and number of a task's name."""
    connector, _, number = work.rpartition("-")
    return connector, int(number)


def kind_and_name(key: str) -> tuple[str, str]:
    """The prefix of a record key, and the rest; ("", "") for a key that names nothing."""
    prefix = next((prefix for prefix in PREFIXES if key.startswith(prefix)), "")
    return prefix, key.removeprefix(prefix) if prefix else ""


def task_key(rest: str) -> tuple[str, int] | None:
    """Connector and number of a task's record, whose key ends in ``rest``."""
    connector, _, number = rest.rstrip("-").rpartition("-")
    has_both = "-" in rest.rstrip("-") and number.removeprefix("+").isdecimal()
    return (connector, int(number)) if has_both and int(number) < 2**31 else None


def _fold(reader: Reader, event: ConfigRead) -> None:
    """Apply one record."""
    kind, name = kind_and_name(event.key)
    number, value = -1, value_of(event.value)
    if kind == "task-":
        name, number = task_key(name) or ("", -1)
    known = reader.connectors.setdefault(name, Connector())
    is_gone = value is None if kind == "connector-" else kind == "commit-" and known.config is None
    if is_gone:
        known.forget()
    elif kind == "connector-" and (config := _properties(value)) is not None:
        known.config, known.target = config, known.target or "STARTED"
    elif number >= 0 and (config := _properties(value)) is not None:
        known.deferred[number] = config
    elif kind == "commit-" and (count := _integer(value, "tasks")) is not None:
        known.commit(count)
    elif kind == "target-state-":
        known.target = _target(known, value)
    elif kind == "tasks-fencing-" and (count := _integer(value, "task-count")) is not None:
        known.count_record = count


def value_of(text: str | None) -> Any:
    """The first JSON value of a record; None for a tombstone and for an unreadable one."""
    try:
        return None if not text or not text.strip() else _DECODER.raw_decode(text.strip())[0]
    except ValueError:
        return None


def _properties(value: Any) -> str | None:
    properties = value.get("properties") if isinstance(value, dict) else None
    return text_of(properties) if isinstance(properties, dict) else None


def _integer(value: Any, name: str) -> int | None:
    """The low 32 bits of an integer field."""
    number = value.get(name) if isinstance(value, dict) else None
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return (number + 2**31) % 2**32 - 2**31


def _target(known: Connector, value: Any) -> str | None:
    """The target state after a record; a tombstone sets back to STARTED, and one that names no state changes none."""
    if value is None:
        return None if known.config is None else "STARTED"
    target = state_in(value)
    return target if target in ("STARTED", "PAUSED", "STOPPED") else known.target


def state_in(value: Any) -> Any:
    """The target state that a record names, which older releases write into another field."""
    newer, older = (value.get("state.v2"), value.get("state")) if isinstance(value, dict) else (None, None)
    return newer if isinstance(newer, str) else older
