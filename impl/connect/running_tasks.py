"""What a worker process really runs, as opposed to what it was assigned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from rebalance_check.impl.client.generation import Generation
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectorTask
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import ConnectorStarted, ConnectorStopped, TaskStarted, TaskStopped

T = TypeVar("T", str, ConnectorTask)


class RunningWork:
    """The connectors and tasks of one worker; starting and stopping emit events, and doing it twice changes nothing."""

    def __init__(self, member: str, recorder: Recorder) -> None:
        self.connectors: set[str] = set()
        self.tasks: set[ConnectorTask] = set()
        self._member = member
        self._recorder = recorder

    def start(self, assigned: ConnectAssignment, generation: Generation) -> None:
        """Start what does not run yet: connectors, then tasks."""
        at = (generation.generation_id, generation.member_id)
        for connector in _new(assigned.connectors, self.connectors):
            self.connectors.add(connector)
            self._recorder.emit(
                ConnectorStarted(member=self._member, generation=at[0], member_id=at[1], connector=connector)
            )
        for task in _new(assigned.tasks, self.tasks):
            self.tasks.add(task)
            self._recorder.emit(TaskStarted(member=self._member, generation=at[0], member_id=at[1], task=_name(task)))

    def stop(self, assigned: ConnectAssignment, generation: Generation) -> None:
        """Stop what runs of an assignment: connectors, then tasks."""
        self._stop(self.connectors & set(assigned.connectors), self.tasks & set(assigned.tasks), generation)

    def stop_all(self, generation: Generation) -> None:
        """Stop everything."""
        self._stop(set(self.connectors), set(self.tasks), generation)

    def _stop(self, connectors: set[str], tasks: set[ConnectorTask], generation: Generation) -> None:
        at = (generation.generation_id, generation.member_id)
        for connector in sorted(connectors):
            self.connectors.discard(connector)
            self._recorder.emit(
                ConnectorStopped(member=self._member, generation=at[0], member_id=at[1], connector=connector)
            )
        for task in sorted(tasks):
            self.tasks.discard(task)
            self._recorder.emit(TaskStopped(member=self._member, generation=at[0], member_id=at[1], task=_name(task)))


def _new(assigned: Iterable[T], running: set[T]) -> list[T]:
    return [one for one in dict.fromkeys(assigned) if one not in running]


def _name(task: ConnectorTask) -> str:
    return f"{task.connector}-{task.task}"
