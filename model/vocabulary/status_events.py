"""Events of the status store (part of `model.vocabulary.events`)."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.event_base import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusEvent(Event):
    """Observed at the status store of one worker. ``key`` is the record key (``status-task-c-0``).

    ``worker`` names one store from its start to its stop; after a restart the worker has another name (``w0/2``) and
    may have the same worker id. ``status_worker`` is the worker id inside the status ("" for none).
    """

    worker: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAttempted(StatusEvent):
    """The worker called ``put``, or ``putSafe`` (``safe``), which checked the cache just then.

    ``attempt`` numbers the calls of one worker. The status DESTROYED writes a tombstone, TOPIC the status of a topic.
    """

    attempt: int
    status: str
    generation: int
    safe: bool
    status_worker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSuppressed(StatusEvent):
    """The store did not send the safe write, because it cached another worker's status of a higher generation."""

    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSent(StatusEvent):
    """The store handed the record to its producer, for the ``send``-th time (from 1). ``value`` None is a tombstone."""

    attempt: int
    send: int
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAppended(StatusEvent):
    """The broker appended that send to the log."""

    attempt: int
    send: int
    partition: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAnswered(StatusEvent):
    """The producer reported on that send: ``outcome`` is ok, retriable (may have been appended) or fatal."""

    attempt: int
    send: int
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusGivenUp(StatusEvent):
    """The store sends this attempt no more.

    ``reason``: fatal, deleted, other generation, superseded, stopped, exception (the call raised one), or exhausted
    (the store's limits of retries, which Kafka's has not).
    """

    attempt: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRead(StatusEvent):
    """The worker's reader took the record at ``offset`` into its cache. ``status`` is DESTROYED for a tombstone.

    ``literal`` marks a value that says DESTROYED instead of a tombstone; readers cache it and remove nothing.
    ``usage`` is what the status of a topic says: ``name``, ``connector``, ``task`` and ``discoverTimestamp``, as texts.
    """

    partition: int
    offset: int
    status: str
    status_worker: str = ""
    generation: int = -1
    literal: bool = False
    usage: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusIgnored(StatusEvent):
    """The worker's reader did not take the record at ``offset`` into its cache.

    ``reason``: malformed, stale unassigned, unknown key, or null key.
    """

    partition: int
    offset: int
    reason: str
    status: str = ""
    status_worker: str = ""
    generation: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusQueried(StatusEvent):
    """A caller asked the store for the status of a connector, task or topic; ``status`` is "" when none is cached.

    Of a topic it is TOPIC when one is cached.
    """

    status: str
    status_worker: str = ""
    generation: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusesListed(Event):
    """A caller asked the store for all connectors that it knows, or for all tasks or topics of ``connector``.

    ``kind``: connectors, tasks or topics. ``names`` are the answer: ``c``, ``c-0`` or the name of a topic.
    """

    worker: str
    kind: str
    connector: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusStoreStarting(Event):
    """The worker's store began to read the topic, whose partitions end at the offsets ``ends`` now."""

    worker: str
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusStoreStarted(Event):
    """The worker's store has read all that the topic held when it started."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFlushStarted(Event):
    """A caller called ``flush`` of the worker's store."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFlushed(Event):
    """``flush`` returned."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusStoreStopped(Event):
    """The worker's store stopped; it sends and reads no more."""

    worker: str
