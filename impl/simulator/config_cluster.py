"""Config stores of a few workers over one compacted topic, simulated from one seed, without a group around them.

One worker leads and writes; leaders change, also while the one before goes on writing. Sends, transactions and
reads are done step by step, workers end between any two of them, the topic is compacted, others write what Connect
never does. In the end every step is done and every worker has read to the end.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from rebalance_check.impl.connect.config.channel import ConfigChannel
from rebalance_check.impl.connect.config.log import ExactlyOnce
from rebalance_check.impl.connect.config.shared_log import SharedConfigLog
from rebalance_check.impl.connect.config.store import ConfigStore
from rebalance_check.impl.connect.config.values import ConfigRecord, RestartRequest, SessionKey, TargetState
from rebalance_check.impl.runtime.clock import VirtualClock
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.model.vocabulary.events import Event, MemberCrashed, MemberStarted, RunEnded, RunStarted

GROUP: Final = "connect"
WORKERS: Final = 3
CONNECTORS: Final = ("a", "b-1")
_STEP_MS: Final = 40
_ODD: Final = (
    ConfigRecord("connector-a", b"{"),
    ConfigRecord("task-a-0", b'{"properties":7}'),
    ConfigRecord("commit-nobody", b'{"tasks":1}'),
    ConfigRecord("target-state-a", None),
    ConfigRecord("target-state-a", b'{"state":"SLEEPING"}'),
    ConfigRecord("surprise", b"{}"),
    ConfigRecord("task-a-1", b'{"properties":{"v":"odd"}}'),
    ConfigRecord("commit-a", b'{"tasks":1}'),
    ConfigRecord("commit-a", b'{"tasks":3}'),
)
"""What no worker writes: readers pass most of it over."""


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
        self.store.start()


class ConfigCluster:
    """The topic, its readers, and who writes."""

    def __init__(self, seed: int, listener: Callable[[Event], None]) -> None:
        self.clock = VirtualClock()
        self.listener = listener
        self.random = stream(seed, "configs")
        self.exactly_once = self.random.choice(tuple(ExactlyOnce))
        self.harness = Recorder(GROUP, "harness", self.clock.now, listener)
        self.topic = SharedConfigLog(Recorder(GROUP, "log", self.clock.now, listener))
        self.harness.emit(RunStarted(subject="config stores", seed=seed))
        self.incarnations = [0] * WORKERS
        self.workers = [self._start(slot) for slot in range(WORKERS)]
        self.leader = 0

    def _start(self, slot: int) -> _Worker:
        self.incarnations[slot] += 1
        worker = _Worker(self, slot, self.incarnations[slot])
        self.harness.emit(MemberStarted(member=worker.name))
        return worker

    # -------------------------------------------------------------------------------------------- what may happen

    def step(self) -> None:
        """One random thing happens."""
        self.clock.run_until(self.clock.now_ms + self.random.randrange(_STEP_MS))
        does: list[tuple[int, Callable[[], None]]] = [
            (12, self._write),
            (60, self._go_on),
            (8, self._look),
            (2, self._change_leader),
            (2, self._crash),
            (2, self._compact),
            (4, self._write_oddly),
            (1, self._lose_time),
        ]
        self.random.choices([do for _, do in does], [weight for weight, _ in does])[0]()

    def _write(self) -> None:
        """The leader writes when it is not busy; any worker may write a target state."""
        random, store = self.random, self.workers[self.leader].store
        name = random.choice(CONNECTORS)
        if random.random() < 0.25:
            random.choice(self.workers).store.put_target_state(name, random.choice(tuple(TargetState)))
            return
        if store.calls or not store.started:
            return
        configs = [{"v": str(random.randrange(3)), "n": str(number)} for number in range(random.randrange(4))]
        calls: list[tuple[int, Callable[[], object]]] = [
            (
                4,
                lambda: store.put_connector(name, {"v": str(random.randrange(3))}, random.choice((None, *TargetState))),
            ),
            (8, lambda: store.put_tasks(name, configs)),
            (2, lambda: store.remove_connector(name)),
            (3, lambda: store.put_task_count(name, random.randrange(4))),
            (1, lambda: store.put_session_key(SessionKey(b"secret", "HmacSHA256", self.clock.now_ms))),
            (1, lambda: store.put_restart(RestartRequest(name, random.random() < 0.5, random.random() < 0.5))),
        ]
        random.choices([call for _, call in calls], [weight for weight, _ in calls])[0]()

    def _go_on(self) -> None:
        """One step of one worker: its producers or its reader."""
        chosen = self.random.choice(self.workers) if self.random.random() < 0.5 else self.workers[self.leader]
        channel = chosen.channel
        if channel.claims:
            channel.claim()
        elif channel.sending and self.random.random() < 0.7:
            self._send(channel, self.random)
        else:
            channel.poll(self.random.randrange(1, 8))
            channel.serve_end()

    @staticmethod
    def _send(channel: ConfigChannel, random: Random) -> None:
        sending = channel.sending[0]
        if random.random() < 0.02 or (sending.send.transaction and channel.fenced):
            channel.fail(sending)
        elif sending.complete:
            channel.answer(sending)
        else:
            channel.append(sending)

    def _look(self) -> None:
        """A worker takes a snapshot."""
        self.random.choice(self.workers).store.snapshot()

    def _change_leader(self) -> None:
        """Another worker leads from now on; the one before finishes what it began."""
        self.leader = self.random.randrange(WORKERS)
        self.workers[self.leader].store.claim_privileges()

    def _crash(self) -> None:
        """A worker ends and starts anew."""
        slot = self.random.randrange(WORKERS)
        self.workers[slot].channel.close()
        self.harness.emit(MemberCrashed(member=self.workers[slot].name))
        self.workers[slot] = self._start(slot)
        if slot == self.leader:
            self.workers[slot].store.claim_privileges()

    def _compact(self) -> None:
        """Tombstones go when no reader needs them any more, as after ``delete.retention.ms``."""
        below = self.random.choice((None, self.random.randrange(self.topic.end + 1)))
        needed = any(worker.channel.position < self.topic.end for worker in self.workers)
        self.topic.compact(below, tombstones=needed or self.random.random() < 0.5)

    def _write_oddly(self) -> None:
        if self.exactly_once is ExactlyOnce.DISABLED:
            self.topic.append("somebody", self.random.choice(_ODD))

    def _lose_time(self) -> None:
        """Calls that take too long fail."""
        self.clock.run_until(self.clock.now_ms + 20_000)
        for worker in self.workers:
            worker.store.expire()

    # -------------------------------------------------------------------------------------------- the end

    def settle(self) -> None:
        """Everything under way is done, and every worker has read to the end and takes a snapshot."""
        for worker in self.workers:
            worker.channel.prompt = True
            worker.channel.pump()
        for worker in self.workers:
            worker.store.refresh(1000).result()
            worker.store.snapshot()
        self.harness.emit(RunEnded())


def simulate_configs(seed: int, steps: int = 200) -> list[Event]:
    """The history of one run of config stores.

    Raises: RebalanceCheckError when a worker cannot read to the end although nothing fails any more.
    """
    events: list[Event] = []
    cluster = ConfigCluster(seed, events.append)
    for _ in range(steps):
        cluster.step()
    cluster.settle()
    return events
