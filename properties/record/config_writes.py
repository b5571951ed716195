"""What Connect workers write to the config topic is what they recorded that they would."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigAppended,
    Event,
    ProducerFenced,
    ProducerInitialised,
    SessionKeyWritten,
    TaskConfigsGenerated,
    TaskStarted,
    WorkerConfigured,
    ZombieFencingEnded,
)
from rebalance_check.properties.config_store.forms import SESSION_KEY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

TASK: Final = "task-"
"""How the key of the configuration of a task begins."""


class ConfigWritesAreAnnouncedViolated(Violation):
    """The config topic has a record, or a task a producer, of which the record of the workers says nothing."""


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
        self._producers: Recent[tuple[str, str], None] = Recent(WAITING)
        self._fenced: Recent[str, None] = Recent(WAITING)
        self._keys: dict[str, int] = {}
        self._generated: Recent[str, None] = Recent(WAITING)

    def on_configured(self, event: WorkerConfigured) -> None:
        """A worker with a herder: what it writes has a reason that it records."""
        self._workers[event.member] = event

    def on_initialised(self, event: ProducerInitialised) -> None:
        """A producer of a task, or of the config topic."""
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
        """It is of what its writer recorded."""
        if event.writer not in self._workers or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
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


ConfigWritesAreAnnounced: Final = Invariant(
    name="config_writes_are_announced",
    family=FAMILY,
    claim="before a session key or a task's configuration is appended to the config topic the record shows that its "
    "worker would write it; before a task starts with exactly-once support its producer; and of each transactional id "
    "in a round of fencing that it was fenced",
    source="KIP-618; KafkaConfigBackingStore.sendPrivileged; DistributedHerder.checkForKeyRotation, writeTaskConfigs",
    premises=(RECORDED,),
    exempted_by=(ProducerFenced, ProducerInitialised, SessionKeyWritten, TaskConfigsGenerated),
    violation=ConfigWritesAreAnnouncedViolated,
    fold=_ConfigWrites,
)
"""Claims about leaders compare what is written with its writer, and why.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="sessioned")
    ConfigAppended(writer="w0", offset=0, key="session-key", value="{}")
"""

CLAIMS: Final = (ConfigWritesAreAnnounced,)
"""In the order in which reports name them."""
