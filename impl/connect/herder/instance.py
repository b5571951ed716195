"""One start of a connector or task, on a thread of its own, until that thread ends (the part that both kinds share)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum

from rebalance_check.impl.connect.config.values import TargetState
from rebalance_check.impl.connect.herder.behaviour import Behaviour
from rebalance_check.impl.connect.herder.statuses import StatusWriter
from rebalance_check.impl.connect.herder.threads import Threads
from rebalance_check.impl.connect.herder.work_events import WorkEvents, WorkKey


class InstanceState(StrEnum):
    """The state of an instance's plug-in; the last four are also states of events."""

    NEW = "NEW"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The parts that all instances of a worker process share; ``topic_tracking`` is ``topic.tracking.enable``."""

    threads: Threads
    statuses: StatusWriter
    events: WorkEvents
    topic_tracking: bool = True


class Instance(ABC):
    """A connector or task that a worker started.

    ``state`` is that of its plug-in, ``stopping`` whether it was asked to stop, ``cancelled`` whether the worker waits
    for it no longer, ``ended`` whether its thread is over, ``recorded`` whether its start is: with exactly-once support
    a task starts only after its predecessor was fenced.
    """

    def __init__(self, key: WorkKey, behaviour: Behaviour, target: TargetState, around: Surroundings) -> None:
        self.key = key
        self.state = InstanceState.NEW
        self.target = target
        self.stopping = False
        self.cancelled = False
        self.ended = False
        self.recorded = True
        self._behaviour = behaviour
        self._threads = around.threads
        self._statuses = around.statuses
        self._events = around.events
        self._topic_tracking = around.topic_tracking

    def begin(self) -> None:
        """Start the thread."""
        self._threads.after(self._behaviour.begin_ms, self._run)

    @abstractmethod
    def _run(self) -> None:
        """The thread runs."""

    @abstractmethod
    def stop(self) -> None:
        """Ask the thread to end; returns at once."""

    @abstractmethod
    def transition_to(self, target: TargetState) -> None:
        """Have the thread reach another target state."""

    @abstractmethod
    def fail(self) -> None:
        """Have the plug-in fail now, if it runs."""

    def cancel(self) -> None:
        """Wait no longer for the end of the thread, which goes on until it ends by itself."""
        self.cancelled = True
        if self.recorded:
            self._events.cancelled(self.key)

    def _change(self, state: InstanceState) -> None:
        self.state = state
        if not self.cancelled:
            self._events.state_changed(self.key, state.value)

    def _end(self) -> None:
        """The thread is over: the herder, if it waits for that, goes on."""
        self.ended = True
        if self.cancelled and self.recorded:
            self._events.ended_after_cancel(self.key)
        elif self.stopping and self.recorded:
            self._events.stopped(self.key)
        self._threads.wake_herder()

    def forget(self) -> None:
        """The worker drops an instance whose thread ended before it was asked to stop: a failed one."""
        if self.ended and not self.stopping:
            self.stopping = True
            if self.recorded:
                self._events.stopped(self.key)
