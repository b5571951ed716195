"""A cluster of status stores over one compacted topic, simulated from one seed.

Workers are told new generations at different times, start tasks late, crash and come back under the same worker id,
pause, fail to send, lose acknowledgements; connectors are deleted and created again; the group is reset to a low
generation; the topic is compacted. Then a healed phase: everyone is told the last generation, nothing fails, and every
send, retry and record must come to rest, or the run names what is pending.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Final

from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, TaskKey, TopicKey, TopicValue
from rebalance_check.impl.connect.status.shared_log import SharedLog
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.faults import draw_plan
from rebalance_check.impl.runtime.options import FaultKind, SimulationOptions
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.status_worker import Conditions, Key, WorkerProcess
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    RunEnded,
    RunStarted,
)

GROUP: Final = "connect"
LONGEST_GAP_MS: Final = 2_000
HEALING_MS: Final = 600_000
PARTITIONS: Final = 3


class Churn(StrEnum):
    """What happens to the cluster in the disturbed phase."""

    REBALANCE = "rebalance"
    RESET_GROUP = "reset group"
    FAIL = "fail"
    PAUSE = "pause"
    RESTART_TASK = "restart task"
    DELETE = "delete"
    CREATE = "create"
    CRASH = "crash"
    REVIVE = "revive"
    STOP = "stop"
    FREEZE = "freeze"
    THAW = "thaw"
    COMPACT = "compact"
    FLUSH = "flush"
    QUERY = "query"
    USE_TOPIC = "use topic"
    FORGET_TOPIC = "forget topic"


WEIGHTS: Final = {
    Churn.REBALANCE: 10,
    Churn.RESET_GROUP: 1,
    Churn.FAIL: 5,
    Churn.PAUSE: 3,
    Churn.RESTART_TASK: 3,
    Churn.DELETE: 3,
    Churn.CREATE: 3,
    Churn.CRASH: 2,
    Churn.REVIVE: 4,
    Churn.STOP: 1,
    Churn.FREEZE: 2,
    Churn.THAW: 3,
    Churn.COMPACT: 1,
    Churn.FLUSH: 2,
    Churn.QUERY: 6,
    Churn.USE_TOPIC: 1,
    Churn.FORGET_TOPIC: 1,
}
NEEDS: Final = {Churn.CRASH: FaultKind.CRASH, Churn.FREEZE: FaultKind.PAUSE}
"""Churn that is a fault: it happens only where the plan switches that kind on."""


class Cluster:
    """The workers, the topic, and the group that moves from generation to generation."""

    def __init__(self, seed: int, options: SimulationOptions, listener: Callable[[Event], None]) -> None:
        self.clock = VirtualClock()
        self.harness = self._recorder("harness", listener)
        self._listener = listener
        self._seed = seed
        self._random = stream(seed, "status start")
        self._conditions = Conditions(
            self.clock, stream(seed, "status delays"), draw_plan(seed, options), self._tell_readers
        )
        self._log = SharedLog(PARTITIONS, self._recorder("log", listener))
        self._eager = stream(seed, "status protocol").random() < 0.5
        self._tasks = [TaskKey(f"c{i // 2}", i % 2) for i in range(options.partitions)]
        self._deleted: set[str] = set()
        self._lives = [0] * options.members
        self._generation = 0
        self.harness.emit(
            RunStarted(subject="simulator", seed=seed, bounds=options.command_line(), mutant=options.mutant)
        )
        self.workers = [self._start(slot) for slot in range(options.members)]

    def _recorder(self, source: str, listener: Callable[[Event], None]) -> Recorder:
        return Recorder(GROUP, source, self.clock.now, listener)

    def _start(self, slot: int) -> WorkerProcess:
        """A new process in a slot: the same worker id, an empty cache, and the topic to be read from its beginning."""
        self._lives[slot] += 1
        name = f"w{slot}" if self._lives[slot] == 1 else f"w{slot}/{self._lives[slot]}"
        recorder = self._recorder(name, self._listener)
        self.harness.emit(MemberStarted(member=name))
        worker = WorkerProcess(
            name,
            f"w{slot}:8083",
            log=self._log,
            conditions=self._conditions,
            recorder=recorder,
        )
        worker.pump()
        return worker

    def _tell_readers(self) -> None:
        for worker in self.workers:
            if worker.alive:
                worker.pump()

    # -------------------------------------------------------------------------------------------- the group

    @property
    def configured(self) -> list[Key]:
        """The connectors and tasks that are not deleted, sorted."""
        tasks = [task for task in self._tasks if task.connector not in self._deleted]
        return [*[ConnectorKey(name) for name in sorted({task.connector for task in tasks})], *tasks]

    def _awake(self) -> list[WorkerProcess]:
        return [worker for worker in self.workers if worker.alive and not worker.store.stopped and not worker.paused]

    def rebalance(self, *, at_once: bool = False) -> None:
        """The next generation: every item goes to a random worker; each is told after a while of its own."""
        self._generation += 1
        members = self._awake()
        if not members:
            return
        owner = {key: self._random.choice(members) for key in self.configured}
        for worker in members:
            owned = [key for key in owner if owner[key] is worker]
            delay = 0 if at_once else self._random.randint(0, self._conditions.plan.delay_ms)
            leads = worker is members[0]
            self.clock.after(delay, partial(self._tell, worker, self._generation, owned, leads))

    def _tell(self, worker: WorkerProcess, generation: int, owned: list[Key], leads: bool) -> None:
        if not worker.alive or worker.paused or worker.store.stopped:
            return
        worker.assign(generation, owned, eager=self._eager)
        if leads:
            worker.clean_up(self.configured)

    # -------------------------------------------------------------------------------------------- churn

    def disturb(self, step: int) -> None:
        """One thing happens, drawn from seed and step; nothing where there is nobody to whom it could."""
        self._random = stream(self._seed, f"status churn {step}")
        churn = self._random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        dice = self._random.random()
        awake = self._awake()
        needs = NEEDS.get(churn)
        if needs is not None and not self._conditions.plan.has(needs):
            return
        match churn:
            case Churn.REBALANCE:
                self.rebalance()
            case Churn.RESET_GROUP:
                self._generation = 0
                self.rebalance()
            case Churn.DELETE | Churn.CREATE:
                self._reconfigure(churn, dice)
            case Churn.REVIVE | Churn.THAW:
                self._bring_back(churn)
            case Churn.COMPACT:
                self._log.compact()
            case _ if awake:
                self._befall(churn, awake[int(dice * len(awake))])

    def _reconfigure(self, churn: Churn, dice: float) -> None:
        """A connector is deleted or created; the next rebalance spreads it, or nobody notices for a while."""
        names = sorted({task.connector for task in self._tasks})
        name = names[int(dice * len(names))]
        if churn is Churn.DELETE:
            self._deleted.add(name)
        else:
            self._deleted.discard(name)
        self.rebalance()

    def _bring_back(self, churn: Churn) -> None:
        for slot, worker in enumerate(self.workers):
            if churn is Churn.REVIVE and (not worker.alive or worker.store.stopped):
                self.workers[slot] = self._start(slot)
            elif churn is Churn.THAW and worker.alive and worker.paused:
                self.harness.emit(MemberResumed(member=worker.name))
                worker.resume()

    def _befall(self, churn: Churn, worker: WorkerProcess) -> None:
        """What happens to one worker that is awake."""
        items = sorted(worker.owned, key=str)
        item = self._random.choice(items) if items else None
        match churn:
            case Churn.CRASH:
                self.harness.emit(MemberCrashed(member=worker.name))
                worker.crash()
            case Churn.FREEZE:
                self.harness.emit(MemberPaused(member=worker.name))
                worker.pause()
            case Churn.STOP:
                worker.store.stop()
                self.harness.emit(MemberLeft(member=worker.name))
            case Churn.FLUSH if not worker.store.flushing:
                worker.store.flush()
            case Churn.QUERY:
                self._query(worker)
            case Churn.USE_TOPIC:
                worker.store.put_topic(TopicValue("t", "c0", 0, self.clock.now_ms))
                worker.pump()
            case Churn.FORGET_TOPIC:
                worker.store.delete_topic(TopicKey("t", "c0"))
                worker.pump()
            case Churn.FAIL if item is not None:
                worker.fail(item)
            case Churn.PAUSE if item is not None:
                worker.write(item, Status.PAUSED, safe=False)
            case Churn.RESTART_TASK if item is not None:
                worker.restart(item)

    def _query(self, worker: WorkerProcess) -> None:
        """What a REST request for the status of everything asks, deleted or not."""
        connectors = [ConnectorKey(name) for name in sorted({task.connector for task in self._tasks})]
        keys: list[ConnectorKey | TaskKey] = [*connectors, *self._tasks]
        for key in keys:
            worker.store.get(key)

    # -------------------------------------------------------------------------------------------- healing

    def heal(self) -> tuple[str, ...]:
        """Nothing goes wrong any more: wake everyone, rebalance once more, and name what does not come to rest."""
        self._conditions.heal()
        self._bring_back(Churn.THAW)
        self._bring_back(Churn.REVIVE)
        self._random = stream(self._seed, "status healing")
        self.rebalance(at_once=True)
        self.clock.run_until(self.clock.now_ms + HEALING_MS)
        for worker in self.workers:
            self._query(worker)
        return tuple(reason for worker in self.workers for reason in worker.pending)


def simulate_status(seed: int, options: SimulationOptions, listener: Callable[[Event], None]) -> None:
    """Simulate the status stores of ``options.members`` workers and hand every event to ``listener``, in order.

    A pure function of seed and options: ``partitions`` counts tasks (two to a connector), ``steps`` the things that
    happen in the disturbed phase, ``omit`` leaves some of them out by their index.
    """
    with planted(options.mutant):
        cluster = Cluster(seed, options, listener)
        gaps = stream(seed, "status gaps")
        cluster.rebalance()
        for step in range(options.steps):
            cluster.clock.run_until(cluster.clock.now_ms + gaps.randint(0, LONGEST_GAP_MS))
            if step not in options.omit:
                cluster.disturb(step)
        cluster.harness.emit(RunEnded(pending=cluster.heal()))
