"""A status store of a lockstep run as a history: its calls, sends, answers and reads, as its surroundings see them.

The log under a store and the thread of its retries are the harness's: it sees each call, each record that the store
hands to its producer, and each retry that waits. A query finds a status taken from a record. Why a store does
not send a failed write again is seen only where the send was refused for good, or the store was stopped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from zlib import crc32

from rebalance_check.impl.connect.status.cache import MALFORMED, STALE_UNASSIGNED, UNKNOWN_KEY
from rebalance_check.impl.connect.status.codec import (
    ConnectorKey,
    StatusKey,
    StatusValue,
    TaskKey,
    TopicKey,
    TopicValue,
    is_status_key,
    read_key,
    read_status,
    read_topic,
)
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.integration.comparison.stores.sequence import Observation, OneStore, Step
from rebalance_check.model.vocabulary.events import (
    Event,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusesListed,
    StatusFlushed,
    StatusFlushStarted,
    StatusGivenUp,
    StatusIgnored,
    StatusQueried,
    StatusRead,
    StatusSent,
    StatusStoreStarted,
    StatusStoreStarting,
    StatusStoreStopped,
    StatusSuppressed,
)

TOPIC: Final = "TOPIC"
DESTROYED: Final = "DESTROYED"
_SEND: Final = "send "
_IS: Final = " = "
_TOMBSTONE: Final = "<null>"
_NOTHING: Final = "null"
_LISTS: Final = {"connectors": "connectors", "tasks": "getAll", "topics": "getAllTopics"}
_USAGE: Final = ("name", "connector", "task", "discoverTimestamp")
_REFUSED_BY_THE_STOPPED: Final = "SWALLOWED RejectedExecutionException"

Emit = Callable[[Event], None]
Record = tuple[str, str | None]
"""Key and value; None is a tombstone."""


@dataclass(slots=True)
class StatusTopic:
    """The records of the topic, by partition."""

    partitions: tuple[list[Record], ...]

    def append(self, key: str, value: str | None) -> tuple[int, int]:
        """Append the record; its partition and offset."""
        number = crc32(key.encode()) % len(self.partitions)
        self.partitions[number].append((key, value))
        return number, len(self.partitions[number]) - 1


@dataclass(frozen=True, slots=True)
class Send:
    """A record that the store handed to its producer, as the ``number``-th."""

    number: int
    attempt: int
    send: int
    key: str
    value: str | None


@dataclass(slots=True, eq=False)
class RecordedStore:
    """One store over the topic; ``name`` is the store's, ``worker_id`` that of its worker.

    ``in_flight`` are the sends without an answer, the oldest first: the producer has one request on its way at a time.
    """

    store: OneStore
    name: str
    worker_id: str
    topic: StatusTopic
    emit: Emit
    in_flight: deque[Send] = field(default_factory=deque)
    retries: deque[Send] = field(default_factory=deque)
    stopped: bool = False
    _positions: list[int] = field(default_factory=list)
    _attempts: int = 0
    _sends: int = 0

    # -------------------------------------------------------------------------------------------- start and end

    def start(self) -> None:
        """Start on the topic's present records."""
        ends = [len(partition) for partition in self.topic.partitions]
        self._positions = [0] * len(ends)
        self.emit(StatusStoreStarting(worker=self.name, ends=tuple(ends)))
        records = [_asking(*record) for partition in self.topic.partitions for record in partition]
        started, *answers = self.store.perform({"op": "start", "records": records}).trace
        assert started == "log.start", started
        rest = iter(answers)
        for number, end in enumerate(ends):
            for offset in range(end):
                self._was_read(number, offset, rest)
        self.emit(StatusStoreStarted(worker=self.name))

    def stop(self) -> None:
        """Stop; retries that wait are tried by the store, and the producer refuses them."""
        observation = self.store.perform({"op": "stop"})
        self.stopped = True
        self.emit(StatusStoreStopped(worker=self.name))
        while self.retries and not _sent_in(observation):
            self._give_up(self.retries.popleft(), "stopped")

    def flush(self) -> None:
        """Flush; the producer's flush returns when all that is in flight has been appended and answered."""
        self.emit(StatusFlushStarted(worker=self.name))
        outcomes = [{"n": sent.number, "outcome": SendOutcome.OK.value} for sent in self.in_flight]
        observation = self.store.perform({"op": "flush", "outcomes": outcomes})
        for _ in range(observation.trace.count("answer")):
            sent = self.in_flight.popleft()
            self._append(sent)
            self._answered(sent, SendOutcome.OK)
        self.emit(StatusFlushed(worker=self.name))

    # -------------------------------------------------------------------------------------------- writes

    def put(self, key: ConnectorKey | TaskKey, status: str, generation: int, *, safe: bool) -> None:
        """Write a status, of a FAILED one with a trace."""
        trace = "boom" if status == "FAILED" else None
        step = {"op": "put", **_named(key), "state": status, "worker": self.worker_id, "generation": generation,
                "trace": trace, "safe": safe}  # fmt: skip
        self._write(step, str(key), status, generation, safe=safe)

    def put_topic(self, key: TopicKey, discovered_ms: int) -> None:
        """Write that a task of the connector uses the topic."""
        step = {"op": "putTopic", "topic": key.topic, "c": key.connector, "task": 0, "ts": discovered_ms}
        self._write(step, str(key), TOPIC, -1, safe=False)

    def delete_topic(self, key: TopicKey) -> None:
        """Write that the connector does not use the topic any more."""
        self._write({"op": "deleteTopic", "topic": key.topic, "c": key.connector}, str(key), DESTROYED, -1, safe=False)

    def _write(self, step: Step, key: str, status: str, generation: int, *, safe: bool) -> None:
        attempt = self._attempts
        self._attempts += 1
        worker = "" if generation < 0 else self.worker_id
        self.emit(StatusAttempted(worker=self.name, key=key, attempt=attempt, status=status, status_worker=worker,
                                  generation=generation, safe=safe))  # fmt: skip
        observation = self.store.perform(step)
        records = _sent_in(observation)
        for record in records:
            self._sent(attempt, 1, *record)
        if any(line.startswith("THROWS") for line in observation.trace):
            reason = "stopped" if self.stopped else "exception"
            self.emit(StatusGivenUp(worker=self.name, key=key, attempt=attempt, reason=reason))
        elif not records:
            self.emit(StatusSuppressed(worker=self.name, key=key, attempt=attempt))

    def retry(self) -> None:
        """Let the thread of the retries do the write that waits longest."""
        before = self.retries.popleft()
        for record in _sent_in(self.store.perform({"op": "retry"})):
            self._sent(before.attempt, before.send + 1, *record)

    def _sent(self, attempt: int, send: int, key: str, value: str | None) -> None:
        self.in_flight.append(Send(self._sends, attempt, send, key, value))
        self._sends += 1
        self.emit(StatusSent(worker=self.name, key=key, attempt=attempt, send=send, value=value))

    def answer(self, outcome: SendOutcome, *, appended: bool) -> None:
        """Answer the oldest send in flight, which was ``appended`` before or not."""
        sent = self.in_flight.popleft()
        if appended:
            self._append(sent)
        observation = self.store.perform({"op": "complete", "n": sent.number, "outcome": outcome.value})
        self._answered(sent, outcome)
        if observation.state["retries"] > len(self.retries):
            self.retries.append(sent)
        elif outcome is SendOutcome.FATAL:
            self._give_up(sent, "fatal")
        elif _REFUSED_BY_THE_STOPPED in observation.trace:
            self._give_up(sent, "stopped")

    def _append(self, sent: Send) -> None:
        partition, offset = self.topic.append(sent.key, sent.value)
        self.emit(StatusAppended(worker=self.name, key=sent.key, attempt=sent.attempt, send=sent.send,
                                 partition=partition, offset=offset))  # fmt: skip

    def _answered(self, sent: Send, outcome: SendOutcome) -> None:
        self.emit(StatusAnswered(worker=self.name, key=sent.key, attempt=sent.attempt, send=sent.send,
                                 outcome=outcome.value))  # fmt: skip

    def _give_up(self, sent: Send, reason: str) -> None:
        self.emit(StatusGivenUp(worker=self.name, key=sent.key, attempt=sent.attempt, reason=reason))

    # -------------------------------------------------------------------------------------------- reads

    def unread(self) -> list[int]:
        """The partitions that hold records which the store has not read."""
        return [n for n, position in enumerate(self._positions) if position < len(self.topic.partitions[n])]

    def read(self, partition: int) -> None:
        """Read the next record of the partition, and ask for the status that it is about."""
        offset = self._positions[partition]
        observation = self.store.perform({"op": "read", **_asking(*self.topic.partitions[partition][offset])})
        self._was_read(partition, offset, iter(observation.trace))

    def ask(self, key: StatusKey) -> None:
        """Ask for one status."""
        [answer] = self.store.perform(_question(key)).trace
        self._queried(key, answer)

    def list_all(self, kind: str, connector: str = "") -> None:
        """Ask for all ``connectors``, or for all ``tasks`` or ``topics`` of one."""
        [text] = self.store.perform({"op": _LISTS[kind], "c": connector}).trace
        listed = [one for one in text[1:-1].split(", ") if one]
        names = [one.partition("/" if kind == "topics" else ":")[0] for one in listed]
        self.emit(StatusesListed(worker=self.name, kind=kind, connector=connector, names=tuple(sorted(names))))

    def _was_read(self, partition: int, offset: int, answers: Iterator[str]) -> None:
        """The read of a record, and the answer to the question after it, if its key names something."""
        self._positions[partition] = offset + 1
        key, value = self.topic.partitions[partition][offset]
        named = read_key(key)
        answer = "" if named is None else next(answers)
        self.emit(_read_event(self.name, (partition, offset), (key, value), answer))
        if named is not None:
            self._queried(named, answer)

    def _queried(self, key: StatusKey, answer: str) -> None:
        if answer == _NOTHING or isinstance(key, TopicKey):
            status = "" if answer == _NOTHING else TOPIC
            self.emit(StatusQueried(worker=self.name, key=str(key), status=status))
            return
        status, worker, generation, *_rest = answer.split("/")
        self.emit(StatusQueried(worker=self.name, key=str(key), status=status,
                                status_worker="" if worker == _NOTHING else worker,
                                generation=int(generation)))  # fmt: skip


def _sent_in(observation: Observation) -> list[Record]:
    """The records that the store handed to its producer in this step."""
    lines = (line.removeprefix(_SEND).partition(_IS) for line in observation.trace if line.startswith(_SEND))
    return [(key, None if value == _TOMBSTONE else value) for key, _is, value in lines]


def _named(key: StatusKey) -> Step:
    match key:
        case TopicKey():
            return {"topic": key.topic, "c": key.connector}
        case TaskKey():
            return {"c": key.connector, "task": key.task}
        case _:
            return {"c": key.connector}


def _question(key: StatusKey) -> Step:
    return {"op": "getTopic" if isinstance(key, TopicKey) else "get", **_named(key)}


def _asking(key: str, value: str | None) -> Step:
    """The record, and the question for the status that it is about, which follows its read."""
    named = read_key(key)
    return {"key": key, "value": value} | ({} if named is None else {"ask": _question(named)})


def _read_event(worker: str, place: tuple[int, int], record: Record, answer: str) -> StatusRead | StatusIgnored:
    """How the store took the record; of a status, as its answer to the question after it shows."""
    (partition, offset), (key, value) = place, record
    at: dict[str, Any] = {"worker": worker, "key": key, "partition": partition, "offset": offset}
    named = read_key(key)
    if named is None:
        return StatusIgnored(reason=MALFORMED if is_status_key(key) else UNKNOWN_KEY, **at)
    if value is None:
        return StatusRead(status=DESTROYED, **at)
    if isinstance(named, TopicKey):
        topic = read_topic(value.encode())
        return StatusIgnored(reason=MALFORMED, **at) if topic is None else _usage_read(topic, at)
    status = read_status(value.encode())
    return StatusIgnored(reason=MALFORMED, **at) if status is None else _status_read(status, answer, at)


def _usage_read(topic: TopicValue, at: dict[str, Any]) -> StatusRead:
    texts = (topic.topic, topic.connector, str(topic.task), str(topic.discovered_ms))
    return StatusRead(status=TOPIC, usage=tuple(zip(_USAGE, texts, strict=True)), **at)


def _status_read(value: StatusValue, answer: str, at: dict[str, Any]) -> StatusRead | StatusIgnored:
    """Taken where the store answers with it; else for the one reason for which a store leaves out a status."""
    worker = value.worker_id or ""
    said: dict[str, Any] = {"status": value.status.value, "status_worker": worker, "generation": value.generation}
    if answer.startswith(f"{value.status.value}/{worker or _NOTHING}/{value.generation}/"):
        return StatusRead(literal=value.status.value == DESTROYED, **said, **at)
    return StatusIgnored(reason=STALE_UNASSIGNED, **said, **at)
