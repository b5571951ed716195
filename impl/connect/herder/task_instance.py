"""One start of a task (``WorkerTask``): it waits while paused, starts, runs, and ends by a stop or a failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from rebalance_check.impl.connect.config.values import TargetState
from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.herder.instance import Instance, InstanceState, Surroundings
from rebalance_check.impl.connect.herder.work_events import WorkKey
from rebalance_check.impl.connect.status.codec import ConnectorKey

Prepare: TypeAlias = Callable[[Callable[[bool], None]], None]
"""The step before the start of a task on its thread; it ends with a call of its argument, False for a failure."""

NEXT_RECORDS_MS: Final = 1_000
"""How long a task that runs takes for its first records; the next come then."""


def start_at_once(prepared: Callable[[bool], None]) -> None:
    """Nothing precedes the start."""
    prepared(True)


class TaskInstance(Instance):
    """The thread of a task.

    A cancelled task writes no status about its end. A slow one that is still starting when it is cancelled writes
    RUNNING all the same once its start succeeded: nothing in Kafka checks that.
    """

    def __init__(
        self,
        key: WorkKey,
        behaviour: Behaviour,
        target: TargetState,
        around: Surroundings,
        *,
        prepare: Prepare | None = None,
        record_start: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(key, behaviour, target, around)
        self._prepare = prepare or start_at_once
        self._record_start = record_start
        self.recorded = prepare is None
        self._has_started = False

    def _run(self) -> None:
        """The first step of the thread: a task that was stopped before does nothing; a paused one waits."""
        if self.stopping:
            self._shut_down()
        elif self.target is TargetState.PAUSED:
            self._pause()
        else:
            self._prepare(self._prepared)

    def _prepared(self, may_start: bool) -> None:
        """The step before the start is over; a task that was stopped meanwhile does not start."""
        if self.ended:
            return
        if self.stopping:
            self._shut_down()
        elif not may_start:
            self._fail()
        else:
            if not self.recorded:
                self.recorded = True
                self._record_start()
            self._threads.after(self._behaviour.start_ms, self._started)

    def _pause(self) -> None:
        self._change(InstanceState.PAUSED)
        self._statuses.paused(self.key)

    def _started(self) -> None:
        """``start`` of the plug-in returned, or raised; a task that is to stop takes no records then."""
        if self._behaviour.fails_at_start:
            self._fail()
            return
        self._has_started = True
        self._change(InstanceState.RUNNING)
        self._statuses.running(self.key)
        if self._topic_tracking and self._behaviour.topics and not self.stopping:
            self._use_topics()
            self._threads.after(NEXT_RECORDS_MS, self._use_topics)
        if self.stopping:
            self._threads.after(self._behaviour.stop_ms, self._shut_down)
        elif self.target is TargetState.PAUSED:
            self._pause()
        if self._behaviour.fails_after_ms is not None:
            self._threads.after(self._behaviour.fails_after_ms, self.fail)

    def _use_topics(self) -> None:
        """Records of all topics pass through the task, if it runs."""
        assert not isinstance(self.key, ConnectorKey)
        if self.ended or self.state is not InstanceState.RUNNING:
            return
        for topic in self._behaviour.topics:
            self._events.topic_used(self.key, topic)
            self._statuses.topic_used(self.key, topic, self._threads.now_ms)

    def fail(self) -> None:
        """As the base class."""
        if not self.stopping and self.state is InstanceState.RUNNING:
            self._fail()

    def _fail(self) -> None:
        """The plug-in raised: FAILED, or UNASSIGNED when it was being stopped anyway; nothing when it was cancelled."""
        if self.stopping:
            self._shut_down()
            return
        self._change(InstanceState.FAILED)
        self._statuses.failed(self.key)
        self._end()

    def _shut_down(self) -> None:
        if self.ended:
            return
        self._end()
        if not self.cancelled:
            self._statuses.unassigned(self.key)

    def stop(self) -> None:
        """As the base class: a task that waits or runs ends after ``stop_ms``, one that is starting starts first."""
        if self.stopping or self.ended:
            return
        self.stopping = True
        if self.state is InstanceState.PAUSED or self.state is InstanceState.RUNNING:
            self._threads.after(self._behaviour.stop_ms, self._shut_down)

    def transition_to(self, target: TargetState) -> None:
        """Pause or resume; a task that is being stopped stays as it is."""
        if self.stopping or self.ended or target is self.target:
            return
        waits_to_start = self.state is InstanceState.PAUSED and not self._has_started
        self.target = target
        if target is TargetState.PAUSED and self.state is InstanceState.RUNNING:
            self._pause()
        elif target is TargetState.STARTED and waits_to_start:
            self.state = InstanceState.NEW
            self._prepare(self._prepared)
        elif target is TargetState.STARTED and self.state is InstanceState.PAUSED:
            self._change(InstanceState.RUNNING)
            self._statuses.running(self.key)
