"""Config stores of a few workers over one compacted topic, simulated from one seed, without a group around them.

One worker leads and writes; leaders change, also while the one before goes on writing. Sends, transactions and
reads are done step by step, workers end between any two of them, the topic is compacted, others write as Connect
never does (`config_churn` draws all that). In the end every step is done and every worker has read to the end.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from rebalance_check.impl.connect.config.channel import ConfigChannel
from rebalance_check.impl.connect.config.errors import ConfigStoreError
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.shared_log import SharedConfigLog
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.values import ConfigRecord, RestartRequest, SessionKey, TargetState
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.faults import draw_plan
from rebalance_check.impl.runtime.options import FaultKind, SimulationOptions
from rebalance_check.impl.runtime.recorder import LastNumbers, Recorder
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.connect.config_churn import DRAWS
from rebalance_check.impl.simulator.struck import Struck
from rebalance_check.model.vocabulary.actions import CONFIG_CHURN, Action, ActionKind
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, MemberCrashed, MemberStarted, RunEnded, RunStarted

GROUP: Final = "connect"
CONNECTORS: Final = ("a", "b-1")
_STEP_MS: Final = 40
_MOST_STEPS: Final = 16
_TARGETS: Final = tuple(TargetState)
_EXPIRY_MS: Final = 20_000
_ODD: Final = (
    ConfigRecord("connector-a", b"{"),
    ConfigRecord("task-a-0", b'{"properties":7}'),
    ConfigRecord("commit-unknown", b'{"tasks":1}'),
    ConfigRecord("target-state-a", None),
    ConfigRecord("target-state-a", b'{"state":"SLEEPING"}'),
    ConfigRecord("surprise", b"{}"),
    ConfigRecord("task-a-1", b'{"properties":{"v":"odd"}}'),
    ConfigRecord("commit-a", b'{"tasks":1}'),
    ConfigRecord("commit-a", b'{"tasks":3}'),
)
"""Records that no worker writes: readers pass most of them over."""


class _Worker:
    """One worker process: its store and the log under it."""

    def __init__(self, cluster: ConfigCluster, slot: int, incarnation: int) -> None:
        self.name = f"w{slot}" if incarnation == 1 else f"w{slot}/{incarnation}"
        recorder = Recorder(GROUP, self.name, cluster.clock.now, cluster.listener)
        committed = cluster.exactly_once is ExactlyOnce.ENABLED
        self.channel = ConfigChannel(cluster.topic, self.name, prompt=False, committed=committed)
        self.store = ConfigStore(
            self.name, self.channel, recorder, now=cluster.clock.now, exactly_once=cluster.exactly_once
        )
        self.channel.store = self.store
        self.alive = True

    def crash(self) -> None:
        """The process dies."""
        self.alive = False
        self.channel.close()


class ConfigCluster:
    """The topic, its readers, and the workers that write."""

    def __init__(self, seed: int, options: SimulationOptions, listener: Callable[[Event], None]) -> None:
        self.clock = VirtualClock()
        self.listener = LastNumbers(listener)
        self.exactly_once = stream(seed, "configs").choice(tuple(ExactlyOnce))
        self.harness = Recorder(GROUP, "harness", self.clock.now, self.listener)
        self.topic = SharedConfigLog(Recorder(GROUP, "log", self.clock.now, self.listener))
        self.harness.emit(
            RunStarted(subject="simulator", seed=seed, bounds=options.summary(), mutant=options.mutant, punctual=True)
        )
        self._seed = seed
        self._plan = draw_plan(seed, options)
        self._struck = Struck()
        self._most_tasks = options.partitions
        self._incarnations = [0] * options.members
        self._pending: tuple[str, ...] = ()
        self.workers = [self._start(slot) for slot in range(options.members)]
        self.leader = 0

    def _start(self, slot: int) -> _Worker:
        self._incarnations[slot] += 1
        worker = _Worker(self, slot, self._incarnations[slot])
        self.harness.emit(MemberStarted(member=worker.name))
        worker.store.start()
        return worker

    # -------------------------------------------------------------------------------------------- churn

    def perform(self, action: Action) -> None:
        """One thing happens; nothing where the worker that it concerns is down.

        Raises `RebalanceCheckError` for an action that config stores do not understand.
        """
        if action.kind not in CONFIG_CHURN:
            raise RebalanceCheckError(
                f"config stores do not understand {action.kind}: choose one of {', '.join(sorted(CONFIG_CHURN))}"
            )
        self._struck.note_churn(action, self._plan)
        if action.kind is ActionKind.HEAL:
            self._settle()
        elif action.kind is ActionKind.START_MEMBER:
            self._start_again(action.member)
        else:
            _, _, random = DRAWS.take(self._seed, action.choice)
            self._let_time_pass(random.randrange(_STEP_MS))
            self._happen(action, random)

    def _happen(self, action: Action, random: Random) -> None:
        match action.kind:
            case ActionKind.COMPACT_CONFIGS:
                self._compact(random)
            case ActionKind.APPEND_ODDLY if self.exactly_once is ExactlyOnce.DISABLED:
                self.topic.append("another client", random.choice(_ODD))
            case ActionKind.EXPIRE_CALLS:
                self._let_time_pass(_EXPIRY_MS)
            case ActionKind.CHANGE_LEADER:
                self.leader = action.member
                self._claim(self.workers[action.member])
            case _ if self.workers[action.member].alive:
                self._happen_to(self.workers[action.member], action.kind, random)

    def _happen_to(self, worker: _Worker, kind: ActionKind, random: Random) -> None:
        """Something happens to one worker that runs, or in its place to the leader."""
        leader = self.workers[self.leader]
        match kind:
            case ActionKind.CRASH_MEMBER:
                worker.crash()
                self.harness.emit(MemberCrashed(member=worker.name))
            case ActionKind.TAKE_SNAPSHOT:
                worker.store.snapshot()
            case ActionKind.WRITE_CONFIGS if random.random() < 0.25:
                worker.store.put_target_state(random.choice(CONNECTORS), random.choice(_TARGETS))
            case ActionKind.WRITE_CONFIGS if leader.alive:
                self._write(leader.store, random)
            case ActionKind.STEP_STORE:
                chosen = leader if leader.alive and random.random() < 0.5 else worker
                for _ in range(random.randrange(1, _MOST_STEPS)):
                    self._step(chosen.channel, random)

    def _start_again(self, slot: int) -> None:
        """A worker that crashed starts anew; one that leads claims the topic."""
        if not self.workers[slot].alive:
            self.workers[slot] = self._start(slot)
            if slot == self.leader:
                self._claim(self.workers[slot])

    @staticmethod
    def _claim(worker: _Worker) -> None:
        if worker.alive:
            worker.store.claim_privileges()

    def _write(self, store: ConfigStore, random: Random) -> None:
        """The leader writes when it is not busy."""
        if store.calls or not store.started:
            return
        name = random.choice(CONNECTORS)
        configs = [
            {"v": str(random.randrange(3)), "n": str(number)} for number in range(random.randrange(self._most_tasks))
        ]
        target = random.choice((None, *_TARGETS))
        calls: list[tuple[int, Callable[[], object]]] = [
            (4, lambda: store.put_connector(name, {"v": str(random.randrange(3))}, target)),
            (8, lambda: store.put_tasks(name, configs)),
            (2, lambda: store.remove_connector(name)),
            (3, lambda: store.put_task_count(name, random.randrange(4))),
            (1, lambda: store.put_session_key(SessionKey(b"secret", "HmacSHA256", self.clock.now_ms))),
            (1, lambda: store.put_restart(RestartRequest(name, random.random() < 0.5, random.random() < 0.5))),
        ]
        random.choices([call for _, call in calls], [weight for weight, _ in calls])[0]()

    def _step(self, channel: ConfigChannel, random: Random) -> None:
        """One step of one worker: its producers or its reader."""
        if channel.claims:
            channel.claim()
        elif channel.sending and random.random() < 0.7:
            self._send(channel, random)
        else:
            channel.poll(random.randrange(1, 8))
            channel.serve_end()

    def _send(self, channel: ConfigChannel, random: Random) -> None:
        sending = channel.sending[0]
        if lost := random.random() < self._plan.drop:
            self._struck.note(FaultKind.DROP)
        if lost or (sending.send.transaction and channel.fenced):
            channel.fail(sending)
        elif sending.complete:
            channel.answer(sending)
        else:
            channel.append(sending)

    def _compact(self, random: Random) -> None:
        """Tombstones go when no reader needs them any more, as after ``delete.retention.ms``."""
        below = random.choice((None, random.randrange(self.topic.end + 1)))
        needed = any(worker.channel.position < self.topic.end for worker in self.workers if worker.alive)
        self.topic.compact(below, tombstones=needed or random.random() < 0.5)

    def _let_time_pass(self, for_ms: int) -> None:
        """Calls whose time is over fail: the thread that made such a call waits for no longer."""
        self.clock.run_until(self.clock.now_ms + for_ms)
        for worker in self.workers:
            if worker.alive:
                worker.store.expire()

    # -------------------------------------------------------------------------------------------- the end

    def _settle(self) -> None:
        """Everything under way is done, and every worker has read to the end and takes a snapshot."""
        for slot in range(len(self.workers)):
            self._start_again(slot)
        for worker in self.workers:
            worker.channel.prompt = True
            worker.channel.pump()
        self._pending = tuple(reason for worker in self.workers for reason in self._read_to_the_end(worker))

    @staticmethod
    def _read_to_the_end(worker: _Worker) -> list[str]:
        """The obstacle between a worker and the end of the topic; the snapshot that it takes then is recorded."""
        try:
            worker.store.refresh(1000).result()
        except ConfigStoreError as error:
            return [f"{worker.name} has not read to the end: {error}"]
        worker.store.snapshot()
        return []

    def close(self) -> None:
        """End the run; `RunEnded` names work that was unsettled when it was healed."""
        self.harness.emit(RunEnded(pending=self._pending, last=self.listener.attested, struck=self._struck.noted()))
