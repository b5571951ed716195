"""The duties of a herder of exactly-once sources: producers that must be fenced (KIP-618)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    ConfigSnapshotTaken,
    Event,
    ProducerFenced,
    ProducerInitialised,
    TaskConfigsApplied,
    TaskStarted,
    WorkerConfigured,
    ZombieFencingEnded,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.worker import SHOWS_WHAT_RUNS, connector_of, is_task_of

COUNTED: Final = "tasks-fencing-"
"""How the keys of task count records begin."""


class ProducerEpochsGrowViolated(Violation):
    """A producer was initialised with an epoch that its transactional id had before."""


class FencedBeforeStartViolated(Violation):
    """A task started while a producer of its predecessor could still write."""


class FencingFailsForNewConfigsOnlyViolated(Violation):
    """A leader refused to fence producers although the task configs were the newest."""


class EarlierTasksAreFencedViolated(Violation):
    """A leader fenced other producers than those of the tasks before the last commit."""


class _Epochs(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ProducerInitialised: self.on_initialised, ProducerFenced: self.on_fenced})
        self._highest: Recent[str, tuple[int, Event]] = Recent(WAITING)

    def on_fenced(self, event: ProducerFenced) -> None:
        """This epoch is used up, and that of the fencing itself: a lower one would leave the old producer in force."""
        known = self._highest.get(event.transactional_id)
        taken = max(event.epoch, event.used)
        if event.used >= 0 and known is not None and event.used <= max(known[0], event.epoch):
            self.contradiction(
                f"the fencing of {event.transactional_id} takes epoch {event.used} again",
                (f"epoch {known[0]} of {event.transactional_id} was in use or fenced at {STEP}.", known[1]),
                (f"a fencing took epoch {event.used} at {STEP}, so that this producer can write on: contradiction.",
                 event),
            )  # fmt: skip
        if known is None or known[0] < taken:
            self._highest[event.transactional_id] = (taken, event)

    def on_initialised(self, event: ProducerInitialised) -> None:
        """Its epoch is new."""
        known = self._highest.get(event.transactional_id)
        if known is not None and known[0] >= event.epoch:
            self.contradiction(
                f"the producer {event.transactional_id} of {event.member} has epoch {event.epoch} again",
                (f"epoch {known[0]} of {event.transactional_id} was in use or fenced at {STEP}.", known[1]),
                (f"{event.member} got epoch {event.epoch} at {STEP}: contradiction.", event),
            )
            return
        self._highest[event.transactional_id] = (event.epoch, event)


class _Fenced(WorkerFold):
    """Follows the producers of source tasks, from initTransactions until they are fenced, replaced or stopped."""

    needs = ((WorkerConfigured,), (ProducerInitialised,))
    bookkeeping = frozenset({ProducerInitialised, ProducerFenced})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ProducerInitialised: self.on_initialised,
                ProducerFenced: self.on_fenced,
                TaskStarted: self.on_started,
            },
        )
        self._open: dict[str, ProducerInitialised] = {}

    def on_initialised(self, event: ProducerInitialised) -> None:
        """The one before with this id can write no more."""
        if event.work:
            self._open[event.transactional_id] = event

    def on_fenced(self, event: ProducerFenced) -> None:
        """It can write no more."""
        known = self._open.get(event.transactional_id)
        if known is not None and known.epoch <= event.epoch:
            del self._open[event.transactional_id]

    def on_started(self, event: TaskStarted) -> None:
        """No producer of a task with other configs of its connector is open."""
        worker = self.memory.of(event.member)
        if worker.configured is None or not worker.configured.exactly_once or not event.connector_config:
            return
        connector = connector_of(event.task)
        for name, producer in sorted(self._open.items()):
            if producer.work == event.task or not is_task_of(producer.work, connector):
                continue
            other = self.memory.workers.get(producer.member)
            since = other.running.get(producer.work) if other is not None else None
            old = isinstance(since, TaskStarted) and since.connector_config not in {"", event.connector_config}
            if old:
                self.contradiction(
                    f"{event.task} runs although the producer of an earlier {producer.work} can still write",
                    (f"{producer.member} initialised the producer {name} at {STEP}, but it was not fenced.", producer),
                    (f"{producer.work} runs there with other configs since {STEP}.", since),
                    (f"{event.member} started {event.task} at {STEP}: contradiction.", event),
                )
                return


class _Refused(WorkerFold):
    needs = ((ConfigSnapshotTaken,),)
    bookkeeping = frozenset({TaskConfigsApplied})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ZombieFencingEnded: self.on_ended, TaskConfigsApplied: self.on_applied})
        self._applied: dict[tuple[str, str], TaskConfigsApplied] = {}

    def on_applied(self, event: TaskConfigsApplied) -> None:
        """New task configs may end a round of fencing."""
        self._applied[event.member, event.connector] = event

    def on_ended(self, event: ZombieFencingEnded) -> None:
        """A conflict has its commit; a pending rebalance is none."""
        applied = self._applied.pop((event.member, event.connector), None)
        if event.outcome == "conflict" and applied is None:
            self.contradiction(
                f"{event.member} refused to fence the producers of {event.connector}",
                (f"a conflict was answered at {STEP}, and no task configs of {event.connector} had come since the last "
                 "round of fencing: contradiction.", event),
            )  # fmt: skip


class _Earlier(WorkerFold):
    """Compares each round of fencing with the snapshot that its leader took before it."""

    needs = ((ConfigSnapshotTaken,),)
    bookkeeping = frozenset({ConfigSnapshotTaken})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            ConfigSnapshotTaken: self.on_snapshot,
            ConfigAppended: self.on_appended,
            ZombieFencingEnded: self.on_ended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._pending: dict[tuple[str, str], ConfigSnapshotTaken] = {}

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """The last one in which the fencing of a connector is pending is that of the round."""
        for connector in event.pending_fencing:
            self._pending[event.member, connector] = event

    def on_appended(self, event: ConfigAppended) -> None:
        """The tasks of the last commit are those that the next round fences."""
        connector = event.key.removeprefix(COUNTED)
        snapshot = self._pending.get((event.writer, connector)) if event.key.startswith(COUNTED) else None
        worker = self.memory.workers.get(event.writer)
        if snapshot is None or worker is None or worker.configured is None:
            return
        self.compared = (self.compared or 0) + 1
        count = dict(snapshot.task_counts).get(connector, 0)
        if event.value != f'{{"task-count":{count}}}':
            self.contradiction(
                f"{event.writer} counts other tasks of {connector} than were committed",
                (f"{event.writer} read by {STEP} that the last commit of {connector} brought {count} tasks;", snapshot),
                (f"it wrote {event.value} at {STEP}: contradiction.", event),
            )

    def on_ended(self, event: ZombieFencingEnded) -> None:
        """The tasks that were fenced or started last are those of the last task count record."""
        snapshot = self._pending.get((event.member, event.connector))
        if snapshot is None or event.outcome != "ok":
            return
        self.compared = (self.compared or 0) + 1
        recorded = dict(snapshot.count_records).get(event.connector)
        count = dict(snapshot.task_counts).get(event.connector, 0)
        needed = 0 if recorded is None or recorded == count == 1 else recorded
        fenced = len(event.transactional_ids)
        if fenced != needed:
            self.contradiction(
                f"{event.member} fences {fenced} producers of {event.connector}, and not {needed}",
                (f"{event.member} read by {STEP} that {recorded or 'no'} tasks of {event.connector} were counted "
                 f"before the last commit, which brought {count};", snapshot),
                (f"it fenced {fenced} at {STEP}: contradiction.", event),
            )  # fmt: skip


ProducerEpochsGrow: Final = Invariant(
    name="producer_epochs_grow",
    family="connect_duties",
    claim="each producer that is initialised, and each fencing, takes a higher epoch than all before it of its "
    "transactional id",
    source="KIP-618; KafkaProducer.initTransactions, Admin.fenceProducers",
    violation=ProducerEpochsGrowViolated,
    fold=_Epochs,
)
"""The smallest history that breaks it::

    ProducerFenced(transactional_id="connect-c-0", epoch=3)
    ProducerInitialised(member="w0", transactional_id="connect-c-0", epoch=3, work="c-0")
"""

FencedBeforeStart: Final = Invariant(
    name="fenced_before_start",
    family="connect_duties",
    claim="with exactly-once support no task starts while a task with earlier configs of its connector runs and its "
    "producer is not fenced",
    source="KIP-618; DistributedHerder.doFenceZombieSourceTasks, Worker.fenceZombies",
    premises=("each task names the configuration of the connector that it was generated from",),
    exempted_by=(*SHOWS_WHAT_RUNS, ProducerFenced, ProducerInitialised, TaskStarted, WorkerConfigured),
    violation=FencedBeforeStartViolated,
    fold=_Fenced,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="sessioned", exactly_once=True)
    WorkerConfigured(member="w1", mode="sessioned", exactly_once=True)
    ProducerInitialised(member="w0", transactional_id="connect-c-1", epoch=0, work="c-1")
    TaskStarted(member="w0", generation=1, task="c-1", connector_config="old")
    TaskStarted(member="w1", generation=2, task="c-0", connector_config="new")
"""

FencingFailsForNewConfigsOnly: Final = Invariant(
    name="fencing_fails_for_new_configs_only",
    family="connect_duties",
    claim="a round of fencing ends in a conflict only where new task configs of the connector came meanwhile",
    source="KIP-618; DistributedHerder.fenceZombieSourceTasks; KAFKA-15059",
    exempted_by=(TaskConfigsApplied,),
    violation=FencingFailsForNewConfigsOnlyViolated,
    fold=_Refused,
)
"""A rebalance that is due is no reason. The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=3)
    ZombieFencingEnded(member="w0", generation=1, connector="c", outcome="conflict")
"""

EarlierTasksAreFenced: Final = Invariant(
    name="earlier_tasks_are_fenced",
    family="connect_duties",
    claim="a round of fencing fences the producers of all tasks that the last task count record of the connector "
    "counts, and none where there is no such record, or one task followed one; the next record counts the tasks of "
    "the last commit",
    source="KIP-618; DistributedHerder.doFenceZombieSourceTasks",
    exempted_by=(ConfigSnapshotTaken,),
    violation=EarlierTasksAreFencedViolated,
    fold=_Earlier,
)
"""The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=3, task_counts=(("c", 2),), count_records=(("c", 1),),
                        pending_fencing=("c",))
    ZombieFencingEnded(member="w0", generation=1, connector="c")
"""


CLAIMS: Final = (ProducerEpochsGrow, FencedBeforeStart, FencingFailsForNewConfigsOnly, EarlierTasksAreFenced)
"""In the order in which reports name them."""
