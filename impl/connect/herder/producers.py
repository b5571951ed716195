"""The transactional producers of a cluster's tasks (KIP-618): each start of a task fences its predecessor's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from rebalance_check.impl.connect.herder.work_events import work_name
from rebalance_check.impl.connect.status.codec import TaskKey
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import ProducerFenced, ProducerInitialised


class Producers(Protocol):
    """The requests of a worker to the brokers about the producers of tasks."""

    def initialise(self, member: str, key: TaskKey) -> None:
        """``initTransactions`` for a task: every earlier producer of its transactional id can write no more."""
        ...

    def fence(self, connector: str, tasks: Iterable[int]) -> tuple[str, ...]:
        """``Admin.fenceProducers`` for tasks of a connector; the transactional ids that were fenced."""
        ...


@dataclass(slots=True)
class SharedProducers:
    """The epochs of all transactional ids of tasks, in memory."""

    recorder: Recorder
    group: str = "connect"
    epochs: dict[str, int] = field(default_factory=dict)

    def transactional_id(self, key: TaskKey) -> str:
        """``<group>-<connector>-<task>``."""
        return f"{self.group}-{work_name(key)}"

    def initialise(self, member: str, key: TaskKey) -> None:
        """A new epoch for the task of a worker."""
        name = self.transactional_id(key)
        epoch = self.epochs[name] = self.epochs.get(name, -1) + 1
        self.recorder.emit(ProducerInitialised(member=member, transactional_id=name, epoch=epoch, work=work_name(key)))

    def fence(self, connector: str, tasks: Iterable[int]) -> tuple[str, ...]:
        """A new epoch for each transactional id, which no task has."""
        names = tuple(self.transactional_id(TaskKey(connector, number)) for number in tasks)
        for name in names:
            epoch = self.epochs.get(name, -1)
            self.epochs[name] = epoch + 1
            self.recorder.emit(ProducerFenced(transactional_id=name, epoch=epoch, used=self.epochs[name]))
        return names
