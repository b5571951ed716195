"""A worker process in virtual time for the tests of what it starts and stops: a clock, a status store, its events."""

from __future__ import annotations

from collections.abc import Callable

from rebalance_check.impl.client.generation import Generation
from rebalance_check.impl.connect.config.values import TargetState
from rebalance_check.impl.connect.herder.behaviour import WELL_BEHAVED, Behaviour
from rebalance_check.impl.connect.herder.instance import Surroundings
from rebalance_check.impl.connect.herder.statuses import StatusWriter
from rebalance_check.impl.connect.herder.stopping import StopJob
from rebalance_check.impl.connect.herder.work_events import WorkEvents, WorkKey
from rebalance_check.impl.connect.herder.worker import Worker
from rebalance_check.impl.connect.status.codec import ConnectorKey, TaskKey
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.events import Event, StatusAttempted

SINK = ConnectorKey("sink")
TASK = TaskKey("sink", 0)


class ClockThreads:
    """Threads that never pause."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    @property
    def now_ms(self) -> int:
        return self._clock.now_ms

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        self._clock.after(delay_ms, action)

    def wake_herder(self) -> None:
        """Nobody waits."""


class Bench:
    """One worker; ``behaviours`` says what the next start of each piece of work does."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.events: list[Event] = []
        self.behaviours: dict[WorkKey, Behaviour] = {}
        self.generation = 3
        self.reached: list[str] = []
        recorder = Recorder("connect", "w", self.clock.now, self.events.append)
        store = StatusStore("w", Channel(SharedLog(1, recorder), "w"), recorder)
        self.around = Surroundings(
            ClockThreads(self.clock),
            StatusWriter(store, "w:8083", lambda: self.generation),
            WorkEvents("w", recorder, lambda: Generation(self.generation, "id", "sessioned")),
        )
        self.worker = Worker(self.around, lambda key: self.behaviours.get(key, WELL_BEHAVED))

    def connector(self, target: TargetState = TargetState.STARTED) -> None:
        self.worker.start_connector(SINK, target, self.reached.append)

    def task(self, target: TargetState = TargetState.STARTED) -> None:
        self.worker.start_task(TASK, target)

    def run(self, for_ms: int = 0) -> None:
        self.clock.run_until(self.clock.now_ms + for_ms)

    def stop(self, *work: WorkKey, for_ms: int = 60_000) -> int:
        """Stop and wait as a revocation does; how long that took in ms."""
        job = StopJob(self.worker, work, task_timeout_ms=5_000)
        began_ms = self.clock.now_ms
        while not job.advance(self.clock.now_ms):
            assert self.clock.now_ms < began_ms + for_ms
            self.run(100)
        return self.clock.now_ms - began_ms

    def written(self) -> list[str]:
        """Every status that was written, with ``safe`` where it was a safe write."""
        attempts = [event for event in self.events if isinstance(event, StatusAttempted)]
        return [f"{event.status}{' safe' if event.safe else ''}" for event in attempts]
