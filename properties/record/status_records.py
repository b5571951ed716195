"""What a status store records of statuses is what such statuses can have, and what it did with them; and
a reset of topics is recorded."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    HerderAnswered,
    HerderAsked,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusQueried,
    StatusRead,
    TopicsReset,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.status.stores import DESTROYED, OK, TOPIC_PREFIX
from rebalance_check.properties.status.understanding import TOPIC
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import DEPARTED, WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

RESET_TOPICS: Final = "reset topics"
DONE: Final = 204
"""The HTTP status of what was done."""


class StatusRecordsAreTrueViolated(Violation):
    """The record of a status says what such a status cannot have, or a store wrote what it did not look for."""


class ResetsAreRecordedViolated(Violation):
    """A worker answered that it reset topics, and did not record that it does."""


class _StatusRecords(SimulatedFold):
    """The stores of workers, and the statuses of topics that each looked for since it wrote them last."""

    bookkeeping = frozenset({WorkerConfigured, StatusQueried, StatusAppended})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            WorkerConfigured: self.on_configured,
            StatusQueried: self.on_queried,
            StatusAttempted: self.on_attempted,
            StatusRead: self.on_read,
            StatusAppended: self.on_appended,
            StatusAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._stores: Recent[str, None] = Recent(DEPARTED)
        self._queried: Recent[tuple[str, str], None] = Recent(WAITING)
        self._appended: Recent[tuple[str, int, int], None] = Recent(WAITING)

    def on_configured(self, event: WorkerConfigured) -> None:
        """The store of a worker with tasks."""
        self._stores[event.store] = None

    def on_queried(self, event: StatusQueried) -> None:
        """Nothing was found where no status is answered."""
        if not event.status:
            self._queried[event.worker, event.key] = None

    def on_attempted(self, event: StatusAttempted) -> None:
        """The status of a topic has no generation, and is written where none was found."""
        if not event.key.startswith(TOPIC_PREFIX) or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if event.generation != -1 or event.safe:
            self.contradiction(
                f"the status of a topic is recorded with generation {event.generation}, safe {event.safe}",
                (f"{event.worker} writes {event.key} at {STEP} with generation {event.generation}, safe {event.safe}, "
                 "and the status of a topic has neither: contradiction.", event),
            )  # fmt: skip
        found = self._queried.pop((event.worker, event.key), event)
        if event.status == TOPIC and event.worker in self._stores and found is event:
            self.contradiction(
                f"{event.worker} writes {event.key}, and has not found that there is none",
                (f"{event.worker} writes {event.key} at {STEP}, and did not ask its cache for it since it wrote "
                 "it last: contradiction.", event),
            )  # fmt: skip

    def on_read(self, event: StatusRead) -> None:
        """A value that says DESTROYED is literal, and no other."""
        if event.literal and event.status != DESTROYED and self.run.is_recorded:
            self.contradiction(
                f"{event.worker} reads {event.status}, and records it as a literal DESTROYED",
                (f"{event.worker} reads {event.status} of {event.key} at {STEP}, and says that this is a value "
                 "DESTROYED: contradiction.", event),
            )  # fmt: skip

    def on_appended(self, event: StatusAppended) -> None:
        """A send of the store is in the topic."""
        self._appended[event.worker, event.attempt, event.send] = None

    def on_answered(self, event: StatusAnswered) -> None:
        """Only such a send is answered with success."""
        found = self._appended.pop((event.worker, event.attempt, event.send), event)
        if event.outcome != OK or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if found is event:
            self.contradiction(
                f"send {event.send} of {event.key} succeeded, and is not recorded as appended",
                (f"send {event.send} of attempt {event.attempt} of {event.worker} is answered with success at {STEP}, "
                 "and no record shows where it was appended: contradiction.", event),
            )  # fmt: skip


class _Resets(SimulatedFold):
    """The requests to reset topics, until they are answered."""

    bookkeeping = frozenset({HerderAsked, TopicsReset})
    needs = ((HerderAsked,), (HerderAnswered,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            HerderAsked: self.on_asked,
            TopicsReset: self.on_reset,
            HerderAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._asked: Recent[int, HerderAsked] = Recent(WAITING)
        self._reset: Recent[tuple[str, str], None] = Recent(WAITING)

    def on_asked(self, event: HerderAsked) -> None:
        """A worker is asked to forget the topics of a connector."""
        if event.operation == RESET_TOPICS:
            self._asked[event.request] = event
            self._reset.pop((event.member, event.work), None)

    def on_reset(self, event: TopicsReset) -> None:
        """It does."""
        self._reset[event.member, event.connector] = None

    def on_answered(self, event: HerderAnswered) -> None:
        """It says that it has."""
        asked = self._asked.pop(event.request, None)
        if asked is None or event.answer != DONE or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if (event.member, asked.work) not in self._reset:
            self.contradiction(
                f"{event.member} reset the topics of {asked.work}, and did not record it",
                (f"{event.member} is asked to reset the topics of {asked.work} at {STEP};", asked),
                (f"it answers that it did at {STEP}, and recorded nothing of it: contradiction.", event),
            )


StatusRecordsAreTrue: Final = Invariant(
    name="status_records_are_true",
    family=FAMILY,
    claim="the status of a topic is recorded without a generation, as a write that no cache is asked about; a worker "
    "writes it where it has asked its cache and found none; a send that succeeds was appended; and only the value "
    "DESTROYED is read as a literal one",
    source="KIP-558; KafkaStatusBackingStore.put(TopicStatus); WorkerTask.recordActiveTopic",
    premises=(RECORDED,),
    exempted_by=(StatusAppended, StatusQueried),
    violation=StatusRecordsAreTrueViolated,
    fold=_StatusRecords,
)
"""A record that says more than was there, or less, is judged by other claims as if it were so.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    StatusAttempted(worker="w0", key="status-topic-t:connector-c", attempt=0, status="TOPIC", generation=3, safe=False)
"""

ResetsAreRecorded: Final = Invariant(
    name="resets_are_recorded",
    family=FAMILY,
    claim="a worker that answers that it reset the topics of a connector has recorded that it does",
    source="KIP-558; AbstractHerder.resetConnectorActiveTopics",
    premises=(RECORDED,),
    exempted_by=(TopicsReset,),
    violation=ResetsAreRecordedViolated,
    fold=_Resets,
)
"""Statuses of topics vanish because of a reset, or of a connector that is deleted.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    HerderAsked(member="w0", request=0, operation="reset topics", work="c")
    HerderAnswered(member="w0", request=0, answer=204)
"""

CLAIMS: Final = (StatusRecordsAreTrue, ResetsAreRecorded)
"""In the order in which reports name them."""
