"""The keys of the config topic: which kind of record a key announces, and which connector, task or logger it names."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from rebalance_check.impl.protocol.java_text import parse_int, split_hyphens

_TASK_PIECES: Final = 3
NO_TASK: Final = -1
"""The task number of keys that name no task."""


class RecordKind(StrEnum):
    """The kinds of records, in the order in which the reader compares prefixes; the value is the prefix of the key."""

    TARGET_STATE = "target-state-"
    CONNECTOR = "connector-"
    TASK = "task-"
    COMMIT = "commit-"
    RESTART = "restart-connector-"
    TASK_COUNT = "tasks-fencing-"
    SESSION_KEY = "session-key"
    LOGGER = "logger-cluster-"


class ConfigKey(NamedTuple):
    """The subject of a record; ``str()`` gives the record key.

    ``name`` is the connector, or the namespace of a logger, and empty for a session key.
    """

    kind: RecordKind
    name: str = ""
    task: int = NO_TASK

    def __str__(self) -> str:
        """``task-<connector>-<number>`` for a task, else the prefix and the name."""
        return f"{self.kind}{self.name}" + (f"-{self.task}" if self.kind is RecordKind.TASK else "")


_NAMED_KINDS: Final = tuple(kind for kind in RecordKind if kind is not RecordKind.SESSION_KEY)
"""The kinds whose keys go on behind the prefix."""


def read_config_key(key: str) -> ConfigKey | None:
    """The subject that a record key names; None where Kafka's reader ignores the record. Empty names are accepted."""
    if key == RecordKind.SESSION_KEY:
        return ConfigKey(RecordKind.SESSION_KEY)
    kind = next((kind for kind in _NAMED_KINDS if key.startswith(kind)), None)
    if kind is None:
        return None
    return _read_task_key(key) if kind is RecordKind.TASK else ConfigKey(kind, key.removeprefix(kind))


def _read_task_key(key: str) -> ConfigKey | None:
    """The last piece between hyphens is the number, the text between it and the prefix is the connector."""
    pieces = split_hyphens(key)
    number = parse_int(pieces[-1]) if len(pieces) >= _TASK_PIECES else None
    return None if number is None else ConfigKey(RecordKind.TASK, "-".join(pieces[1:-1]), number)
