"""The status model as a subject: protocol steps in, the events of stores, log and readers out.

No rule of the model depends on attempt numbers, so the state has none. The subject keeps them in two lists per worker,
which follow the worker's queues: the sends without an acknowledgement, and the writes that wait for a retry. So the
invariants on events that judge real status stores judge the model as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.connect.status.model import MODEL
from rebalance_check.model.connect.status.state import STATUS_NAMES, Status
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberStarted,
    RunEnded,
    RunStarted,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusGivenUp,
    StatusIgnored,
    StatusRead,
    StatusSent,
    StatusSuppressed,
)


def key_name(key: int, keys: int) -> str:
    """The record key of key number ``key`` of ``keys``: tasks of connector ``c``, the last one the connector itself."""
    return "status-connector-c" if key == keys - 1 and keys > 1 else f"status-task-c-{key}"


@lru_cache(maxsize=64)
def machine_of(bounds: Bounds) -> Machine:
    """The machine of these bounds, shared between runs: it keeps no state of a run and takes long to build."""
    return Machine(MODEL, bounds)


@dataclass(slots=True)
class Flight:
    """A write on its way: the number of its call, and how often it was sent."""

    attempt: int
    """The number of the call of ``put`` or ``putSafe``, among those of its worker."""
    key: int
    """The number of the record key."""
    sends: int = 1
    """How often the record was given to the producer; more than once after a retriable failure."""


@dataclass(slots=True)
class Process:
    """The memory behind a worker's events: its incarnation (from 1), its calls, its sends and retries, oldest first."""

    incarnation: int = 1
    """How often the worker was started; a restart empties its cache and both lists."""
    calls: int = 0
    """Calls of ``put`` and ``putSafe`` in this incarnation."""
    queue: list[Flight] = field(default_factory=list)
    """Sends without an acknowledgement."""
    retries: list[Flight] = field(default_factory=list)
    """Writes whose last send failed."""


class StatusModelSubject:
    """Runs one schedule of status actions on the interpreted model; `state` is the model's state."""

    def __init__(self) -> None:
        self._machine: Machine | None = None
        self.state: Any = None

    @property
    def name(self) -> str:
        """``model``."""
        return "model"

    @property
    def actions(self) -> frozenset[ActionKind]:
        """The kinds of the status model."""
        return frozenset(rule.kind for rule in MODEL.rules)

    @property
    def machine(self) -> Machine:
        """The machine of the run; `RebalanceCheckError` when none is open."""
        if self._machine is None:
            raise RebalanceCheckError("no run is open: call open with the bounds first")
        return self._machine

    def open(self, bounds: Bounds, seed: int) -> Sequence[Event]:
        """Empty logs, every worker in generation 1."""
        self._machine = machine_of(bounds)
        self._before = self._machine.new()
        self.state = self._machine.initial()
        self._processes = [Process() for _ in range(bounds.members)]
        self._seqs: dict[str, int] = {}
        started = RunStarted(source="harness", subject=self.name, seed=seed, bounds=bounds.address())
        return self._stamped([started, *(self._start(m) for m in range(bounds.members))])

    def perform(self, action: Action) -> Sequence[Event]:
        """Perform one step and return its events; an action that is not enabled changes nothing and has no events."""
        self.machine.helpers.copy(self._before, self.state)
        if not self.machine.step(self.state, action):
            return ()
        return self._stamped(self._events_of(action, self._before))

    def close(self) -> Sequence[Event]:
        """The end of the run, wherever it stands; ``pending`` names the workers with a write on its way."""
        if self._machine is None:
            return ()
        busy = [self.worker(m) for m, process in enumerate(self._processes) if process.queue or process.retries]
        ended = self._stamped([RunEnded(source="harness", pending=tuple(busy))])
        self._machine = None
        return ended

    def worker(self, m: int) -> str:
        """The name of worker m's store: ``m0``, after a restart ``m0/2``."""
        incarnation = self._processes[m].incarnation
        return f"m{m}" if incarnation == 1 else f"m{m}/{incarnation}"

    # -------------------------------------------------------------------------------------------- events

    def _stamped(self, events: list[Event]) -> list[Event]:
        """Group, source and sequence number; the model knows no time."""
        stamped = []
        for event in events:
            source = event.source or getattr(event, "worker", "")
            seq = self._seqs.get(source, 0)
            self._seqs[source] = seq + 1
            stamped.append(replace(event, group="connect", source=source, seq=seq))
        return stamped

    def _start(self, m: int) -> Event:
        return MemberStarted(source="harness", member=self.worker(m))

    def _events_of(self, action: Action, before: Any) -> list[Event]:
        match action.kind:
            case ActionKind.PUT | ActionKind.PUT_SAFE:
                return self._written(action, before)
            case ActionKind.APPEND:
                flight = self._processes[action.member].queue[0]
                appended = self._appended(action.member)
                self._processes[action.member].queue.pop(0)
                return [appended, self._answered(action.member, flight, "ok")]
            case ActionKind.FAIL_APPEND:
                return [self._appended(action.member)] if action.choice == 1 else self._failed(action.member, before)
            case ActionKind.RETRY:
                process = self._processes[action.member]
                flight = process.retries.pop(0)
                flight.sends += 1
                process.queue.append(flight)
                return [self._sent(action.member, flight)]
            case ActionKind.READ_BACK:
                return [self._read(action.member, action.choice, before)]
            case ActionKind.RESTART:
                return self._restarted(action.member)
            case _:
                return []  # NextGeneration: the store takes the generation over with its next write

    def _key(self, key: int) -> str:
        return key_name(key, self.machine.config.keys)

    def _written(self, action: Action, before: Any) -> list[Event]:
        m, process = action.member, self._processes[action.member]
        safe, key = action.kind is ActionKind.PUT_SAFE, action.choice // 2
        first, second = (Status.UNASSIGNED, Status.FAILED) if safe else (Status.RUNNING, Status.DESTROYED)
        flight = Flight(process.calls, key)
        process.calls += 1
        attempted = StatusAttempted(
            worker=self.worker(m),
            key=self._key(key),
            attempt=flight.attempt,
            status=STATUS_NAMES[first if action.choice % 2 == 0 else second],
            status_worker=f"m{m}",
            generation=self.state.workers[m].generation,
            safe=safe,
        )
        if self.state.suppressed > before.suppressed:
            return [attempted, StatusSuppressed(worker=self.worker(m), key=self._key(key), attempt=flight.attempt)]
        process.queue.append(flight)
        return [attempted, self._sent(m, flight)]

    def _sent(self, m: int, flight: Flight) -> Event:
        """The text stands for the value: the model writes no bytes. A tombstone has none."""
        queue = self.state.workers[m].queue
        send = queue[len(self._processes[m].queue) - 1]
        text = None if send.status == Status.DESTROYED else f"{STATUS_NAMES[send.status]} {send.generation}"
        return StatusSent(
            worker=self.worker(m), key=self._key(flight.key), attempt=flight.attempt, send=flight.sends, value=text
        )

    def _appended(self, m: int) -> Event:
        """The head of m's queue became the last record of its key."""
        flight = self._processes[m].queue[0]
        return StatusAppended(
            source="log",
            worker=self.worker(m),
            key=self._key(flight.key),
            attempt=flight.attempt,
            send=flight.sends,
            partition=flight.key,
            offset=self.state.logs[flight.key].length - 1,
        )

    def _answered(self, m: int, flight: Flight, outcome: str) -> Event:
        return StatusAnswered(
            worker=self.worker(m),
            key=self._key(flight.key),
            attempt=flight.attempt,
            send=flight.sends,
            outcome=outcome,
        )

    def _failed(self, m: int, before: Any) -> list[Event]:
        process, head = self._processes[m], before.workers[m].queue[0]
        flight = process.queue.pop(0)
        answered = self._answered(m, flight, "retriable")
        waiting = sum(send.status != Status.NOTHING for send in self.state.workers[m].retries)
        if waiting > len(process.retries):
            process.retries.append(flight)
            return [answered]
        reason = "superseded"
        if not head.live:
            reason = "deleted"
        elif head.generation != before.workers[m].store_generation:
            reason = "other generation"
        gone = StatusGivenUp(worker=self.worker(m), key=self._key(flight.key), attempt=flight.attempt, reason=reason)
        return [answered, gone]

    def _read(self, m: int, key: int, before: Any) -> Event:
        offset = before.workers[m].entries[key].position
        record = self.state.logs[key].records[offset]
        place: dict[str, Any] = {"worker": self.worker(m), "key": self._key(key), "partition": key, "offset": offset}
        if record.status == Status.DESTROYED:
            return StatusRead(**place, status="DESTROYED")
        content = {
            "status": STATUS_NAMES[record.status],
            "status_worker": f"m{record.writer}",
            "generation": record.generation,
        }
        if self.state.workers[m].entries[key].cached != offset + 1:
            return StatusIgnored(**place, **content, reason="stale unassigned")
        return StatusRead(**place, **content)

    def _restarted(self, m: int) -> list[Event]:
        crashed = MemberCrashed(source="harness", member=self.worker(m))
        self._processes[m] = Process(incarnation=self._processes[m].incarnation + 1)
        return [crashed, self._start(m)]
