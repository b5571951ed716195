"""The required state of each worker's config store, derived from the records that it read: a second, plain
implementation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    ConfigRead,
    ConfigStoreStarted,
    MemberStarted,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Memory

PREFIXES: Final = (
    "target-state-", "connector-", "task-", "commit-", "restart-connector-", "tasks-fencing-", "logger-cluster-",
)  # fmt: skip
"""In the order in which a reader compares them."""


_DECODER: Final = json.JSONDecoder()
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(slots=True, eq=False)
class Connector:
    """The state of a connector; configurations are texts, tasks are by number."""

    config: str | None = None
    target: str | None = None
    count: int | None = None
    tasks: dict[int, str] = field(default_factory=dict)
    deferred: dict[int, str] | None = None
    applied: str | None = None
    generation: int | None = None
    count_record: int | None = None
    pending: bool = False
    inconsistent: bool = False


@dataclass(slots=True, eq=False)
class Reader:
    """One worker's store from its start."""

    offset: int = -1
    connectors: dict[str, Connector] = field(default_factory=dict)
    latest: ConfigRead | None = None
    is_recorded: bool = False

    def of(self, name: str) -> Connector:
        """A connector, known or not."""
        known = self.connectors.get(name)
        if known is None:
            known = self.connectors[name] = Connector()
        return known


class ConfigReaders(Memory):
    """The readers of a group by member, as they must be after the events so far.

    ``stores`` are the processes that the history shows to have a config store.
    """

    def __init__(self) -> None:
        self.stores: set[str] = set()
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
        known = self.readers.get(member)
        if known is None:
            known = self.readers[member] = Reader()
        return known

    def _begun(self, event: MemberStarted | WorkerConfigured) -> None:
        """A new process has read nothing."""
        self.readers.pop(event.member, None)
        if isinstance(event, WorkerConfigured):
            self.stores.add(event.member)

    def _started(self, event: ConfigStoreStarted) -> None:
        self.of(event.member).is_recorded = True
        self.stores.add(event.member)

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
    """Take one record."""
    kind, name = kind_and_name(event.key)
    value = _value(event.value)
    if kind == "connector-":
        _connector(reader, name, value)
    elif kind == "task-":
        _task(reader, name, value)
    elif kind == "commit-":
        _commit(reader, name, value)
    elif kind == "target-state-":
        _target(reader.of(name), value)
    elif kind == "tasks-fencing-" and (count := _integer(value, "task-count")) is not None:
        reader.of(name).count_record, reader.of(name).pending = count, False


def _value(text: str | None) -> Any:
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


def _connector(reader: Reader, name: str, value: Any) -> None:
    config = _properties(value)
    if value is None:
        _remove(reader, name)
    elif config is not None:
        known = reader.of(name)
        known.config, known.target = config, known.target or "STARTED"


def _remove(reader: Reader, name: str) -> None:
    known = reader.of(name)
    known.config = known.count = known.applied = known.deferred = None
    known.tasks = {}


def _task(reader: Reader, rest: str, value: Any) -> None:
    named, config = task_key(rest), _properties(value)
    if named is not None and config is not None:
        known = reader.of(named[0])
        known.deferred = {**(known.deferred or {}), named[1]: config}


def _commit(reader: Reader, name: str, value: Any) -> None:
    known = reader.of(name)
    if known.config is None:
        _remove(reader, name)
        return
    count = _integer(value, "tasks")
    if count is None:
        return
    deferred = known.deferred
    is_complete = all(number in (deferred or {}) for number in range(count))
    if is_complete and deferred is not None:
        known.tasks = {**known.tasks, **deferred}
        known.generation = 0 if known.generation is None else known.generation + 1
    if is_complete:
        known.applied = known.config
    known.inconsistent, known.count, known.pending = not is_complete, count, True
    known.deferred = None if deferred is None else {}


def _target(known: Connector, value: Any) -> None:
    if value is None:
        known.target = None if known.config is None else "STARTED"
        return
    newer, older = (value.get("state.v2"), value.get("state")) if isinstance(value, dict) else (None, None)
    target = newer if isinstance(newer, str) else older
    if target in ("STARTED", "PAUSED", "STOPPED"):
        known.target = target
