"""Events of Kafka Connect's config topic and of transactional producers (part of `model.vocabulary.events`).

``member`` is the worker whose config store reads. Configurations are texts that are equal exactly where they are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rebalance_check.model.vocabulary.event_base import Event, MemberEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigAppended(Event):
    """The broker appended a record to the config topic; ``value`` None is a tombstone.

    ``writer`` is the worker that sent it; ``transactional_id`` and ``epoch`` are those of a transactional
    producer.
    """

    writer: str
    offset: int
    key: str
    value: str | None
    transactional_id: str = ""
    epoch: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigTransactionEnded(Event):
    """A transaction of the config topic ended with a marker, which takes the ``offset`` and is no record.

    ``outcome``: committed or aborted. It holds what was appended with this ``epoch`` since the marker before.
    """

    transactional_id: str
    epoch: int
    offset: int
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigCompacted(Event):
    """Compaction removed the records at these offsets from the config topic."""

    removed: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRead(MemberEvent):
    """The store read the record at ``offset``; ``converted`` is False where its value is no JSON."""

    offset: int
    key: str
    value: str | None
    converted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigStoreStarted(MemberEvent):
    """The store's ``start`` returned: it has read what the topic held, up to ``offset``, and calls back from now on."""

    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigReadStarted(MemberEvent):
    """The store began to read to what is the end of the config topic now.

    ``isolation`` is ``isolation.level`` of its reader: read_committed, read_uncommitted, or "" where it is not known.
    """

    isolation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigReadEnded(MemberEvent):
    """A read to the end of the config topic ended; ``offset`` is the next to be read.

    ``outcome``: ok, failed or timeout.
    """

    offset: int
    outcome: str = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigCallStarted(MemberEvent):
    """A ``method`` of the config store was called (a name of ``KafkaConfigBackingStore``), the store's ``call``-th.

    ``connector`` is what it is about, or the namespace of loggers; ``given`` are its other arguments as texts, under
    Kafka's names: ``properties``, ``targetState``, ``configs`` (one after the other), ``taskCount``, ``algorithm``,
    ``creationTimestamp``, ``onlyFailed``, ``includeTasks``, ``level``, ``timeoutMs``.
    """

    call: int
    method: str
    connector: str = ""
    given: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigCallEnded(MemberEvent):
    """A call of the config store ended: ``error`` is the exception that it threw, "" where it returned."""

    call: int
    method: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSnapshotTaken(MemberEvent):
    """The herder took a snapshot of the store (``ClusterConfigState``).

    ``offset`` is the next to be read. By connector: ``connectors`` its configuration, ``target_states``,
    ``task_counts`` of the last commit, ``generations`` of task configs, ``count_records`` and ``applied``, the
    connector's configuration at that commit. By task: ``task_configs``; ``tasks`` are those that ``tasks()`` lists.
    """

    offset: int
    connectors: tuple[tuple[str, str], ...] = ()
    target_states: tuple[tuple[str, str], ...] = ()
    task_counts: tuple[tuple[str, int], ...] = ()
    tasks: tuple[str, ...] = ()
    task_configs: tuple[tuple[str, str], ...] = ()
    inconsistent: tuple[str, ...] = ()
    generations: tuple[tuple[str, int], ...] = ()
    count_records: tuple[tuple[str, int], ...] = ()
    pending_fencing: tuple[str, ...] = ()
    applied: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigCallbackCalled(MemberEvent):
    """The store called its listener: ``callback`` is the method, ``connector`` and ``tasks`` what it named."""

    callback: str
    connector: str = ""
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerInitialised(MemberEvent):
    """``initTransactions`` gave the producer this epoch; it fences all lower ones of its transactional id.

    ``work`` is the task that it writes for, "" for the leader's producer of the config topic.
    """

    transactional_id: str
    epoch: int
    work: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerFenced(Event):
    """``fenceProducers`` ended: of this transactional id all epochs up to ``epoch`` can write no more.

    ``used`` is the epoch that the fencing itself took, with which nothing is written (-1 where that is not seen).
    """

    transactional_id: str
    epoch: int
    used: int = -1


ConfigEvent: TypeAlias = (
    ConfigAppended | ConfigTransactionEnded | ConfigCompacted | ConfigRead | ConfigStoreStarted | ConfigReadStarted
    | ConfigReadEnded | ConfigCallStarted | ConfigCallEnded | ConfigSnapshotTaken | ConfigCallbackCalled
    | ProducerInitialised | ProducerFenced
)  # fmt: skip
"""The events of the config topic."""
