"""The status topic and its readers: offsets follow each other, what was sent is read, and a store starts behind it."""

from __future__ import annotations

import json
from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    Event,
    StatusAppended,
    StatusIgnored,
    StatusRead,
    StatusSent,
    StatusStoreStarted,
    StatusStoreStarting,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.status.stores import DESTROYED, STALE_UNASSIGNED
from rebalance_check.properties.status.understanding import TOPIC
from rebalance_check.properties.status.violations import StatusOffsetSkipped, StatusReadSaysOtherwise, StoreStartedEarly
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

Place = tuple[int, int]
"""Partition and offset."""


class _ReadAsSent(Fold):
    """What stands in the topic where a store appended it."""

    needs = ((StatusSent,), (StatusAppended,))
    bookkeeping = frozenset({StatusSent, StatusAppended})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            StatusSent: self.on_sent,
            StatusAppended: self.on_appended,
            StatusRead: self.on_read,
            StatusIgnored: self.on_read,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._sent: Recent[tuple[str, int, int], StatusSent] = Recent(WAITING)
        self._records: Recent[Place, StatusSent] = Recent(WAITING)

    def on_sent(self, event: StatusSent) -> None:
        """It may be appended."""
        self._sent[event.worker, event.attempt, event.send] = event

    def on_appended(self, event: StatusAppended) -> None:
        """It stands there."""
        sent = self._sent.pop((event.worker, event.attempt, event.send), None)
        if sent is not None:
            self._records[event.partition, event.offset] = sent

    def on_read(self, event: StatusRead | StatusIgnored) -> None:
        """Who reads it reads what it says."""
        sent = self._records.get((event.partition, event.offset))
        if sent is None or (isinstance(event, StatusIgnored) and event.reason != STALE_UNASSIGNED):
            return
        self.compared = (self.compared or 0) + 1
        if not _reads(event, sent):
            self.contradiction(
                f"{event.worker} reads another status of {event.key} than {sent.worker} sent",
                (f"{sent.worker} sent {sent.value} of {sent.key} at {STEP};", sent),
                (f"{event.worker} read that record at {STEP} as {_said(event)} of {event.key}: contradiction.", event),
            )


def _said(event: StatusRead | StatusIgnored) -> str:
    named = f"{event.status} of {event.status_worker or 'no worker'} in generation {event.generation}"
    return f"{event.status} {dict(event.usage)}" if isinstance(event, StatusRead) and event.usage else named


def _reads(event: StatusRead | StatusIgnored, sent: StatusSent) -> bool:
    """Whether what was read is what was sent; of what is no JSON nothing is said here."""
    if event.key != sent.key:
        return False
    if sent.value is None:
        return event.status == DESTROYED and not (isinstance(event, StatusRead) and event.literal)
    try:
        value: Any = json.loads(sent.value)
    except ValueError:
        return True
    if not isinstance(value, dict):
        return True
    if isinstance(topic := value.get("topic"), dict):
        usage = event.usage if isinstance(event, StatusRead) else ()
        return event.status == TOPIC and (not usage or dict(usage) == {name: str(said) for name, said in topic.items()})
    said = (value.get("state"), value.get("worker_id") or "", value.get("generation"))
    return said == (event.status, event.status_worker, event.generation)


class _Offsets(SimulatedFold):
    """The last record of each partition."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAppended: self.on_appended})
        self._last: dict[int, StatusAppended] = {}

    def on_appended(self, event: StatusAppended) -> None:
        """It takes the next offset."""
        before, self._last[event.partition] = self._last.get(event.partition), event
        following = 0 if before is None else before.offset + 1
        if self.run.is_recorded and event.offset != following:
            self.contradiction(
                f"{event.key} takes offset {event.offset} of partition {event.partition}, where {following} is next",
                *([(f"the record before it was appended at {STEP};", before)] if before else []),
                (f"{event.key} was appended at {STEP} with offset {event.offset}: contradiction.", event),
            )


class _Starts(SimulatedFold):
    """What stands in the topic, where each store is in it, and what a store that starts has yet to read."""

    bookkeeping = frozenset({StatusAppended, StatusIgnored, StatusRead, StatusStoreStarting})
    needs = ((StatusStoreStarting,), (StatusStoreStarted,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            StatusAppended: self.on_appended,
            StatusRead: self.on_read,
            StatusIgnored: self.on_read,
            StatusStoreStarting: self.on_starting,
            StatusStoreStarted: self.on_started,
        }
        super().__init__(invariant, handlers)
        self._newest: dict[tuple[int, str], StatusAppended] = {}
        self._positions: dict[tuple[str, int], int] = {}
        self._starting: dict[str, StatusStoreStarting] = {}

    def on_appended(self, event: StatusAppended) -> None:
        """It replaces what stood there of its key, which compaction may remove."""
        self._newest[event.partition, event.key] = event

    def on_read(self, event: StatusRead | StatusIgnored) -> None:
        """A store reads a partition in order."""
        self._positions[event.worker, event.partition] = event.offset + 1

    def on_starting(self, event: StatusStoreStarting) -> None:
        """It reads up to these ends, from the beginning, also where one of its name had read before."""
        self._starting[event.worker] = event
        for place in [place for place in self._positions if place[0] == event.worker]:
            del self._positions[place]

    def on_started(self, event: StatusStoreStarted) -> None:
        """It has."""
        starting = self._starting.pop(event.worker, None)
        if starting is None or not self.run.is_recorded:
            return
        for (partition, key), record in self._newest.items():
            is_below = partition < len(starting.ends) and record.offset < starting.ends[partition]
            if is_below and record.offset >= self._positions.get((event.worker, partition), 0):
                self.contradiction(
                    f"the status store of {event.worker} has started, and has not read {key}",
                    (f"the last record of {key} was appended at {STEP}, at {partition}/{record.offset};", record),
                    (f"{event.worker} began to read that partition up to offset {starting.ends[partition]} "
                     f"at {STEP};", starting),
                    (f"it says at {STEP} that it has, and had not read that record: contradiction.", event),
                )  # fmt: skip
                return


StatusReadsSayWhatWasSent: Final = Invariant(
    name="safe_status_writes.reads_say_what_was_sent",
    family="safe_status_writes",
    claim="what a store reads of a record is what another one sent: the same key, state, worker and generation, and of "
    "the status of a topic the same topic, connector, task and time",
    source="KafkaStatusBackingStore.readConnectorStatus, readTaskStatus, readTopicStatus; StatusConverter",
    exempted_by=(StatusAppended, StatusSent),
    violation=StatusReadSaysOtherwise,
    fold=_ReadAsSent,
)
"""The smallest history that breaks it::

    StatusSent(worker="w0", key="status-connector-c", attempt=0, send=1, value=None)
    StatusAppended(worker="w0", key="status-connector-c", attempt=0, send=1, partition=0, offset=0)
    StatusRead(worker="w1", key="status-connector-d", partition=0, offset=0, status="DESTROYED")
"""

StatusOffsetsHaveNoGaps: Final = Invariant(
    name="safe_status_writes.offsets_have_no_gaps",
    family="safe_status_writes",
    claim="each record of a partition of the status topic takes the next offset",
    source="LogSegment, LogValidator: offsets are assigned one after the other",
    premises=(RECORDED,),
    exempted_by=(StatusAppended,),
    violation=StatusOffsetSkipped,
    fold=_Offsets,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    StatusAppended(worker="w0", key="status-connector-c", attempt=0, send=1, partition=0, offset=1)
"""

StoresStartBehindTheTopic: Final = Invariant(
    name="safe_status_writes.stores_start_behind_the_topic",
    family="safe_status_writes",
    claim="a store that says that it has read what the topic held has read the last record of each key below the ends "
    "that the topic had then",
    source="KafkaBasedLog.start; KafkaStatusBackingStore.start",
    premises=(RECORDED,),
    exempted_by=(StatusRead, StatusIgnored, StatusStoreStarting),
    violation=StoreStartedEarly,
    fold=_Starts,
)
"""A worker whose store knows nothing writes its statuses as if there were none. The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    StatusAppended(worker="w0", key="status-connector-c", attempt=0, send=1, partition=0, offset=0)
    StatusStoreStarting(worker="w1", ends=(1,))
    StatusStoreStarted(worker="w1")
"""

CLAIMS: Final = (StatusReadsSayWhatWasSent, StatusOffsetsHaveNoGaps, StoresStartBehindTheTopic)
"""In the order in which reports name them."""
