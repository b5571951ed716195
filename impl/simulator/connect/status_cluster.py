"""A cluster of status stores over one compacted topic, simulated from one seed.

Workers receive new generations at different times, start tasks late, crash and come back under the same worker id,
pause, fail to send, lose acknowledgements; connectors are deleted and created again; the group is reset to a low
generation; the topic is compacted (`status_churn` draws all that). Then a healed phase: every worker receives the last
generation, nothing fails, and every send, retry and record must come to rest, or the run names them as pending.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from rebalance_check.impl.connect.status.codec import ConnectorKey, Status, TaskKey, TopicKey, TopicValue
from rebalance_check.impl.connect.status.shared_log import SharedLog
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.faults import draw_plan
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.runtime.recorder import LastNumbers, Recorder
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.connect.addresses import address_of
from rebalance_check.impl.simulator.connect.status_churn import DRAWS, OF_ALL_WORKERS, OF_TASKS, OF_THE_GROUP
from rebalance_check.impl.simulator.connect.status_worker import Key, StatusEnvironment, WorkerProcess
from rebalance_check.model.vocabulary.actions import STATUS_CHURN, Action, ActionKind
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
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
HEALING_MS: Final = 600_000
PARTITIONS: Final = 3
TOPIC: Final = "t"
"""The topic that the tasks of the first connector use."""


class StatusCluster:
    """The workers, the topic, and the group that moves from generation to generation."""

    def __init__(self, seed: int, options: SimulationOptions, listener: Callable[[Event], None]) -> None:
        self.clock = VirtualClock()
        self._numbers = LastNumbers(listener)
        self.harness = self._recorder("harness")
        self._seed = seed
        self._random = stream(seed, "status start")
        self._environment = StatusEnvironment(
            self.clock, stream(seed, "status delays"), draw_plan(seed, options), self._pump_readers
        )
        self._log = SharedLog(PARTITIONS, self._recorder("log"))
        self._eager = stream(seed, "status protocol").random() < 0.5
        self._tasks = [TaskKey(f"c{i // 2}", i % 2) for i in range(options.partitions)]
        self._deleted: set[str] = set()
        self._incarnations = [0] * options.members
        self._generation = 0
        self.harness.emit(
            RunStarted(subject="simulator", seed=seed, bounds=options.summary(), mutant=options.mutant, punctual=True)
        )
        self._pending: tuple[str, ...] = ()
        self.workers = [self._start(slot) for slot in range(options.members)]
        self._rebalance()

    def _recorder(self, source: str) -> Recorder:
        return Recorder(GROUP, source, self.clock.now, self._numbers)

    def _start(self, slot: int) -> WorkerProcess:
        """A new process in a slot: the same worker id, an empty cache, and the topic to be read from its beginning."""
        self._incarnations[slot] += 1
        name = f"w{slot}" if self._incarnations[slot] == 1 else f"w{slot}/{self._incarnations[slot]}"
        recorder = self._recorder(name)
        self.harness.emit(MemberStarted(member=name))
        worker = WorkerProcess(
            name,
            address_of(self._seed, f"w{slot}", slot),
            log=self._log,
            environment=self._environment,
            recorder=recorder,
        )
        worker.pump()
        return worker

    def _pump_readers(self) -> None:
        for worker in self.workers:
            if worker.alive:
                worker.pump()

    # -------------------------------------------------------------------------------------------- the group

    @property
    def configured(self) -> list[Key]:
        """The connectors and tasks that are not deleted, sorted."""
        tasks = [task for task in self._tasks if task.connector not in self._deleted]
        return [*[ConnectorKey(name) for name in sorted({task.connector for task in tasks})], *tasks]

    def _rebalance(self, *, at_once: bool = False) -> None:
        """The next generation: every item goes to a random worker, which receives it after a delay of its own."""
        self._generation += 1
        members = [worker for worker in self.workers if worker.running]
        if not members:
            return
        owner = {key: self._random.choice(members) for key in self.configured}
        for worker in members:
            owned = [key for key in owner if owner[key] is worker]
            delay = 0 if at_once else self._random.randint(0, self._environment.plan.delay_ms)
            leads = worker is members[0]
            self.clock.after(delay, partial(self._assign, worker, self._generation, owned, leads))

    def _assign(self, worker: WorkerProcess, generation: int, owned: list[Key], leads: bool) -> None:
        if not worker.running:
            return
        worker.assign(generation, owned, eager=self._eager)
        if leads:
            worker.clean_up(self.configured)

    # -------------------------------------------------------------------------------------------- churn

    def perform(self, action: Action) -> None:
        """One thing happens; nothing where the worker is not in the state for it, or has nothing that it concerns.

        Raises `RebalanceCheckError` for an action of groups of consumers.
        """
        if action.kind not in STATUS_CHURN:
            raise RebalanceCheckError(
                f"a cluster of status stores does not understand {action.kind}: choose one of "
                f"{', '.join(sorted(STATUS_CHURN))}"
            )
        self._environment.struck.note_churn(action, self._environment.plan)
        if action.kind is ActionKind.ADVANCE_CLOCK:
            self.clock.run_until(self.clock.now_ms + action.choice)
        elif action.kind is ActionKind.HEAL:
            self._heal()
        elif action.kind is ActionKind.COMPACT_TOPIC:
            self._log.compact()
        elif action.kind in OF_THE_GROUP:
            self._change_group(action)
        elif action.kind in OF_ALL_WORKERS:
            self._bring_back(action.kind, action.member)
        elif self.workers[action.member].running:
            self._happen_to(self.workers[action.member], action)

    def _change_group(self, action: Action) -> None:
        """A connector is deleted or created, or the group loses its generation; then everything is spread anew."""
        _, share, self._random = DRAWS.take(self._seed, action.choice)
        names = sorted({task.connector for task in self._tasks})
        name = names[int(share * len(names))]
        if action.kind is ActionKind.RESET_GROUP:
            self._generation = 0
        elif action.kind is ActionKind.DELETE_CONNECTOR:
            self._deleted.add(name)
        elif action.kind is ActionKind.CREATE_CONNECTOR:
            self._deleted.discard(name)
        self._rebalance()

    def _bring_back(self, kind: ActionKind, slot: int) -> None:
        """Start a worker that crashed or stopped, resume one that is paused."""
        worker = self.workers[slot]
        if kind is ActionKind.START_MEMBER and (not worker.alive or worker.store.stopped):
            self.workers[slot] = self._start(slot)
        elif kind is ActionKind.RESUME_MEMBER and worker.alive and worker.paused:
            self.harness.emit(MemberResumed(member=worker.name))
            worker.resume()

    def _happen_to(self, worker: WorkerProcess, action: Action) -> None:
        """Something happens to one worker that runs."""
        match action.kind:
            case ActionKind.CRASH_MEMBER:
                self.harness.emit(MemberCrashed(member=worker.name))
                worker.crash()
            case ActionKind.PAUSE_MEMBER:
                self.harness.emit(MemberPaused(member=worker.name))
                worker.pause()
            case ActionKind.STOP_MEMBER:
                worker.store.stop()
                self.harness.emit(MemberLeft(member=worker.name))
            case ActionKind.FLUSH_STORE if not worker.store.flushing:
                worker.store.flush()
            case ActionKind.QUERY_STATUS:
                self._query(worker)
            case ActionKind.PUT_TOPIC_STATUS:
                worker.store.put_topic(TopicValue(TOPIC, "c0", 0, self.clock.now_ms))
                worker.pump()
            case ActionKind.DELETE_TOPIC_STATUS:
                worker.store.delete_topic(TopicKey(TOPIC, "c0"))
                worker.pump()
            case _ if action.kind in OF_TASKS and worker.owned:
                _, _, random = DRAWS.take(self._seed, action.choice)
                self._happen_to_task(worker, action.kind, random.choice(sorted(worker.owned, key=str)))

    def _happen_to_task(self, worker: WorkerProcess, kind: ActionKind, task: Key) -> None:
        """Something happens to a connector or a task that the worker owns."""
        if kind is ActionKind.FAIL_TASK:
            worker.fail(task)
        elif kind is ActionKind.PAUSE_TASK:
            worker.write(task, Status.PAUSED, safe=False)
        else:
            worker.restart(task)

    def _query(self, worker: WorkerProcess) -> None:
        """A REST request for the status of everything asks for these, deleted or not."""
        connectors = [ConnectorKey(name) for name in sorted({task.connector for task in self._tasks})]
        keys: list[ConnectorKey | TaskKey] = [*connectors, *self._tasks]
        for key in keys:
            worker.store.get(key)
        worker.store.connectors()
        for connector in connectors:
            worker.store.tasks(connector.connector)
            worker.store.get_topic(TopicKey(TOPIC, connector.connector))
            worker.store.topics(connector.connector)

    # -------------------------------------------------------------------------------------------- healing

    def _heal(self) -> None:
        """Every fault stops: all workers run again, the group rebalances once more, and the run waits for the end."""
        self._environment.heal()
        for kind in (ActionKind.RESUME_MEMBER, ActionKind.START_MEMBER):
            for slot in range(len(self.workers)):
                self._bring_back(kind, slot)
        self._random = stream(self._seed, "status healing")
        self._rebalance(at_once=True)
        self.clock.run_until(self.clock.now_ms + HEALING_MS)
        for worker in self.workers:
            self._query(worker)
        self._pending = tuple(reason for worker in self.workers for reason in worker.pending)

    def close(self) -> None:
        """End the run; `RunEnded` names work that was unsettled when it was healed."""
        struck = self._environment.struck.noted()
        self.harness.emit(RunEnded(pending=self._pending, last=self._numbers.attested, struck=struck))
