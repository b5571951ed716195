"""The required state of every status store, derived from the events alone: its cache, its entries, its writes.

This is the slow and obvious second implementation that the claims compare a store with. A `Store` exists from its start
to its stop; *entry* is Kafka's word for a store's state of one connector or task: the last value read, how many
writes it admitted, and whether a tombstone ended it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusGivenUp,
    StatusIgnored,
    StatusRead,
    StatusSent,
    StatusStoreStopped,
    StatusSuppressed,
)
from rebalance_check.properties.kinds import Handler, Memory

DESTROYED: Final = "DESTROYED"
OK: Final = "ok"
"""How a send was answered that was appended."""

Item = tuple[str, ...]
"""The subject of a record key: ``("connector", c)`` or ``("task", c, number)``."""

Seen = StatusRead | StatusIgnored
"""A record as a store's reader reported it."""

Stated = Seen | StatusAttempted
"""A status, as it was written or read."""


TOPIC_PREFIX: Final = "status-topic-"
"""The keys of records that name a topic of a connector begin so."""


@lru_cache(maxsize=4096)
def item_of(key: str) -> Item | None:
    """The connector or task that a record key names; None for topics and for keys that name nothing."""
    kind, _, rest = key.removeprefix("status-").partition("-")
    if not key.startswith("status-") or not rest:
        return None
    if kind == "connector":
        return "connector", rest
    if kind != "task":
        return None
    pieces = rest.split("-")
    while pieces and not pieces[-1]:
        pieces.pop()  # Java's split forgets empty pieces at the end
    if len(pieces) < 2 or not pieces[-1].removeprefix("+").isdecimal():
        return None
    return "task", "-".join(pieces[:-1]), str(int(pieces[-1]))


SendId = tuple[str, int, int]
"""Store, attempt, number of the send."""


def send_of(event: StatusSent | StatusAnswered | StatusAppended) -> SendId:
    """The send that an event is about."""
    return event.worker, event.attempt, event.send


def work_named(item: Item | None) -> str:
    """The connector or task of a status key, as events of workers name it; "" for none."""
    return "-".join(item[1:]) if item is not None else ""


@dataclass(slots=True, eq=False)
class Entry:
    """A connector or task, once, in one store; ``value`` is the record read last, ``latest`` the last write."""

    value: Seen | None = None
    sequence: int = 0
    latest: StatusAttempted | None = None
    removed_by: StatusRead | None = None


@dataclass(slots=True, eq=False)
class Write:
    """One call of put or putSafe.

    ``checked`` is the cached value at the last check: at the call, then at each retriable answer. ``against`` says why
    the write may not be sent again, and ``evidence`` is the event that says so; ``before`` is the write before it.
    """

    attempted: StatusAttempted
    entry: Entry | None
    sequence: int
    checked: Seen | None
    before: StatusAttempted | None = None
    against: str = ""
    evidence: Event | None = None
    is_sent: bool = False
    answered: StatusAnswered | None = None

    @property
    def is_acknowledged(self) -> bool:
        """Whether its last answer says that it was appended."""
        return self.answered is not None and self.answered.outcome == OK


@dataclass(slots=True, eq=False)
class Store:
    """One store, as it must be after the events so far.

    ``positions`` has by partition the offset read last, ``skips_some`` says that not every offset was read.
    """

    entries: dict[Item, Entry] = field(default_factory=dict)
    writes: dict[int, Write] = field(default_factory=dict)
    generation: StatusAttempted | None = None
    stopped: bool = False
    positions: dict[int, int] = field(default_factory=dict)
    skips_some: bool = False

    def value(self, item: Item) -> Seen | None:
        """The record whose value is cached for an item."""
        entry = self.entries.get(item)
        return None if entry is None else entry.value

    def entry(self, item: Item) -> Entry:
        """The entry of an item, made when there is none."""
        entry = self.entries.get(item)
        if entry is None:
            entry = self.entries[item] = Entry()
        return entry


def is_removal(event: Seen) -> bool:
    """Whether the record is a tombstone."""
    return isinstance(event, StatusRead) and event.status == DESTROYED and not event.literal


def is_newer(cached: Seen | None, attempted: StatusAttempted) -> bool:
    """Whether the cached value is another worker's and of a higher generation: then a safe write must not be sent."""
    return (
        cached is not None
        and cached.status_worker not in {"", attempted.status_worker}
        and cached.generation > attempted.generation
    )


def is_stale(cached: Stated | None, incoming: Stated, item: Item) -> bool:
    """KAFKA-12525: an UNASSIGNED of a task does not replace a RUNNING of its own or a later generation."""
    return (
        item[0] == "task"
        and incoming.status == "UNASSIGNED"
        and cached is not None
        and cached.status == "RUNNING"
        and cached.generation >= incoming.generation
    )


def described(value: Stated | None) -> str:
    """``RUNNING of w0:8083 in generation 3``, or ``nothing``."""
    if value is None:
        return "nothing"
    return f"{value.status} of {value.status_worker or 'no worker'} in generation {value.generation}"


class Stores(Memory):
    """The required state of all stores. Of the event at hand it tells the state just before.

    ``write`` is the write that is sent, answered, suppressed or given up, None when its call is not in the history;
    ``item`` is the subject of a record that is read, None for one without, and ``cached`` the store's value for it.
    ``removed`` are the connectors of which some store has read a tombstone.
    """

    def __init__(self) -> None:
        self.stores: dict[str, Store] = {}
        self.removed: set[str] = set()
        self.write: Write | None = None
        self.item: Item | None = None
        self.cached: Seen | None = None
        handlers: dict[type[Event], Handler] = {
            StatusAttempted: self._attempted,
            StatusSuppressed: self._suppressed,
            StatusSent: self._sent,
            StatusAnswered: self._answered,
            StatusGivenUp: self._given_up,
            StatusRead: self._read,
            StatusIgnored: self._read,
            StatusStoreStopped: self._stopped,
        }
        super().__init__(handlers)

    def of(self, worker: str) -> Store:
        """The store of that name."""
        store = self.stores.get(worker)
        if store is None:
            store = self.stores[worker] = Store()
        return store

    def _write_of(self, event: StatusSuppressed | StatusSent | StatusAnswered | StatusGivenUp) -> Write | None:
        """The write that an event is about; without its call in the history nothing is concluded about the stores."""
        write = self.write = self.of(event.worker).writes.get(event.attempt)
        if write is None:
            self.missing = self.missing or (
                f"attempt {event.attempt} of {event.worker} is not in the history: record from the store's start"
            )
        return write

    def _attempted(self, event: StatusAttempted) -> None:
        store = self.of(event.worker)
        item = item_of(event.key)
        if item is None:
            store.writes[event.attempt] = Write(event, None, 0, None)
            return
        entry = store.entry(item)
        entry.sequence += 1
        store.generation = event
        store.writes[event.attempt] = Write(event, entry, entry.sequence, entry.value, entry.latest)
        entry.latest = event

    def _suppressed(self, event: StatusSuppressed) -> None:
        write = self._write_of(event)
        if write is not None:
            self._not_admitted(write)

    def _not_admitted(self, write: Write) -> None:
        """A write that its check stopped consumes no sequence number."""
        if write.entry is not None:
            write.entry.sequence -= 1
            write.entry.latest = write.before

    def _sent(self, event: StatusSent) -> None:
        write = self._write_of(event)
        if write is not None:
            write.is_sent = True

    def _answered(self, event: StatusAnswered) -> None:
        store = self.of(event.worker)
        write = self._write_of(event)
        if write is None:
            return
        write.answered = event
        if event.outcome == "retriable":
            entry = write.entry
            write.checked = entry.value if entry is not None else None
            write.against, write.evidence = self._against(store, write)

    def _against(self, store: Store, write: Write) -> tuple[str, Event | None]:
        """Why a failed write may not be sent again (the completion callback's rules), and the event to show for it."""
        entry, attempted = write.entry, write.attempted
        if entry is None:
            return "", None
        if entry.removed_by is not None:
            return "deleted", entry.removed_by
        if store.generation is not None and store.generation.generation != attempted.generation:
            return "other generation", store.generation
        if attempted.safe and is_newer(entry.value, attempted):
            return "superseded", entry.value
        if attempted.safe and entry.sequence != write.sequence:
            return "superseded", entry.latest
        return "", None

    def _given_up(self, event: StatusGivenUp) -> None:
        write = self._write_of(event)
        if write is None:
            return
        if event.reason == "exception" and not write.is_sent and write.attempted.status_worker:
            self._not_admitted(write)  # the check itself threw

    def _read(self, event: Seen) -> None:
        store = self.of(event.worker)
        store.skips_some = store.skips_some or event.offset != store.positions.get(event.partition, -1) + 1
        store.positions[event.partition] = event.offset
        item = self.item = item_of(event.key)
        if item is None or not (event.status or isinstance(event, StatusRead)):
            self.item = None
            return
        cached = self.cached = store.value(item)
        if isinstance(event, StatusRead) and is_removal(event):
            self.removed.update(item[1:] if item[0] == "connector" else ())
            remove(store, item, event)
        elif not is_stale(cached, event, item):
            store.entry(item).value = event

    def _stopped(self, event: StatusStoreStopped) -> None:
        self.of(event.worker).stopped = True


def remove(store: Store, item: Item, tombstone: StatusRead) -> None:
    """A tombstone ends an entry, and with a connector's all entries of its tasks."""
    ended = [item]
    if item[0] == "connector":
        ended += [other for other in store.entries if other[0] == "task" and other[1] == item[1]]
    for one in ended:
        entry = store.entries.pop(one, None)
        if entry is not None:
            entry.removed_by = tombstone
