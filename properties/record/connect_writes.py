"""What Connect workers write, and ask, is what they recorded that they would."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    Event,
    HerderAnswered,
    HerderAsked,
    ProducerFenced,
    ProducerInitialised,
    SessionKeyWritten,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusQueried,
    StatusRead,
    TaskConfigsGenerated,
    TaskStarted,
    TopicsReset,
    WorkerConfigured,
    ZombieFencingEnded,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

SESSION_KEY: Final = "session-key"
TASK: Final = "task-"
"""How the keys of the config topic begin, of a session key and of the configuration of a task."""

TOPIC_KEY: Final = "status-topic-"
TOPIC: Final = "TOPIC"
DESTROYED: Final = "DESTROYED"
RESET_TOPICS: Final = "reset topics"
DONE: Final = 204
OK: Final = "ok"


class ConfigWritesAreAnnouncedViolated(Violation):
    """The config topic has a record, or a task a producer, of which the record of the workers says nothing."""


class StatusRecordsAreTrueViolated(Violation):
    """The record of a status says what such a status cannot have, or a store wrote what it did not look for."""


class ResetsAreRecordedViolated(Violation):
    """A worker answered that it reset topics, and did not record that it does."""


class _ConfigWrites(SimulatedFold):
    """What producers and workers recorded that they would do, until it is done."""

    bookkeeping = frozenset(
        {WorkerConfigured, ProducerInitialised, ProducerFenced, SessionKeyWritten, TaskConfigsGenerated}
    )

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            WorkerConfigured: self.on_configured,
            ProducerInitialised: self.on_initialised,
            ProducerFenced: self.on_fenced,
            SessionKeyWritten: self.on_key,
            TaskConfigsGenerated: self.on_generated,
            ConfigAppended: self.on_appended,
            TaskStarted: self.on_task,
            ZombieFencingEnded: self.on_fencing,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._workers: dict[str, WorkerConfigured] = {}
        self._epochs: Recent[tuple[str, int], None] = Recent(WAITING)
        self._producers: Recent[tuple[str, str], None] = Recent(WAITING)
        self._fenced: Recent[str, None] = Recent(WAITING)
        self._keys: dict[str, int] = {}
        self._generated: Recent[str, None] = Recent(WAITING)

    def on_configured(self, event: WorkerConfigured) -> None:
        """A worker with a herder: what it writes has a reason that it records."""
        self._workers[event.member] = event

    def on_initialised(self, event: ProducerInitialised) -> None:
        """A producer of the config topic, or of a task."""
        self._epochs[event.transactional_id, event.epoch] = None
        self._producers[event.member, event.work] = None

    def on_fenced(self, event: ProducerFenced) -> None:
        """A round of fencing names it when it ends."""
        self._fenced[event.transactional_id] = None

    def on_key(self, event: SessionKeyWritten) -> None:
        """A write may fail."""
        self._keys[event.member] = self._keys.get(event.member, 0) + 1

    def on_generated(self, event: TaskConfigsGenerated) -> None:
        """A leader may write these."""
        if event.published:
            for task, _ in event.tasks:
                self._generated[task] = None

    def on_appended(self, event: ConfigAppended) -> None:
        """It is of a producer, and of what its writer recorded."""
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        is_of_producer = (event.transactional_id, event.epoch) in self._epochs
        if not (is_of_producer if event.transactional_id else event.epoch == -1):
            self._unannounced(event, f"a producer of epoch {event.epoch}")
        if event.writer not in self._workers:
            return
        if event.key == SESSION_KEY:
            self._keys[event.writer] = self._keys.get(event.writer, 0) - 1
            if self._keys[event.writer] < 0:
                self._unannounced(event, "a session key")
        elif event.key.startswith(TASK) and event.key.removeprefix(TASK) not in self._generated:
            self._unannounced(event, f"configurations of {event.key.removeprefix(TASK)}")

    def _unannounced(self, event: ConfigAppended, what: str) -> None:
        self.contradiction(
            f"the config topic has a record of {event.key}, and {what} was not recorded before",
            (f"{event.writer}'s record of {event.key} is appended at {STEP}, and no record of {what} precedes it: "
             "contradiction.", event),
        )  # fmt: skip

    def on_task(self, event: TaskStarted) -> None:
        """With exactly-once support each task that starts has a producer of its own."""
        worker = self._workers.get(event.member)
        if worker is None or not worker.exactly_once or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if self._producers.pop((event.member, event.task), event) is event:
            self.contradiction(
                f"{event.member} starts {event.task}, and no producer of the task is recorded",
                (f"{event.member} has exactly-once support from {STEP} on;", worker),
                (f"it starts {event.task} at {STEP}, and no producer was initialised for that: contradiction.", event),
            )

    def on_fencing(self, event: ZombieFencingEnded) -> None:
        """All that it names were fenced before."""
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        missing = [name for name in event.transactional_ids if name not in self._fenced]
        for name in event.transactional_ids:
            self._fenced.pop(name, None)
        if missing:
            self.contradiction(
                f"{event.member} ended a round of fencing, and no end of {missing[0]} is recorded",
                (f"{event.member} says that it fenced {', '.join(missing)} at {STEP}, and no record of that precedes "
                 "it: contradiction.", event),
            )  # fmt: skip


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
        self._stores: set[str] = set()
        self._queried: Recent[tuple[str, str], None] = Recent(WAITING)
        self._appended: Recent[tuple[str, int, int], None] = Recent(WAITING)

    def on_configured(self, event: WorkerConfigured) -> None:
        """The store of a worker with tasks."""
        self._stores.add(event.store)

    def on_queried(self, event: StatusQueried) -> None:
        """Nothing was found where no status is answered."""
        if not event.status:
            self._queried[event.worker, event.key] = None

    def on_attempted(self, event: StatusAttempted) -> None:
        """The status of a topic has no generation, and is written where none was found."""
        if not event.key.startswith(TOPIC_KEY) or not self.run.is_recorded:
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


ConfigWritesAreAnnounced: Final = Invariant(
    name="config_writes_are_announced",
    family=FAMILY,
    claim="before a record of the config topic is appended the record shows its transactional producer, and its "
    "worker's session key or task configurations; before a task starts with exactly-once support its producer; and of "
    "each transactional id in a round of fencing that it was fenced",
    source="KIP-618; KafkaConfigBackingStore.sendPrivileged; DistributedHerder.checkKeyRotation, writeTaskConfigs",
    premises=(RECORDED,),
    exempted_by=(ProducerFenced, ProducerInitialised, SessionKeyWritten, TaskConfigsGenerated),
    violation=ConfigWritesAreAnnouncedViolated,
    fold=_ConfigWrites,
)
"""Claims about leaders compare what is written with who wrote it, and why.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConfigAppended(writer="w0", offset=0, key="session-key", value="{}", transactional_id="connect-connect", epoch=0)
"""

StatusRecordsAreTrue: Final = Invariant(
    name="status_records_are_true",
    family=FAMILY,
    claim="the status of a topic is recorded without a generation, as a write that no cache is asked about; a worker "
    "writes it where it has asked its cache and found none; a send that succeeds was appended; and only the value "
    "DESTROYED is read as a literal one",
    source="KIP-558; KafkaStatusBackingStore.put(TopicStatus); AbstractWorkerSourceTask.recordActiveTopic",
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

CLAIMS: Final = (ConfigWritesAreAnnounced, StatusRecordsAreTrue, ResetsAreRecorded)
"""In the order in which reports name them."""
