"""Records of Connect's status and config topics to facts.

Sources: ``KafkaStatusBackingStore``, ``KafkaConfigBackingStore``. The values of the config topic hold passwords, and
its session key is a secret: nothing of them is kept but the counts of commits and target states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from rebalance_check.impl.connect.config.keys import RecordKind, read_config_key
from rebalance_check.impl.connect.status.codec import (
    CONNECTOR_PREFIX,
    TASK_PREFIX,
    TOPIC_PREFIX,
    ConnectorKey,
    TaskKey,
    TopicKey,
    ValueFormat,
    is_status_key,
    read_key,
    read_status,
)
from rebalance_check.impl.protocol.json_converter import ConversionError, is_integer, read_json
from rebalance_check.pipeline.diagnose.facts import ConfigRecorded, Fact, NotUnderstood, Place, StatusRecorded

Read: TypeAlias = tuple[Fact | NotUnderstood, ...]

KEY_PREFIXES: Final = (CONNECTOR_PREFIX, TASK_PREFIX, TOPIC_PREFIX, *RecordKind)
"""The beginnings of the keys of both topics."""
LONGEST_TRACE: Final = 2_000
LONGEST_TEXT: Final = 300
_TARGETS: Final = frozenset({"STARTED", "PAUSED", "STOPPED"})


def is_connect_key(key: str) -> bool:
    """Whether a record with this key is one of the status topic or the config topic."""
    return is_status_key(key) or read_config_key(key) is not None


def connect_facts(key: str, value: bytes | None, place: Place, time_ms: int | None) -> Read | None:
    """The facts of a record with this key; None where it is of neither topic. ``value`` None is a tombstone."""
    if is_status_key(key):
        return _status(key, value, place, time_ms)
    config = read_config_key(key)
    if config is None:
        return None
    shown = Place(place.source, place.number, key)
    if value is None:
        return (ConfigRecorded(place=shown, time_ms=time_ms, key=key, deleted=True),)
    return (ConfigRecorded(place=shown, time_ms=time_ms, key=key, value=_shown(config.kind, value)),)


def _shown(kind: RecordKind, value: bytes) -> str:
    """The part of a config record that may be shown."""
    if kind not in {RecordKind.COMMIT, RecordKind.TARGET_STATE}:
        return ""
    try:
        fields = read_json(value)
    except ConversionError:
        return ""
    if not isinstance(fields, Mapping):
        return ""
    if kind is RecordKind.COMMIT:
        tasks = fields.get("tasks")
        return str(tasks) if is_integer(tasks) else ""
    state = fields.get("state.v2") or fields.get("state")
    return state if isinstance(state, str) and state in _TARGETS else ""


def _status(key: str, value: bytes | None, place: Place, time_ms: int | None) -> Read:
    subject = read_key(key)
    if isinstance(subject, TopicKey):
        return ()
    if subject is None:
        return (NotUnderstood(place, f"{key[:LONGEST_TEXT]!r} is no key of the status topic"),)
    work = work_name(subject)
    if value is None:
        return (StatusRecorded(place=_texted(place, key), time_ms=time_ms, work=work, state=None, worker=""),)
    found = read_status(value, ValueFormat.KAFKA_3_9)
    if found is None:
        return (NotUnderstood(_texted(place, key), f"the status of {work} has no state and generation"),)
    worker = found.worker_id or ""
    return (
        StatusRecorded(
            place=_texted(place, f"{key} {found.status} {worker} generation {found.generation}"), time_ms=time_ms,
            work=work, state=str(found.status), worker=worker, generation=found.generation,
            trace=(found.trace or "")[:LONGEST_TRACE],
        ),
    )  # fmt: skip


def work_name(subject: ConnectorKey | TaskKey) -> str:
    """A connector by its name, a task as ``connector-number``."""
    return subject.connector if isinstance(subject, ConnectorKey) else f"{subject.connector}-{subject.task}"


def _texted(place: Place, text: str) -> Place:
    """The place with a text for a record that has none."""
    return place if place.text else Place(place.source, place.number, text[:LONGEST_TEXT])
