"""What a store sent, every store understands."""

from __future__ import annotations

import json
from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    StatusAppended,
    StatusAttempted,
    StatusIgnored,
    StatusRead,
    StatusSent,
    StatusStoreStarted,
    StatusStoreStarting,
    StatusStoreStopped,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.status.stores import topic_named
from rebalance_check.properties.status.violations import (
    SentRecordNotUnderstood,
    SentRecordSaysOtherwise,
    StoppedStoreGoesOn,
    StoreStartedTwice,
)
from rebalance_check.properties.verdict import STEP, Because
from rebalance_check.properties.views.recent import WAITING, Recent

TOPIC: Final = "TOPIC"
FAILED: Final = "FAILED"

NOT_UNDERSTOOD: Final = frozenset({"malformed", "unknown key", "null key"})
"""The reasons for which a reader leaves out what no store of Connect writes."""


class _Understood(Fold):
    """Where in the topic the records stand that stores sent."""

    needs = ((StatusAppended,),)
    bookkeeping = frozenset({StatusAppended})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAppended: self.on_appended, StatusIgnored: self.on_ignored})
        self._sent: Recent[tuple[int, int], StatusAppended] = Recent(WAITING)

    def on_appended(self, event: StatusAppended) -> None:
        """A store sent this record."""
        self._sent[event.partition, event.offset] = event

    def on_ignored(self, event: StatusIgnored) -> None:
        """Only what others wrote is left out for its form."""
        sent = self._sent.get((event.partition, event.offset))
        if sent is None or event.reason not in NOT_UNDERSTOOD or sent.key != event.key:
            return
        self.violated(
            f"{event.worker} does not understand {event.key}, which {sent.worker} wrote",
            [
                Because(f"{sent.worker} wrote {sent.key} to offset {sent.offset} at {STEP}.", sent),
                Because(f"{event.worker} read it at {STEP}, and left it out ({event.reason}): contradiction.", event),
            ],
            [sent, event],
        )


class _SaysSo(Fold):
    """The calls whose records were not sent yet."""

    needs = ((StatusAttempted,),)
    bookkeeping = frozenset({StatusAttempted})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {StatusAttempted: self.on_attempted, StatusSent: self.on_sent})
        self._attempted: Recent[tuple[str, int], StatusAttempted] = Recent(WAITING)

    def on_attempted(self, event: StatusAttempted) -> None:
        """What is to be written."""
        self._attempted[event.worker, event.attempt] = event

    def on_sent(self, event: StatusSent) -> None:
        """What is written."""
        asked = self._attempted.get((event.worker, event.attempt))
        if asked is None or event.value is None or _says(event, asked):
            return
        self.violated(
            f"{event.worker} writes {asked.status} of {event.key} as {event.value}",
            [
                Because(f"{asked.worker} was to write {asked.status} of {asked.status_worker or 'the topic'} in "
                        f"generation {asked.generation} at {STEP};", asked),
                Because(f"it sent {event.value} at {STEP}: contradiction.", event),
            ],
            [asked, event],
        )  # fmt: skip


def _says(event: StatusSent, asked: StatusAttempted) -> bool:
    """Whether the record says what was to be written; of what is no JSON nothing is said here."""
    try:
        value = json.loads(event.value or "")
    except ValueError:
        return True
    if not isinstance(value, dict):
        return True
    if asked.status == TOPIC:
        inner = value.get("topic")
        named = (inner.get("connector"), inner.get("name")) if isinstance(inner, dict) else None
        return list(value) == ["topic"] and named == topic_named(event.key)
    said = (value.get("state"), value.get("worker_id"), value.get("generation"))
    has_trace = value.get("trace") is not None
    return said == (asked.status, asked.status_worker, asked.generation) and has_trace == (asked.status == FAILED)


class _Silent(Fold):
    """The stores that were stopped."""

    needs = ((StatusStoreStopped,),)
    bookkeeping = frozenset({StatusStoreStopped})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            StatusStoreStopped: self.on_stopped,
            StatusSent: self.on_used,
            StatusRead: self.on_used,
            StatusIgnored: self.on_used,
        }
        super().__init__(invariant, handlers)
        self._stopped: Recent[str, StatusStoreStopped] = Recent(WAITING)

    def on_stopped(self, event: StatusStoreStopped) -> None:
        """From here on it sends and reads nothing."""
        self._stopped[event.worker] = event

    def on_used(self, event: StatusSent | StatusRead | StatusIgnored) -> None:
        """A stopped store has no producer and no reader."""
        stopped = self._stopped.get(event.worker)
        if stopped is not None:
            does = "sends" if isinstance(event, StatusSent) else "reads"
            self.violated(
                f"{event.worker} {does} {event.key} after its store was stopped",
                [
                    Because(f"the store of {event.worker} was stopped at {STEP};", stopped),
                    Because(f"it {does} {event.key} at {STEP}: contradiction.", event),
                ],
                [stopped, event],
            )


class _Once(Fold):
    """The stores that began to read, and are not known to have started."""

    bookkeeping = frozenset({StatusStoreStarting})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            StatusStoreStarting: self.on_starting,
            StatusStoreStarted: self.on_started,
        }
        super().__init__(invariant, handlers)
        self._starting: set[str] = set()
        self._started: Recent[str, StatusStoreStarted] = Recent(WAITING)

    def on_starting(self, event: StatusStoreStarting) -> None:
        """It will have started."""
        self._starting.add(event.worker)

    def on_started(self, event: StatusStoreStarted) -> None:
        """It has, and does not again."""
        known = self._started.get(event.worker)
        self._started[event.worker] = event
        if known is not None and event.worker not in self._starting:
            self.violated(
                f"the store of {event.worker} starts twice",
                [
                    Because(f"the store of {event.worker} had started at {STEP};", known),
                    Because(f"it says so again at {STEP}: contradiction.", event),
                ],
                [known, event],
            )
        self._starting.discard(event.worker)


SentRecordsAreUnderstood: Final = Invariant(
    name="safe_status_writes.sent_records_are_understood",
    family="safe_status_writes",
    claim="no store leaves out for its form a record that a store of Connect wrote",
    source="KafkaStatusBackingStore.read, parseConnectorStatusKey, parseConnectorTaskId, parseTopicStatus",
    premises=("no connector has a name that its keys cannot carry",),
    violation=SentRecordNotUnderstood,
    fold=_Understood,
)
"""S8: what is written is read. The smallest history that breaks it::

    StatusAppended(worker="w0", key="status-topic-t:connector-c", attempt=0, send=1, partition=0, offset=0)
    StatusIgnored(worker="w0", key="status-topic-t:connector-c", partition=0, offset=0, reason="malformed")
"""

SentRecordsSaySo: Final = Invariant(
    name="safe_status_writes.sent_records_say_so",
    family="safe_status_writes",
    claim="each record that a store sends names the state, the worker and the generation that it was to write, "
    "with a trace where that is FAILED alone; and the status of a topic names the topic and the connector of its key",
    source="KafkaStatusBackingStore.serialize, serializeTopicStatus; AbstractHerder.onFailure",
    violation=SentRecordSaysOtherwise,
    fold=_SaysSo,
)
"""The smallest history that breaks it::

    StatusAttempted(worker="w0", key="status-task-c-0", attempt=0, status="RUNNING", status_worker="a", generation=2,
                    safe=False)
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1,
               value='{"state":"RUNNING","trace":null,"worker_id":"a","generation":1}')
"""

StoppedStoresAreSilent: Final = Invariant(
    name="safe_status_writes.stopped_stores_are_silent",
    family="safe_status_writes",
    claim="a store that was stopped sends nothing, and takes nothing into its cache",
    source="KafkaStatusBackingStore.stop; KafkaBasedLog.stop",
    violation=StoppedStoreGoesOn,
    fold=_Silent,
)
"""The smallest history that breaks it::

    StatusStoreStopped(worker="w0")
    StatusSent(worker="w0", key="status-task-c-0", attempt=0, send=1, value=None)
"""

StoresStartOnce: Final = Invariant(
    name="safe_status_writes.stores_start_once",
    family="safe_status_writes",
    claim="a store that begins to read the topic says once that it has read what the topic held",
    source="KafkaStatusBackingStore.start; KafkaBasedLog.start",
    exempted_by=(StatusStoreStarting,),
    violation=StoreStartedTwice,
    fold=_Once,
)
"""The smallest history that breaks it::

    StatusStoreStarted(worker="w0")
    StatusStoreStarted(worker="w0")
"""
