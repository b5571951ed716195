"""The cache of one worker: a fold over the records of the status topic, and nothing else.

A worker sees even its own status only after it has read it back (``KafkaStatusBackingStore.read``). Order exists per
key only, so the removal of a connector may be read before or after records of its tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    Status,
    StatusKey,
    StatusValue,
    TaskKey,
    TopicKey,
    TopicValue,
    ValueFormat,
    is_status_key,
    read_key,
    read_status,
    read_topic,
)

MALFORMED: Final = "malformed"
STALE_UNASSIGNED: Final = "stale unassigned"
UNKNOWN_KEY: Final = "unknown key"


@dataclass(slots=True, eq=False)
class CacheEntry:
    """A store's knowledge of one connector or task; removal ends an entry, and a later write begins another."""

    value: StatusValue | None = None
    sequence: int = 0
    deleted: bool = False


@dataclass(slots=True, eq=False)
class Fold:
    """The outcome of a record: ``ignored`` tells why the cache did not take it; no ``value`` is a removal."""

    key: StatusKey | None
    value: StatusValue | TopicValue | None = None
    ignored: str = ""


class StatusCache:
    """Entries per connector and task, and the topics of each connector."""

    def __init__(self, layout: ValueFormat) -> None:
        self._layout = layout
        self._connectors: dict[str, CacheEntry] = {}
        self._tasks: dict[str, dict[int, CacheEntry]] = {}
        self._topics: dict[str, dict[str, TopicValue]] = {}

    # -------------------------------------------------------------------------------------------- queries

    def get(self, key: ConnectorKey | TaskKey) -> StatusValue | None:
        """The cached status, or None."""
        entry = self._find(key)
        return None if entry is None else entry.value

    def tasks(self, connector: str) -> dict[int, StatusValue]:
        """The cached statuses of a connector's tasks by number, in ascending order (``getAll``)."""
        entries = self._tasks.get(connector, {})
        return {number: value for number in sorted(entries) if (value := entries[number].value) is not None}

    def connectors(self) -> list[str]:
        """Names that have an entry, sorted, including those of which only a local write is known."""
        return sorted(self._connectors)

    def topic(self, key: TopicKey) -> TopicValue | None:
        """The cached status of a connector's topic, or None."""
        return self._topics.get(key.connector, {}).get(key.topic)

    def topics(self, connector: str) -> list[TopicValue]:
        """The topics that a connector is known to use, by name."""
        return [self._topics[connector][name] for name in self.topic_names(connector)]

    def topic_names(self, connector: str) -> list[str]:
        """The names of these topics in their keys, sorted."""
        return sorted(self._topics.get(connector, {}))

    # -------------------------------------------------------------------------------------------- entries

    def entry(self, key: ConnectorKey | TaskKey) -> CacheEntry:
        """The entry of a connector or task, created when there is none (``getOrAdd``)."""
        if isinstance(key, ConnectorKey):
            return self._connectors.setdefault(key.connector, CacheEntry())
        return self._tasks.setdefault(key.connector, {}).setdefault(key.task, CacheEntry())

    def entries(self) -> Iterator[tuple[ConnectorKey | TaskKey, CacheEntry]]:
        """Every entry: those of connectors, then those of tasks."""
        for name, entry in self._connectors.items():
            yield ConnectorKey(name), entry
        for name, tasks in self._tasks.items():
            for number, entry in tasks.items():
                yield TaskKey(name, number), entry

    def all_topics(self) -> Iterator[tuple[TopicKey, TopicValue]]:
        """Every topic status, by the names of its key, which its value may contradict."""
        for connector, topics in self._topics.items():
            for topic, value in topics.items():
                yield TopicKey(topic, connector), value

    def _find(self, key: ConnectorKey | TaskKey) -> CacheEntry | None:
        if isinstance(key, ConnectorKey):
            return self._connectors.get(key.connector)
        return self._tasks.get(key.connector, {}).get(key.task)

    # -------------------------------------------------------------------------------------------- the fold

    def read(self, key: str, value: bytes | None) -> Fold:
        """Fold one record of the topic into the cache."""
        entity = read_key(key)
        if entity is None:
            return Fold(None, ignored=MALFORMED if is_status_key(key) else UNKNOWN_KEY)
        if isinstance(entity, TopicKey):
            return self._read_topic(entity, value)
        if value is None:
            self._remove(entity)
            return Fold(entity)
        status = read_status(value, self._layout)
        if status is None:
            return Fold(entity, ignored=MALFORMED)
        if self._is_stale(entity, status):
            return Fold(entity, status, ignored=STALE_UNASSIGNED)
        self.entry(entity).value = status
        return Fold(entity, status)

    def _is_stale(self, key: ConnectorKey | TaskKey, incoming: StatusValue) -> bool:
        """KAFKA-12525: an UNASSIGNED does not replace a RUNNING of its own or a later generation; tasks only."""
        cached = self.get(key)
        return (
            isinstance(key, TaskKey)
            and incoming.status is Status.UNASSIGNED
            and cached is not None
            and cached.status is Status.RUNNING
            and cached.generation >= incoming.generation
        )

    def _remove(self, key: ConnectorKey | TaskKey) -> None:
        """A tombstone: the entry ends, and with a connector's all entries of its tasks. Nothing is written."""
        if isinstance(key, TaskKey):
            self._end(self._tasks.get(key.connector, {}).pop(key.task, None))
            return
        self._end(self._connectors.pop(key.connector, None))
        for entry in self._tasks.pop(key.connector, {}).values():
            self._end(entry)

    def _end(self, entry: CacheEntry | None) -> None:
        if entry is not None:
            entry.deleted = True

    def _read_topic(self, key: TopicKey, value: bytes | None) -> Fold:
        if value is None:
            self._topics.get(key.connector, {}).pop(key.topic, None)
            return Fold(key)
        topic = read_topic(value)
        if topic is None:
            return Fold(key, ignored=MALFORMED)
        self._topics.setdefault(key.connector, {})[key.topic] = topic
        return Fold(key, topic)
