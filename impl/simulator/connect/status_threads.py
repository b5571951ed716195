"""The threads between a worker's status store and the status topic: its producer, its retry thread, its reader."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Protocol

from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.shared_log import Channel
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.impl.simulator.connect.disturbances import READ_AGAIN_MS


class Process(Protocol):
    """The process of a worker, as far as its status store is concerned."""

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Let something happen in the process."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it neither ended nor crashed."""
        ...


class Surroundings(Protocol):
    """The parts that the processes of a run share."""

    @property
    def plan(self) -> FaultPlan:
        """The present fault plan."""
        ...

    @property
    def random(self) -> Random:
        """The stream from which faults are drawn."""
        ...

    def delay_ms(self) -> int:
        """How long a message or a thread takes."""
        ...

    def note(self, kind: FaultKind) -> None:
        """A fault of this kind strikes."""
        ...


class StatusThreads:
    """Lets one store's channel go on. The broker goes on while the process is paused.

    ``at_broker`` schedules that; ``appended`` is called after each append, ``answered`` after each answer.
    """

    def __init__(
        self,
        store: StatusStore,
        channel: Channel,
        process: Process,
        around: Surroundings,
        *,
        at_broker: Callable[[int, Callable[[], None]], object],
        appended: Callable[[], None],
        answered: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._channel = channel
        self._process = process
        self._around = around
        self._at_broker = at_broker
        self._appended = appended
        self._notify = answered
        self._sending = False
        self._retrying = False
        self._reading: set[int] = set()

    def pump(self) -> None:
        """Let the producer, the retry thread and the reader go on where there is something to do."""
        if not self._sending and self._channel.head is not None:
            self._sending = True
            self._transmit()
        if not self._retrying and self._store.retries:
            self._retrying = True
            self._process.after(self._around.delay_ms(), self._retry)
        for partition in self._channel.unread():
            if partition not in self._reading and not self._store.stopped:
                self._reading.add(partition)
                self._process.after(self._around.delay_ms(), partial(self._read, partition))

    def _transmit(self) -> None:
        """The head travels: appended or not, then answered."""
        plan, random = self._around.plan, self._around.random
        fate = random.random()
        if fate < plan.drop:
            self._around.note(FaultKind.DROP)
            self._process.after(self._around.delay_ms(), partial(self._answered, SendOutcome.RETRIABLE))
        elif fate < plan.drop + plan.disconnect / 4:
            self._around.note(FaultKind.DISCONNECT)
            self._process.after(self._around.delay_ms(), partial(self._answered, SendOutcome.FATAL))
        else:
            if lost := random.random() < plan.duplicate:
                self._around.note(FaultKind.DUPLICATE)
            outcome = SendOutcome.RETRIABLE if lost else SendOutcome.OK
            self._at_broker(self._around.delay_ms(), partial(self._append, outcome))

    def _append(self, outcome: SendOutcome) -> None:
        if not self._process.alive:
            return
        self._channel.append()
        self._process.after(self._around.delay_ms(), partial(self._answered, outcome))
        self._appended()

    def _answered(self, outcome: SendOutcome) -> None:
        self._sending = False
        self._channel.answer(outcome)
        self.pump()
        self._notify()

    def _retry(self) -> None:
        self._retrying = False
        self._store.run_retry()
        self.pump()

    def _read(self, partition: int) -> None:
        if self._read_fails():
            self._process.after(READ_AGAIN_MS, partial(self._read, partition))
            return
        self._reading.discard(partition)
        if not self._store.stopped:
            started = self._store.started
            self._channel.read(partition)
            if self._store.started and not started:
                self._notify()
            self.pump()

    def _read_fails(self) -> bool:
        """Whether the reader could read nothing; a store that is stopped reads no more."""
        chance = self._around.plan.failed_read
        struck = chance > 0 and not self._store.stopped and self._around.random.random() < chance
        if struck:
            self._around.note(FaultKind.FAILED_READ)
        return struck

    def close(self) -> None:
        """The process died at once; the request on the wire may still be appended."""
        head = self._channel.close()
        if head is not None and not head.appended and self._around.random.random() < 0.5:
            self._channel.log.append(self._channel.worker, head)
            self._appended()
