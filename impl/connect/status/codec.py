"""Keys and values of the status topic, byte for byte as ``KafkaStatusBackingStore`` 3.9 and 4.3 write and read them.

Values are schemaless JSON (``JsonConverter`` with ``schemas.enable=false``) whose fields stand in a fixed order. The
reader is lenient where Kafka's is: any text may follow the first JSON value, a repeated field counts with its last
value, an integer of any size is cut to its low 32 bits; and strict where Kafka's is: a float is no generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from rebalance_check.impl.protocol.java_text import low_bits, parse_int, split_hyphens
from rebalance_check.impl.protocol.json_converter import ConversionError, is_integer, json_text, read_json
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

CONNECTOR_PREFIX: Final = "status-connector-"
TASK_PREFIX: Final = "status-task-"
TOPIC_PREFIX: Final = "status-topic-"
TOPIC_SEPARATOR: Final = ":connector-"
_TASK_PIECES: Final = 4


class Status(StrEnum):
    """The state of a connector or task (Kafka's ``AbstractStatus.State``); DESTROYED is written as a tombstone."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    DESTROYED = "DESTROYED"
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"


_STATES: Final[dict[str, Status]] = dict(Status.__members__)


class ValueFormat(StrEnum):
    """The release that wrote a value: 4.3 knows the plugin's ``version``, 3.9 neither writes nor reads it."""

    KAFKA_3_9 = "3.9"
    KAFKA_4_3 = "4.3"


BOOM = "java.lang.RuntimeException: boom"
"""The trace of everything that fails in a simulation."""


@dataclass(frozen=True, slots=True)
class StatusValue:
    """The value of a connector or task record. Readers accept a ``worker_id`` of None, which no worker writes."""

    status: Status
    worker_id: str | None
    generation: int
    trace: str | None = None
    version: str | None = None


def status_value(status: Status, worker_id: str, generation: int) -> StatusValue:
    """The value of a status, with the trace of a failure, and of that alone."""
    return StatusValue(status, worker_id, generation, BOOM if status is Status.FAILED else None)


@dataclass(frozen=True, slots=True)
class TopicValue:
    """The value of a topic record (KIP-558): which task of the connector first used the topic, and when."""

    topic: str
    connector: str
    task: int
    discovered_ms: int


class StatusWriteError(RebalanceCheckError):
    """The value cannot be written: it names no worker."""

    java = "DataException"


# ------------------------------------------------------------------------------------------------ keys


class ConnectorKey(NamedTuple):
    """The key of a connector's status; ``str()`` gives the record key."""

    connector: str

    def __str__(self) -> str:
        """``status-connector-<name>``."""
        return CONNECTOR_PREFIX + self.connector


class TaskKey(NamedTuple):
    """The key of a task's status; ``str()`` gives the record key."""

    connector: str
    task: int

    def __str__(self) -> str:
        """``status-task-<connector>-<number>``."""
        return f"{TASK_PREFIX}{self.connector}-{self.task}"


class TopicKey(NamedTuple):
    """The key of a topic's status; ``str()`` gives the record key."""

    topic: str
    connector: str

    def __str__(self) -> str:
        """``status-topic-<topic>:connector-<connector>``."""
        return f"{TOPIC_PREFIX}{self.topic}{TOPIC_SEPARATOR}{self.connector}"


StatusKey = ConnectorKey | TaskKey | TopicKey


def is_status_key(key: str) -> bool:
    """Whether the record key belongs to one of the three kinds at all, well formed or not."""
    return key.startswith((CONNECTOR_PREFIX, TASK_PREFIX, TOPIC_PREFIX))


def read_key(key: str) -> StatusKey | None:
    """The entity that a record key names, or None where Kafka's reader ignores the record."""
    if key.startswith(CONNECTOR_PREFIX):
        name = key.removeprefix(CONNECTOR_PREFIX)
        return ConnectorKey(name) if name else None
    if key.startswith(TASK_PREFIX):
        return _read_task_key(key)
    if key.startswith(TOPIC_PREFIX):
        return _read_topic_key(key)
    return None


def _read_task_key(key: str) -> TaskKey | None:
    """The last piece between hyphens is the number, the text between it and the prefix is the connector."""
    pieces = split_hyphens(key)
    number = parse_int(pieces[-1]) if len(pieces) >= _TASK_PIECES else None
    return None if number is None else TaskKey("-".join(pieces[2:-1]), number)


def _read_topic_key(key: str) -> TopicKey | None:
    """Only the first colon is looked for; the separator's text behind it is skipped without being compared."""
    colon = key.find(":")
    topic = key[len(TOPIC_PREFIX) : colon] if colon >= len(TOPIC_PREFIX) else ""
    connector = key[colon + len(TOPIC_SEPARATOR) :]
    return TopicKey(topic, connector) if topic and connector else None


# ------------------------------------------------------------------------------------------------ values


def write_status(value: StatusValue, layout: ValueFormat = ValueFormat.KAFKA_4_3) -> bytes | None:
    """The bytes of a connector or task record; None, a tombstone, for DESTROYED.

    Raises `StatusWriteError` when the value names no worker, as Kafka's converter does.
    """
    if value.status is Status.DESTROYED:
        return None
    if value.worker_id is None:
        raise StatusWriteError(f"the status {value.status} names no worker: give the worker's advertised host:port")
    fields = [
        f'"state":"{value.status}"',
        f'"trace":{json_text(value.trace)}',
        f'"worker_id":{json_text(value.worker_id)}',
        f'"generation":{value.generation}',
    ]
    if layout is ValueFormat.KAFKA_4_3:
        fields.append(f'"version":{json_text(value.version)}')
    return ("{" + ",".join(fields) + "}").encode()


def write_topic(value: TopicValue) -> bytes:
    """The bytes of a topic record, the same in every release."""
    inner = (
        f'"name":{json_text(value.topic)},"connector":{json_text(value.connector)},'
        f'"task":{value.task},"discoverTimestamp":{value.discovered_ms}'
    )
    return f'{{"topic":{{{inner}}}}}'.encode()


def read_status(data: bytes, layout: ValueFormat = ValueFormat.KAFKA_4_3) -> StatusValue | None:
    """The value of a connector or task record, or None where Kafka's reader ignores it. Tombstones are not values."""
    fields = _first_object(data)
    if fields is None or not _readable(fields, layout):
        return None
    version = fields.get("version") if layout is ValueFormat.KAFKA_4_3 else None
    return StatusValue(
        status=_STATES[fields["state"]],
        worker_id=fields.get("worker_id"),
        generation=low_bits(fields["generation"], 32),
        trace=fields.get("trace"),
        version=version,
    )


def _readable(fields: dict[str, Any], layout: ValueFormat) -> bool:
    """The types that Kafka's casts accept; 3.9 does not look at ``version``."""
    optional_texts = ["trace", "worker_id"] + (["version"] if layout is ValueFormat.KAFKA_4_3 else [])
    return (
        isinstance(fields.get("state"), str)
        and fields["state"] in _STATES
        and is_integer(fields.get("generation"))
        and all(fields.get(name) is None or isinstance(fields[name], str) for name in optional_texts)
    )


def read_topic(data: bytes) -> TopicValue | None:
    """The value of a topic record, or None where the reader ignores it."""
    fields = _first_object(data)
    inner = fields.get("topic") if fields is not None else None
    if not isinstance(inner, dict):
        return None
    name, connector = inner.get("name"), inner.get("connector")
    task, discovered = inner.get("task"), inner.get("discoverTimestamp")
    if not (isinstance(name, str) and isinstance(connector, str)):
        return None
    if not (is_integer(task) and is_integer(discovered)):
        return None
    return TopicValue(name, connector, low_bits(task, 32), low_bits(discovered, 64))


def _first_object(data: bytes) -> dict[str, Any] | None:
    """The JSON object that the bytes begin with, with anything behind it; None when they begin with anything else."""
    try:
        value = read_json(data)
    except ConversionError:
        return None
    return value if isinstance(value, dict) else None
