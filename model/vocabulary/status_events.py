"""Events of the status store (part of `model.vocabulary.events`)."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_check.model.vocabulary.event_base import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusEvent(Event):
    """Seen at the status store of one worker. ``key`` is the record key (``status-task-c-0``).

    ``worker`` names one store, from its start to its stop: a restarted worker is another (``w0/2``), even when it
    writes under the same worker id. ``status_worker``, where there is one, is the worker id that the status carries.
    """

    worker: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAttempted(StatusEvent):
    """``put`` or, when ``safe``, ``putSafe`` was called, and checked its cache at this moment.

    ``attempt`` numbers the calls of one worker; status DESTROYED writes a tombstone, TOPIC the status of a topic.
    ``status_worker`` is the worker id in the status, "" for none.
    """

    attempt: int
    status: str
    generation: int
    safe: bool
    status_worker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSuppressed(StatusEvent):
    """The safe write was not sent: the cache held another worker's status of a higher generation."""

    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSent(StatusEvent):
    """The producer got the record for the ``send``-th time (from 1). ``value`` is the text, None a tombstone."""

    attempt: int
    send: int
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAppended(StatusEvent):
    """That send became a record of the log."""

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
    """No further send of this attempt will follow; ``reason``: fatal, deleted, other generation, superseded, stopped,
    exception (the call was refused with one)."""

    attempt: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRead(StatusEvent):
    """The worker's reader took the record at ``offset`` into its cache. ``status`` is DESTROYED for a tombstone.

    ``literal`` marks the odd value that spells DESTROYED out: readers cache it like any other, and nothing is removed.
    """

    partition: int
    offset: int
    status: str
    status_worker: str = ""
    generation: int = -1
    literal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusIgnored(StatusEvent):
    """The reader left the record at ``offset`` out of its cache; ``reason``: malformed, stale unassigned, unknown key,
    null key."""

    partition: int
    offset: int
    reason: str
    status: str = ""
    status_worker: str = ""
    generation: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusQueried(StatusEvent):
    """The cache was asked for the status of a connector or task; ``status`` is "" when it holds none."""

    status: str
    status_worker: str = ""
    generation: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFlushStarted(Event):
    """``flush`` was called on the worker's store."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFlushed(Event):
    """``flush`` returned."""

    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusStoreStopped(Event):
    """The worker's store was stopped; it sends and reads no more."""

    worker: str
