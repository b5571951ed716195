"""One Connect worker process of a simulated run: its store, its threads, and its writes.

Its writes follow ``AbstractHerder`` and its listeners: RUNNING, PAUSED, RESTARTING and DESTROYED with put, FAILED
and UNASSIGNED with putSafe, each carrying the generation that the worker received last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from random import Random

from rebalance_check.impl.connect.status.attempts import Attempt, StatusStoreError
from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, TaskKey, status_value
from rebalance_check.impl.connect.status.shared_log import Channel, SharedLog
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.faults import NO_FAULTS, FaultPlan
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.simulator.connect.status_threads import StatusThreads
from rebalance_check.impl.simulator.struck import Struck

Key = ConnectorKey | TaskKey


@dataclass(slots=True)
class StatusEnvironment:
    """The processes of a run share this: time, chance, the present phase's plan, the call after an append, and the
    faults that struck so far."""

    clock: VirtualClock
    random: Random
    plan: FaultPlan
    appended: Callable[[], None]
    struck: Struck = field(default_factory=Struck)

    def delay_ms(self) -> int:
        """How long a message or a thread takes, in ms."""
        delay_ms = self.random.randint(0, self.plan.delay_ms)
        if delay_ms > NO_FAULTS.delay_ms:
            self.note(FaultKind.DELAY)
        return delay_ms

    def note(self, kind: FaultKind) -> None:
        """A fault of this kind strikes."""
        self.struck.note(kind)

    def strikes(self, kind: FaultKind, chance: float) -> bool:
        """Whether a fault of that chance strikes now; a number is drawn in any case."""
        struck = self.random.random() < chance
        if struck:
            self.note(kind)
        return struck

    def heal(self) -> None:
        """From here on nothing goes wrong."""
        self.plan = NO_FAULTS


class WorkerProcess:
    """A worker from its start to its crash or stop. ``name`` is unique, ``worker_id`` survives a restart."""

    def __init__(
        self,
        name: str,
        worker_id: str,
        *,
        log: SharedLog,
        environment: StatusEnvironment,
        recorder: Recorder,
    ) -> None:
        self.name = name
        self.worker_id = worker_id
        self.generation = 0
        self.owned: set[Key] = set()
        self.alive = True
        self.paused = False
        self.channel = Channel(log, name)
        self.store = StatusStore(name, self.channel, recorder)
        self.channel.store = self.store
        self._environment = environment
        self._threads = StatusThreads(
            self.store,
            self.channel,
            self,
            environment,
            at_broker=environment.clock.after,
            appended=environment.appended,
        )
        self._later: list[Callable[[], None]] = []

    # -------------------------------------------------------------------------------------------- start and end

    @property
    def running(self) -> bool:
        """Whether it neither crashed nor stopped nor is paused."""
        return self.alive and not self.store.stopped and not self.paused

    def crash(self) -> None:
        """Die at once; the request on the wire may still be appended."""
        self.alive = False
        self._threads.close()

    def pause(self) -> None:
        """Stop running, as in a long garbage collection."""
        self.paused = True

    def resume(self) -> None:
        """Run again: everything that came due meanwhile happens now, in its order."""
        self.paused = False
        waited, self._later = self._later, []
        for action in waited:
            self._run(action)

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Let something happen in the process, later if it is paused then, never if it is gone."""
        self._environment.clock.after(delay_ms, partial(self._run, action))

    def pump(self) -> None:
        """Let the threads of the store go on."""
        self._threads.pump()

    def _run(self, action: Callable[[], None]) -> None:
        if self.paused:
            self._later.append(action)
        elif self.alive:
            action()

    # -------------------------------------------------------------------------------------------- writing

    def write(self, key: Key, status: Status, *, safe: bool) -> None:
        """Compute a status with the present generation and write it.

        Where threads are reordered the record is handed over later than it was admitted.
        """
        value = status_value(status, self.worker_id, self.generation)
        if self.store.stopped:
            return
        attempt = self.store.admit(key, value, safe=safe)
        plan = self._environment.plan
        if plan.has(FaultKind.REORDER) and self._environment.strikes(FaultKind.REORDER, plan.reorder / 2):
            self.after(self._environment.delay_ms(), partial(self._hand_over, attempt))
        else:
            self._hand_over(attempt)

    def _hand_over(self, attempt: Attempt | None) -> None:
        try:
            self.store.hand_over(attempt)
        except StatusStoreError:
            return  # stopped between the two halves: Kafka's producer throws to the thread that writes
        self.pump()

    def assign(self, generation: int, owned: Iterable[Key], *, eager: bool) -> None:
        """A rebalance is over: give up work not owned any more (EAGER: everything), start new work."""
        wanted = set(owned)
        for key in sorted(self.owned if eager else self.owned - wanted, key=str):
            self.write(key, Status.UNASSIGNED, safe=True)
        started = wanted if eager else wanted - self.owned
        self.generation = generation
        self.owned = wanted
        for key in sorted(started, key=str):
            self.after(self._start_delay(), partial(self._started, key))

    def _start_delay(self) -> int:
        plan, random = self._environment.plan, self._environment.random
        slow = self._environment.strikes(FaultKind.SLOW_APPLICATION, plan.slow_application)
        return random.randint(0, plan.slow_ms if slow else plan.delay_ms)

    def _started(self, key: Key) -> None:
        """A slow start may be over only after the item was revoked: RUNNING is written all the same (Kafka does)."""
        self.write(key, Status.RUNNING, safe=False)

    def fail(self, key: Key) -> None:
        """The item fails; in half of the cases an operator restarts it soon."""
        self.write(key, Status.FAILED, safe=True)
        if self._environment.random.random() < 0.5:
            self.after(self._environment.delay_ms(), partial(self.restart, key))

    def restart(self, key: Key) -> None:
        """An operator restarts the item, if it still runs here."""
        if key in self.owned:
            self.write(key, Status.RESTARTING, safe=False)
            self.write(key, Status.RUNNING, safe=False)

    def clean_up(self, configured: Iterable[Key]) -> None:
        """A leader writes these on every assignment: tombstones for all that is cached and not configured any more."""
        keep = set(configured)
        for name in self.store.cache.connectors():
            if ConnectorKey(name) in keep:
                continue
            for number in self.store.cache.tasks(name):
                self.write(TaskKey(name, number), Status.DESTROYED, safe=False)
            self.write(ConnectorKey(name), Status.DESTROYED, safe=False)
        for name in self.store.cache.connectors():
            for number in self.store.cache.tasks(name):
                if TaskKey(name, number) not in keep:
                    self.write(TaskKey(name, number), Status.DESTROYED, safe=False)

    @property
    def pending(self) -> list[str]:
        """The parts that have not come to rest, by name."""
        found = []
        if self.store.in_flight:
            found.append(f"{self.name} has {self.store.in_flight} sends in flight")
        if self.store.retries:
            found.append(f"{self.name} has {self.store.retries} retries waiting")
        if not self.store.stopped and self.channel.unread():
            found.append(f"{self.name} has not read the end of partitions {self.channel.unread()}")
        return found
