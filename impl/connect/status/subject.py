"""Status stores over a shared log as a subject: the same protocol steps as the status model, on the real store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, TaskKey, status_value
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.connect.status.shared_log import Channel, InFlight, SharedLog, StatusRecord
from rebalance_check.impl.connect.status.store import StatusStore
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, MemberCrashed, MemberStarted, RunEnded, RunStarted

Key = ConnectorKey | TaskKey


def no_time() -> int:
    """Protocol steps take none."""
    return 0


class KeyedLog(SharedLog):
    """A topic whose partition p holds key number p alone, as in the model."""

    def __init__(self, keys: Sequence[Key], recorder: Recorder) -> None:
        super().__init__(len(keys), recorder)
        self._number = {str(key): number for number, key in enumerate(keys)}

    def partition_of(self, key: str) -> int:
        """The number of the key."""
        return self._number[key]


@dataclass(slots=True)
class StoreWorker:
    """A worker: the generation it received last, and its present store; ``incarnation`` counts its stores."""

    generation: int
    incarnation: int
    store: StatusStore
    channel: Channel


class StatusStoreSubject:
    """Runs one schedule of status actions; an action that is not possible does nothing, as in the model."""

    def __init__(self) -> None:
        self._log: SharedLog | None = None

    @property
    def name(self) -> str:
        """``reference``."""
        return "reference"

    @property
    def actions(self) -> frozenset[ActionKind]:
        """The kinds of the status model."""
        return frozenset(
            {
                ActionKind.PUT,
                ActionKind.PUT_SAFE,
                ActionKind.APPEND,
                ActionKind.FAIL_APPEND,
                ActionKind.RETRY,
                ActionKind.READ_BACK,
                ActionKind.NEXT_GENERATION,
                ActionKind.RESTART,
            }
        )

    def open(self, bounds: Bounds, seed: int) -> Sequence[Event]:
        """An empty topic, every worker in generation 1."""
        tasks = bounds.partitions - 1 if bounds.partitions > 1 else 1
        self.keys: list[Key] = [TaskKey("c", task) for task in range(tasks)]
        if bounds.partitions > 1:
            self.keys.append(ConnectorKey("c"))
        self._bounds = bounds
        self._used = {"writes": 0, "failures": 0, "crashes": 0}
        self._events: list[Event] = []
        self._harness = self._recorder("harness")
        self._log = KeyedLog(self.keys, self._recorder("log"))
        self._harness.emit(RunStarted(subject=self.name, seed=seed, bounds=bounds.address()))
        self.workers = [self._start(m, 1, 1) for m in range(bounds.members)]
        return self._taken()

    def perform(self, action: Action) -> Sequence[Event]:
        """One step."""
        worker = self.workers[action.member]
        match action.kind:
            case ActionKind.PUT | ActionKind.PUT_SAFE if self._spend("writes"):
                self._write(worker, action)
            case ActionKind.APPEND if worker.channel.head is not None and not worker.channel.head.appended:
                worker.channel.append()
                worker.channel.answer(SendOutcome.OK)
            case ActionKind.FAIL_APPEND if worker.channel.head is not None:
                self._fail(worker, worker.channel.head, lost=action.choice == 1)
            case ActionKind.RETRY:
                worker.store.run_retry()
            case ActionKind.READ_BACK:
                worker.channel.read(action.choice)
            case ActionKind.NEXT_GENERATION if worker.generation < self._bounds.generations:
                worker.generation += 1
            case ActionKind.RESTART if self._spend("crashes"):
                worker.channel.close()
                self._harness.emit(MemberCrashed(member=worker.store.worker))
                self.workers[action.member] = self._start(action.member, worker.generation, worker.incarnation + 1)
        return self._taken()

    def observe(self) -> Sequence[Event]:
        """The events of calls to the stores since the last step."""
        return self._taken()

    def records(self, partition: int) -> Sequence[StatusRecord]:
        """The records of a key, oldest first."""
        return [] if self._log is None else list(self._log.partitions[partition])

    def close(self) -> Sequence[Event]:
        """The end of the run, wherever it stands."""
        if self._log is None:
            return ()
        busy = [w.store.worker for w in self.workers if w.store.in_flight or w.store.retries]
        self._harness.emit(RunEnded(pending=tuple(busy)))
        self._log = None
        return self._taken()

    # -------------------------------------------------------------------------------------------- steps

    def _recorder(self, source: str) -> Recorder:
        return Recorder("connect", source, no_time, self._events.append)

    def _taken(self) -> list[Event]:
        taken = list(self._events)
        self._events.clear()
        return taken

    def _spend(self, budget: str) -> bool:
        """Whether the budget allows one more; takes it."""
        if self._used[budget] >= getattr(self._bounds, budget):
            return False
        self._used[budget] += 1
        return True

    def _start(self, m: int, generation: int, incarnation: int) -> StoreWorker:
        if self._log is None:
            raise RebalanceCheckError("no run is open: call open with the bounds first")
        name = f"m{m}" if incarnation == 1 else f"m{m}/{incarnation}"
        self._harness.emit(MemberStarted(member=name))
        channel = Channel(self._log, name)
        channel.store = store = StatusStore(name, channel, self._recorder(name))
        return StoreWorker(generation, incarnation, store, channel)

    def _write(self, worker: StoreWorker, action: Action) -> None:
        key, which = self.keys[action.choice // 2], action.choice % 2
        worker_id = f"m{action.member}"
        if action.kind is ActionKind.PUT:
            status = (Status.RUNNING, Status.DESTROYED)[which]
            worker.store.put(key, status_value(status, worker_id, worker.generation))
        else:
            status = (Status.UNASSIGNED, Status.FAILED)[which]
            worker.store.put_safe(key, status_value(status, worker_id, worker.generation))

    def _fail(self, worker: StoreWorker, head: InFlight, *, lost: bool) -> None:
        if (head.appended and lost) or not (head.appended or self._spend("failures")):
            return
        if lost:
            worker.channel.append()
        else:
            worker.channel.answer(SendOutcome.RETRIABLE)
