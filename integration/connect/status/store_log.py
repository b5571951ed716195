"""The steps of a Java worker's status store, as events: by the worker's log, and by the records of the topic.

Kafka's loggers name, at TRACE, each record that the store reads, and each that it hands to its producer, by key; and
the offset at which a batch of the producer begins. The topic shows the fields of a record, and a tombstone, which
lacks a generation, is given that of the worker then. Whether a status was written by ``put`` or by ``putSafe``
follows from the status (``AbstractHerder``). Left out are sends that were never appended, and those of the statuses
of topics: no event of a Java worker tells when a task uses one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from rebalance_check.impl.connect.status.cache import STALE_UNASSIGNED
from rebalance_check.impl.connect.status.codec import TOPIC_PREFIX, Status, TopicKey
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusIgnored,
    StatusRead,
    StatusSent,
    StatusStoreStarted,
    StatusStoreStopped,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION

Stamped: TypeAlias = tuple[int, Event]
Line: TypeAlias = tuple[int, str]
"""A line of the log, behind its time."""

SAFE: Final = frozenset({Status.UNASSIGNED.value, Status.FAILED.value})
"""The statuses that a worker writes with ``putSafe``."""

TOPIC: Final = "TOPIC"
TOMBSTONE: Final = Status.DESTROYED.value
_USAGE: Final = ("name", "connector", "task", "discoverTimestamp")
_OF_STORE: Final = "KafkaStatusBackingStore "
_STORE: Final = rf"{_OF_STORE}.*?"
_STATUS: Final = re.compile(
    rf"{_STORE}Received (connector|task) (\S+) status update "
    r"Status\{id=.*?, state=(\w+), workerId='([^']*)'.*?, generation=(-?\d+)"
)
_REMOVED: Final = re.compile(rf"{_STORE}Removing (?:status for (connector)|(task) status for) (\S+)$")
_USED: Final = re.compile(
    rf"{_STORE}Received topic status update "
    r"TopicStatus\{topic='([^']*)', connector='([^']*)', task=(\d+), discoverTimestamp=(\d+)"
)
_UNUSED: Final = re.compile(rf"{_STORE}Removing status for topic (\S+) and connector (\S+)$")
_JOINED: Final = re.compile(r"Joined group at generation (\d+) with protocol version")
_STALE: Final = re.compile(rf"{_STORE}Ignoring stale status")


class TopicRecord(NamedTuple):
    """A record of the status topic's only partition."""

    key: str
    value: str | None


@dataclass(slots=True)
class StatusTopic:
    """The records of the topic ``name``, by offset."""

    name: str
    records: dict[int, TopicRecord] = field(default_factory=dict)


def status_events(store: str, topic: StatusTopic, lines: Iterable[Line]) -> Iterator[Stamped]:
    """The deeds of the store of this name, from the ``lines`` of its worker's log.

    Raises:
        RebalanceCheckError: it read a record that was not seen in the topic.
    """
    log = list(lines)
    reading = _StoreLog(store, topic, _Sends([text for _, text in log], topic))
    for number, (stamp, text) in enumerate(log):
        is_stale = next(
            (_STALE.search(later) is not None for _, later in log[number + 1 :] if _OF_STORE in later), False
        )
        for event in reading.on_line(number, text, is_stale=is_stale):
            yield stamp, event


class _Sends:
    """The records that were appended: their offsets, by the line that hands each over; and those that a line reports.

    A producer's batches are appended in the order of its sends, but for those of two threads at one time.
    """

    def __init__(self, log: Sequence[str], topic: StatusTopic) -> None:
        name = re.escape(topic.name)
        produced = re.compile(rf"ProducerBatch .*?Successfully produced messages to {name}-0 with base offset (\d+)")
        handed = re.compile(rf"KafkaProducer .*?Attempting to append record .*?topic={name}, .*?, key=(.*?), value=")
        again = re.compile(rf"KafkaProducer .*?Retrying append due to new batch creation for topic {name} ")
        self.offsets: dict[int, int] = {}
        self.reported: dict[int, list[int]] = {}
        self._records = topic.records
        self._bases = {int(match[1]) for text in log if (match := produced.search(text))}
        self._waiting: dict[int, str] = {}
        self._passed_over: set[int] = set()
        for number, text in enumerate(log):
            if match := handed.search(text):
                self._waiting[number] = match[1]
            elif again.search(text):
                self._waiting.popitem()
            elif match := produced.search(text):
                self._match(number, int(match[1]))

    def _match(self, number: int, base: int) -> None:
        """The batch that begins at ``base``. A line that two batches pass over was not appended."""
        offset, matched = base, list[int]()
        while offset in self._records and (offset == base or offset not in self._bases):
            line = next((line for line, key in self._waiting.items() if key == self._records[offset].key), None)
            if line is None:
                break
            del self._waiting[line]
            self.offsets[line] = offset
            matched.append(line)
            offset += 1
        self.reported[number] = sorted(matched)
        older = {line for line in self._waiting if line < min(matched, default=0)}
        for line in older & self._passed_over:
            del self._waiting[line]
        self._passed_over |= older


@dataclass(slots=True)
class _StoreLog:
    """The events of one store so far. ``position`` is the offset behind the record that it read last."""

    store: str
    topic: StatusTopic
    sends: _Sends
    position: int = 0
    generation: int = NO_GENERATION
    attempts: dict[int, int] = field(default_factory=dict)

    def on_line(self, number: int, text: str, *, is_stale: bool) -> Iterator[Event]:
        """The event of a line; ``is_stale`` says that the store leaves out the record that it reads."""
        if number in self.sends.offsets:
            yield from self._sent(number)
        elif number in self.sends.reported:
            for line in self.sends.reported[number]:
                if line in self.attempts:
                    yield from self._appended(line)
        elif match := _JOINED.search(text):
            self.generation = int(match[1])
        elif (read := _read_in(text)) is not None:
            yield self._was_read(*read, is_stale=is_stale)
        elif f"Started KafkaBasedLog for topic {self.topic.name}" in text:
            yield StatusStoreStarted(worker=self.store)
        elif f"Stopped KafkaBasedLog for topic {self.topic.name}" in text:
            yield StatusStoreStopped(worker=self.store)

    def _sent(self, line: int) -> Iterator[Event]:
        key, value = self.topic.records[self.sends.offsets[line]]
        if key.startswith(TOPIC_PREFIX):
            return
        attempt = self.attempts[line] = len(self.attempts)
        said = {"status": TOMBSTONE, "generation": self.generation} if value is None else _said(value)
        yield StatusAttempted(worker=self.store, key=key, attempt=attempt, safe=said["status"] in SAFE, **said)
        yield StatusSent(worker=self.store, key=key, attempt=attempt, send=1, value=value)

    def _appended(self, line: int) -> Iterator[Event]:
        attempt, offset = self.attempts[line], self.sends.offsets[line]
        send: dict[str, Any] = {
            "worker": self.store,
            "key": self.topic.records[offset].key,
            "attempt": attempt,
            "send": 1,
        }
        yield StatusAppended(**send, partition=0, offset=offset)
        yield StatusAnswered(**send, outcome=SendOutcome.OK.value)

    def _was_read(self, key: str, said: dict[str, Any], *, is_stale: bool) -> Event:
        offset = min(
            (at for at, record in self.topic.records.items() if at >= self.position and record.key == key), default=None
        )
        if offset is None:
            raise RebalanceCheckError(self._not_there(key, said))
        self.position = offset + 1
        at: dict[str, Any] = {"worker": self.store, "key": key, "partition": 0, "offset": offset}
        return StatusIgnored(reason=STALE_UNASSIGNED, **at, **said) if is_stale else StatusRead(**at, **said)

    def _not_there(self, key: str, said: dict[str, Any]) -> str:
        """A sentence with all that tells whether the topic, the log, or their comparison lacks something."""
        where = [offset for offset, record in self.topic.records.items() if record.key == key]
        return (
            f"{self.store} read a record of {key} behind offset {self.position}, where {self.topic.name} has none: it "
            f"says {said}, the topic has such records at {where}, and ends at {max(self.topic.records, default=-1)}"
        )


def _read_in(text: str) -> tuple[str, dict[str, Any]] | None:
    """The key of the record that a line says was read, and the record's content."""
    if _OF_STORE not in text:
        return None
    if match := _STATUS.search(text):
        said: dict[str, Any] = {"status": match[3], "status_worker": match[4], "generation": int(match[5])}
        return f"status-{match[1]}-{match[2]}", said
    if match := _REMOVED.search(text):
        return f"status-{match[1] or match[2]}-{match[3]}", {"status": TOMBSTONE}
    if match := _USED.search(text):
        usage = tuple(zip(_USAGE, match.groups(), strict=True))
        return str(TopicKey(match[1], match[2])), {"status": TOPIC, "usage": usage}
    match = _UNUSED.search(text)
    return None if match is None else (str(TopicKey(match[1], match[2])), {"status": TOMBSTONE})


def _said(value: str) -> dict[str, Any]:
    fields = json.loads(value)
    return {"status": fields["state"], "status_worker": fields["worker_id"], "generation": fields["generation"]}
