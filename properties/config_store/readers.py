"""What each worker's config store must know, derived from the records that it read: a second, plain implementation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    ConfigRead,
    ConfigSnapshotTaken,
    ConfigStoreStarted,
    Event,
    MemberStarted,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Fold, Memories, Memory
from rebalance_check.properties.verdict import Violation

SOURCE: Final = "KafkaConfigBackingStore, ClusterConfigState"
"""Where Kafka does what the claims about snapshots say."""

PREFIXES: Final = (
    "target-state-", "connector-", "task-", "commit-", "restart-connector-", "tasks-fencing-", "logger-cluster-",
)  # fmt: skip
"""In the order in which a reader compares them."""

Callback = tuple[str, str, tuple[str, ...]]
"""Method, connector and tasks."""

_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)")
_DECODER: Final = json.JSONDecoder()
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class ConfigStoreViolated(Violation):
    """A claim about the config store is broken; each claim has its own subclass."""


@dataclass(slots=True, eq=False)
class Connector:
    """What is known of a connector; configurations are texts, tasks are by number.

    ``committed`` is the last commit that was read while the connector was configured.
    """

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
    committed: ConfigRead | None = None
    complete: bool = False


@dataclass(slots=True, eq=False)
class Reader:
    """One worker's store from its start; ``expected`` are the callbacks that the record read last must cause."""

    offset: int = -1
    connectors: dict[str, Connector] = field(default_factory=dict)
    started: ConfigStoreStarted | None = None
    latest: ConfigRead | None = None
    is_recorded: bool = False
    reads: int = 0
    expected: list[Callback] = field(default_factory=list)

    def of(self, name: str) -> Connector:
        """A connector, known or not."""
        known = self.connectors.get(name)
        if known is None:
            known = self.connectors[name] = Connector()
        return known


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
        known = self.readers.get(member)
        if known is None:
            known = self.readers[member] = Reader()
        return known

    def _begun(self, event: MemberStarted | WorkerConfigured) -> None:
        """A new process has read nothing."""
        self.readers.pop(event.member, None)

    def _started(self, event: ConfigStoreStarted) -> None:
        reader = self.of(event.member)
        reader.is_recorded, reader.started = True, event

    def _read(self, event: ConfigRead) -> None:
        reader = self.of(event.member)
        reader.is_recorded, reader.latest, reader.expected = True, event, []
        reader.reads += 1
        if event.converted:
            reader.offset = event.offset + 1
            callbacks = _fold(reader, event)
            reader.expected = callbacks if reader.started is not None else []


class ConfigFold(Fold):
    """A fold that compares with what the readers of its group must know."""

    memory: ConfigReaders

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same readers."""
        self.memory = ConfigReaders.among(memories)
        self.memories = (self.memory,)

    def recorded(self, event: ConfigSnapshotTaken) -> Reader | None:
        """The reader behind a snapshot; None where its reads are not in the history."""
        reader = self.memory.of(event.member)
        return reader if reader.is_recorded else None

    def broken(self, headline: str, text: str, event: Event, *before: tuple[str, Event | None]) -> None:
        """A violation at ``event``, after what came before."""
        self.contradiction(headline, *[one for one in before if one[1] is not None], (text, event))


def text_of(config: Mapping[str, Any]) -> str:
    """The text of a configuration in events: JSON with sorted names and without spaces."""
    return _ENCODER.encode(config)


def task_of(work: str) -> tuple[str, int]:
    """Connector and number of a task's name."""
    connector, _, number = work.rpartition("-")
    return connector, int(number)


def kind_and_name(key: str) -> tuple[str, str]:
    """The prefix of a record key, and what follows it; ("", "") for a key that names nothing."""
    prefix = next((prefix for prefix in PREFIXES if key.startswith(prefix)), "")
    return prefix, key.removeprefix(prefix) if prefix else ""


def task_key(rest: str) -> tuple[str, int] | None:
    """Connector and number of a task's record, whose key ends in ``rest``."""
    connector, _, number = rest.rstrip("-").rpartition("-")
    has_both = "-" in rest.rstrip("-") and number.removeprefix("+").isdecimal()
    return (connector, int(number)) if has_both and int(number) < 2**31 else None


def _fold(reader: Reader, event: ConfigRead) -> list[Callback]:
    """What one record does, and the callbacks that it must cause in a started store."""
    kind, name = kind_and_name(event.key)
    value = _value(event.value)
    if kind == "connector-":
        return _connector(reader, name, value)
    if kind == "task-":
        _task(reader, name, value)
    elif kind == "commit-":
        return _commit(reader, name, value, event)
    elif kind == "target-state-":
        return _target(reader.of(name), name, value)
    elif kind == "tasks-fencing-" and (count := _integer(value, "task-count")) is not None:
        reader.of(name).count_record, reader.of(name).pending = count, False
    elif kind == "restart-connector-" and isinstance(value, dict):
        return [("onRestartRequest", name, ())]
    elif kind == "logger-cluster-" and isinstance(value, dict) and isinstance(value.get("level"), str):
        return [("onLoggingLevelUpdate", name, ())]
    elif event.key == "session-key" and _is_session_key(value):
        return [("onSessionKeyUpdate", "", ())]
    return []


def _value(text: str | None) -> Any:
    """The first JSON value of a record; None for a tombstone and for what cannot be read."""
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


def _is_session_key(value: Any) -> bool:
    """Whether a reader takes the key; one that is no Base64 makes it fail instead."""
    if not isinstance(value, dict) or not isinstance(value.get("algorithm"), str):
        return False
    key, created = value.get("key"), value.get("creation-timestamp")
    is_time = isinstance(created, int) and not isinstance(created, bool)
    return isinstance(key, str) and is_time and _BASE64.fullmatch(key) is not None


def _connector(reader: Reader, name: str, value: Any) -> list[Callback]:
    if value is None:
        _remove(reader, name)
        return [("onConnectorConfigRemove", name, ())]
    config = _properties(value)
    if config is None:
        return []
    known = reader.of(name)
    known.config, known.target = config, known.target or "STARTED"
    return [("onConnectorConfigUpdate", name, ())]


def _remove(reader: Reader, name: str) -> None:
    known = reader.of(name)
    known.config = known.count = known.applied = known.deferred = known.committed = None
    known.tasks, known.complete = {}, False


def _task(reader: Reader, rest: str, value: Any) -> None:
    named, config = task_key(rest), _properties(value)
    if named is not None and config is not None:
        known = reader.of(named[0])
        known.deferred = {**(known.deferred or {}), named[1]: config}


def _commit(reader: Reader, name: str, value: Any, event: ConfigRead) -> list[Callback]:
    known = reader.of(name)
    if known.config is None:
        _remove(reader, name)
        return []
    count = _integer(value, "tasks")
    if count is None:
        return []
    deferred = known.deferred
    known.complete = all(number in (deferred or {}) for number in range(count))
    tasks = tuple(f"{name}-{number}" for number in sorted(deferred or {})) if known.complete else ()
    if known.complete and deferred is not None:
        known.tasks = {**known.tasks, **deferred}
        known.generation = 0 if known.generation is None else known.generation + 1
    if known.complete:
        known.applied = known.config
    known.inconsistent, known.count, known.pending = not known.complete, count, True
    known.committed = event
    known.deferred = None if deferred is None else {}
    return [("onTaskConfigUpdate", name, tasks)]


def _target(known: Connector, name: str, value: Any) -> list[Callback]:
    if value is None:
        known.target = None if known.config is None else "STARTED"
        return []
    newer, older = (value.get("state.v2"), value.get("state")) if isinstance(value, dict) else (None, None)
    target = newer if isinstance(newer, str) else older
    if target not in ("STARTED", "PAUSED", "STOPPED"):
        return []
    before, known.target = known.target, target
    return [("onConnectorTargetStateChange", name, ())] if known.config is not None and before != target else []
