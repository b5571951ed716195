"""Status stores of several workers over one topic, in an order that a seed draws, recorded as one history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from rebalance_check.impl.connect.status.codec import ConnectorKey, StatusKey, TaskKey, TopicKey
from rebalance_check.impl.connect.status.log import SendOutcome
from rebalance_check.impl.runtime.recorder import LastNumbers, Recorder
from rebalance_check.integration.comparison.stores.sequence import Stores
from rebalance_check.integration.comparison.stores.status_history import DESTROYED, Record, RecordedStore, StatusTopic
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted

WORKERS: Final = ("w0", "w1", "w2")
PARTITIONS: Final = 2
_GROUP: Final = "connect"
_CONNECTORS: Final = ("a", "a-1", "b")
_SAFE: Final = ("UNASSIGNED", "UNASSIGNED", "FAILED")
_UNSAFE: Final = ("RUNNING", "RUNNING", "RUNNING", "PAUSED", "STOPPED", "RESTARTING", DESTROYED)
_FOREIGN: Final[tuple[Record, ...]] = (
    ("status-task-a-x", None),
    ("foo", "{}"),
    ("status-task-a-0", '{"state":"RUNNING"'),
    ("status-connector-b", '{"state":"DESTROYED","trace":null,"worker_id":"w9:8083","generation":1}'),
    ("status-topic-t:connector-a", '{"topic":7}'),
)
"""Records of others than the stores; none is one that a store writes."""


def recorded_cluster(side: Stores, seed: int, steps: int = 200) -> list[Event]:
    """The history of three workers' stores of one side; each side has every seed once at most.

    At the end each store has read the whole topic, and stops.
    """
    cluster = _Cluster(side, seed, Random(seed))
    return cluster.run(steps)


@dataclass(slots=True)
class _Cluster:
    side: Stores
    seed: int
    random: Random
    events: list[Event] = field(default_factory=list)
    listener: LastNumbers = field(init=False)
    topic: StatusTopic = field(default_factory=lambda: StatusTopic(tuple([] for _ in range(PARTITIONS))))
    generation: int = 1
    stores: dict[str, RecordedStore] = field(default_factory=dict)
    incarnations: dict[str, int] = field(default_factory=dict)
    now: int = 0

    def __post_init__(self) -> None:
        self.listener = LastNumbers(self.events.append)

    def run(self, steps: int) -> list[Event]:
        """The whole history."""
        harness = Recorder(_GROUP, "harness", self._time, self.listener)
        harness.emit(RunStarted(subject=self.side.name, seed=self.seed))
        for worker in WORKERS:
            self._start(worker)
        for self.now in range(1, steps + 1):
            self._step()
        for store in self.stores.values():
            while unread := store.unread():
                store.read(unread[0])
        for store in self.stores.values():
            store.stop()
        harness.emit(RunEnded(pending=None, last=self.listener.attested))  # all is read, and every store has stopped
        return self.events

    def _time(self) -> int:
        return self.now

    def _start(self, worker: str) -> None:
        number = self.incarnations[worker] = self.incarnations.get(worker, 0) + 1
        name = worker if number == 1 else f"{worker}/{number}"
        recorder = Recorder(_GROUP, name, self._time, self.listener)
        store = self.side.open(f"{self.seed}-{name}")
        self.stores[worker] = RecordedStore(store, name, f"{worker}:8083", self.topic, recorder.emit)
        self.stores[worker].start()

    def _step(self) -> None:
        steps: dict[Callable[[RecordedStore], None], int] = {
            self._put: 10, self._answer: 9, self._read: 14, self._retry: 5, self._ask: 3, self._list: 3,
            self._put_topic: 2, self._flush: 1, self._foreign: 1, self._rebalance: 3, self._restart: 1,
        }  # fmt: skip
        [step] = self.random.choices(list(steps), list(steps.values()))
        step(self.stores[self.random.choice(WORKERS)])

    # -------------------------------------------------------------------------------------------- writes

    def _put(self, store: RecordedStore) -> None:
        """A worker may not know of the last rebalance yet."""
        safe = self.random.random() < 0.5
        generation = max(1, self.generation - self.random.choice((0, 0, 1, 2, 3)))
        key = self._item()
        store.put(key, self.random.choice(_SAFE if safe else _UNSAFE), generation, safe=safe)

    def _put_topic(self, store: RecordedStore) -> None:
        key = TopicKey("t", self.random.choice(_CONNECTORS))
        if self.random.random() < 0.7:
            store.put_topic(key, discovered_ms=self.now)
        else:
            store.delete_topic(key)

    def _answer(self, store: RecordedStore) -> None:
        """A send whose answer is retriable may have been appended."""
        if not store.in_flight:
            return
        outcome = self.random.choice((SendOutcome.OK, SendOutcome.OK, SendOutcome.RETRIABLE, SendOutcome.FATAL))
        appended = outcome is SendOutcome.OK or (outcome is SendOutcome.RETRIABLE and self.random.random() < 0.5)
        store.answer(outcome, appended=appended)

    def _retry(self, store: RecordedStore) -> None:
        if store.retries:
            store.retry()

    def _flush(self, store: RecordedStore) -> None:
        store.flush()

    def _foreign(self, _store: RecordedStore) -> None:
        self.topic.append(*self.random.choice(_FOREIGN))

    # -------------------------------------------------------------------------------------------- reads

    def _read(self, store: RecordedStore) -> None:
        for _ in range(self.random.randrange(1, 4)):
            if unread := store.unread():
                store.read(self.random.choice(unread))

    def _ask(self, store: RecordedStore) -> None:
        topic = TopicKey("t", self.random.choice(_CONNECTORS))
        key: StatusKey = topic if self.random.random() < 0.2 else self._item()
        store.ask(key)

    def _list(self, store: RecordedStore) -> None:
        kind = self.random.choice(("connectors", "tasks", "topics"))
        store.list_all(kind, "" if kind == "connectors" else self.random.choice(_CONNECTORS))

    # -------------------------------------------------------------------------------------------- the group

    def _rebalance(self, _store: RecordedStore) -> None:
        """The next generation, or the first of a group that was removed and made anew."""
        self.generation = 1 if self.random.random() < 0.1 else self.generation + 1

    def _restart(self, store: RecordedStore) -> None:
        store.stop()
        self._start(store.worker_id.partition(":")[0])

    def _item(self) -> ConnectorKey | TaskKey:
        connector, task = self.random.choice(_CONNECTORS), self.random.choice((None, 0, 0, 1))
        return ConnectorKey(connector) if task is None else TaskKey(connector, task)
