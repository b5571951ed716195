"""The state of the status store's log: a record log per key, and per worker a producer, a retry queue and a cache.

Keys are numbered from 0. Where there is one key it is a task; where there are more, the last is their connector, whose
tombstone also ends the tasks in a cache. Each key is a partition of its own: order exists per key only. A worker is
known by its slot, which stands for its worker id (host:port): after a restart the worker has the same slot.
"""

from enum import IntEnum
from typing import Annotated, NamedTuple

from rebalance_check.model.checker.layout import SYMMETRIC, Dimension, Index, Layout, Number, PerMember, layout
from rebalance_check.model.vocabulary.bounds import Bounds


class Status(IntEnum):
    """The content of a record; DESTROYED is a tombstone. FAILED stands for every status that enjoys no protection."""

    NOTHING = 0
    UNASSIGNED = 1
    RUNNING = 2
    FAILED = 3
    DESTROYED = 4


STATUS_NAMES = {
    Status.UNASSIGNED: "UNASSIGNED",
    Status.RUNNING: "RUNNING",
    Status.FAILED: "FAILED",
    Status.DESTROYED: "DESTROYED",
}
"""As Connect spells them."""


class Config(NamedTuple):
    """The bounds as the model reads them."""

    members: int
    keys: int
    generations: int
    writes: int
    failures: int
    crashes: int
    slots: int


@layout
class Send(Layout):
    """A write in flight: in the producer's queue, or waiting for a retry. A free slot is all 0, its status NOTHING."""

    status: Number
    key: Number
    generation: Number
    safe: Number  # 1 for ``putSafe``
    newest: Number  # 1 until a younger write of the entry is admitted (Kafka compares sequence numbers)
    live: Number  # 1 until a tombstone ends the entry
    known: Number  # for invariants: 1 + the offset of a newer status that should have stopped this send, else 0
    again: Number  # 0 at first, 1 for a retry, 2 for a retry of a record appended already
    appended: Number  # 1 at the head of the queue, once its acknowledgement was lost


@layout
class Record(Layout):
    """A record of a key's log: its writer, its status and generation, and how it came there (see `Send`)."""

    writer: Index
    status: Number
    generation: Number
    safe: Number
    newest: Number
    known: Number
    again: Number


@layout
class Log(Layout):
    """The records of one key, oldest first; slots from ``length`` on are all 0, and their writer is NIL."""

    length: Number
    records: Annotated[list[Record], Dimension("offsets")]


@layout
class Entry(Layout):
    """A worker's knowledge of a key."""

    position: Number  # the next offset to read
    cached: Number  # 1 + the offset of the record in the cache, 0 for none


@layout
class Worker(Layout):
    """A worker: its generation, its cache, and the sends of its store, oldest first."""

    generation: Number  # the last one that the worker learned
    store_generation: Number  # that of its last write, sent or suppressed
    entries: Annotated[list[Entry], Dimension("keys")]
    queue: Annotated[list[Send], Dimension("slots")]  # of the producer; the head is in flight
    retries: Annotated[list[Send], Dimension("slots")]  # of the retry thread


@layout
class State(Layout):
    """Everything: the log of each key, the workers, and the spent budgets."""

    logs: Annotated[list[Log], Dimension("keys")]
    workers: PerMember[Worker]
    writes: Number
    suppressed: Number
    failures: Number
    crashes: Number


def sizes(bounds: Bounds) -> dict[str, int]:
    """The dimensions of the state: a log can hold every write, and once more for each lost acknowledgement."""
    return {
        SYMMETRIC: bounds.members,
        "keys": bounds.partitions,
        "slots": max(bounds.writes, 1),
        "offsets": max(bounds.writes + bounds.failures, 1),
    }


# ----------------------------------------------------------------------------------------------- what each worker knows


def is_task(c: Config, key: int) -> bool:
    """Whether a key is a task's: with several keys, all but the last."""
    return c.keys == 1 or key < c.keys - 1


def newer_known(s: State, m: int, send: Send) -> int:
    """For invariants: 1 + the offset that m has cached for a send's key, if that should stop a safe write; else 0."""
    cached = s.workers[m].entries[send.key].cached
    return cached if is_newer(s, m, send.key, cached, send.generation) else 0


def is_newer(s: State, m: int, key: int, cached: int, generation: int) -> bool:
    """Whether the record behind ``cached`` is another worker's and of a higher generation."""
    if cached == 0:
        return False
    record = s.logs[key].records[cached - 1]
    return record.writer != m and record.generation > generation


def is_stale(c: Config, s: State, key: int, cached: int, offset: int) -> bool:
    """KAFKA-12525: the record at ``offset`` is an UNASSIGNED that must not replace the RUNNING behind ``cached``."""
    if cached == 0 or not is_task(c, key):
        return False
    before = s.logs[key].records[cached - 1]
    incoming = s.logs[key].records[offset]
    return (
        incoming.status == Status.UNASSIGNED
        and before.status == Status.RUNNING
        and before.generation >= incoming.generation
    )
