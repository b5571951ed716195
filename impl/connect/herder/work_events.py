"""The events of a worker process about the connectors and tasks that it starts and stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from rebalance_check.impl.client.generation import Generation
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import (
    CancelledWorkEnded,
    ConnectorStarted,
    ConnectorStopped,
    TaskStarted,
    TaskStopped,
    TopicUsed,
    WorkCancelled,
    WorkStateChanged,
)

WorkKey: TypeAlias = ConnectorKey | TaskKey
"""A connector or a task."""


def work_name(key: WorkKey) -> str:
    """``sink`` for a connector, ``sink-0`` for a task: how events call a piece of work."""
    return key.connector if isinstance(key, ConnectorKey) else f"{key.connector}-{key.task}"


def work_of(connectors: Iterable[str], tasks: Iterable[tuple[str, int]]) -> tuple[WorkKey, ...]:
    """The keys of connectors, then of tasks, each once."""
    keys: list[WorkKey] = [ConnectorKey(name) for name in connectors]
    keys += [TaskKey(*task) for task in tasks]
    return tuple(dict.fromkeys(keys))


def assigned_work(assignment: ConnectAssignment) -> tuple[WorkKey, ...]:
    """The keys of the work that an assignment grants."""
    return work_of(assignment.connectors, assignment.tasks)


class WorkEvents:
    """Emits the events about work of the process ``member``; ``speaks_for`` gives the member's present generation."""

    def __init__(self, member: str, recorder: Recorder, speaks_for: Callable[[], Generation]) -> None:
        self.member = member
        self._recorder = recorder
        self._speaks_for = speaks_for

    def started(self, key: WorkKey, config: str = "", connector_config: str = "") -> None:
        """The worker started the work; a task with these configurations."""
        at = self._speaks_for()
        if isinstance(key, ConnectorKey):
            self._recorder.emit(
                ConnectorStarted(
                    member=self.member, generation=at.generation_id, member_id=at.member_id, connector=key.connector
                )
            )
        else:
            self._recorder.emit(
                TaskStarted(
                    member=self.member,
                    generation=at.generation_id,
                    member_id=at.member_id,
                    task=work_name(key),
                    config=config,
                    connector_config=connector_config,
                )
            )

    def stopped(self, key: WorkKey) -> None:
        """The work ended after it was stopped."""
        at = self._speaks_for()
        if isinstance(key, ConnectorKey):
            self._recorder.emit(
                ConnectorStopped(
                    member=self.member, generation=at.generation_id, member_id=at.member_id, connector=key.connector
                )
            )
        else:
            self._recorder.emit(
                TaskStopped(
                    member=self.member, generation=at.generation_id, member_id=at.member_id, task=work_name(key)
                )
            )

    def state_changed(self, key: WorkKey, state: str) -> None:
        """The work is RUNNING, PAUSED, STOPPED or FAILED from here on."""
        at = self._speaks_for()
        self._recorder.emit(
            WorkStateChanged(
                member=self.member,
                generation=at.generation_id,
                member_id=at.member_id,
                work=work_name(key),
                state=state,
            )
        )

    def topic_used(self, key: TaskKey, topic: str) -> None:
        """A record of the topic passed through the task."""
        at = self._speaks_for()
        self._recorder.emit(
            TopicUsed(
                member=self.member,
                generation=at.generation_id,
                member_id=at.member_id,
                task=work_name(key),
                topic=topic,
            )
        )

    def cancelled(self, key: WorkKey) -> None:
        """The worker waits no longer for the end of the work."""
        at = self._speaks_for()
        self._recorder.emit(
            WorkCancelled(member=self.member, generation=at.generation_id, member_id=at.member_id, work=work_name(key))
        )

    def ended_after_cancel(self, key: WorkKey) -> None:
        """Cancelled work ended at last."""
        at = self._speaks_for()
        self._recorder.emit(
            CancelledWorkEnded(
                member=self.member, generation=at.generation_id, member_id=at.member_id, work=work_name(key)
            )
        )
