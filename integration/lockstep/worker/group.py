"""Workers as members of one group on virtual Kafka: their requests and its answers are carried to and fro as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.integration.lockstep.worker.compare import FRAMES, SteppedWorker
from rebalance_check.integration.lockstep.worker.steps import START_MS, STEP_MS, Seen, Step
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

_TOGETHER: Final = ("requests", "calls")
"""What is seen in parts, and belongs together; of everything else the latest counts."""

_ROUNDS: Final = 6
"""So often frames go to and fro at one instant, at most; what comes back then arrives at the next exchange. Workers
whose leader is behind the config topic join again at once and for ever (CONFIG_MISMATCH)."""


class WorkerGroup:
    """The workers of one side, and the virtual Kafka on which they are a group. All have one virtual time.

    ``workers`` perform the steps, Kafka's or ours, by their names, which are also their client ids. ``seed`` decides
    the member ids that Kafka makes: two sides with the same seed and the same schedule have the same ids.
    """

    def __init__(
        self, name: str, kafka: VirtualKafka, workers: Mapping[str, SteppedWorker], config: GroupConfig, seed: int
    ) -> None:
        self.name = name
        self._kafka = kafka
        self._environment = kafka.environment()
        self._environment.reset(seed, {}, config.settings)
        self._workers = workers
        self._now_ms = START_MS
        self._node = self._epoch = 0
        self._incarnations = dict.fromkeys(workers, 0)
        self._running: set[str] = set()
        self._held: set[str] = set()
        self._requests: list[tuple[str, int, bytes]] = []
        self._asked: dict[int, tuple[str, int, int]] = {}
        self._replies: list[tuple[str, int, bytes]] = []
        self._seen: dict[str, Seen] = {}
        self.frames = 0

    def close(self) -> None:
        """Give the environment back."""
        self._kafka.give_back(self._environment)

    @property
    def now_ms(self) -> int:
        """The virtual time of workers and coordinator, in ms from the start."""
        return self._now_ms - START_MS

    # ------------------------------------------------------------------------------------------- what is done

    def start(self, worker: str, options: Step) -> None:
        """A new process of this name begins; ``options`` are those of the step ``reset``."""
        self._incarnations[worker] += 1
        self._running.add(worker)
        self._perform(worker, {"do": "reset", "now": self._now_ms, **options})
        self.exchange()

    def kill(self, worker: str) -> None:
        """The process is gone without a word; what it has sent still arrives."""
        self._running.discard(worker)
        self._held.discard(worker)
        self._replies = [entry for entry in self._replies if entry[0] != worker]

    def perform(self, worker: str, step: Step) -> None:
        """One worker does a step of its own (a poll, a rejoin, new configs), and what it sends is answered."""
        self._perform(worker, step)
        self.exchange()

    def disconnect(self, worker: str) -> None:
        """The connection of a worker breaks: what is on its way to it is lost."""
        self._forget(worker)
        self._perform(worker, {"do": "disconnect"})

    def hold(self, worker: str, *, holds: bool) -> None:
        """The network keeps what a worker sends and gets, or delivers it again."""
        (self._held.add if holds else self._held.discard)(worker)
        self.exchange()

    def resign(self) -> None:
        """The coordinator gives the group up; requests are refused until `elect`."""
        self._epoch += 1
        self._environment.order(f"resign {self._epoch}", self._node)

    def elect(self) -> None:
        """The other node becomes the coordinator, with the whole journal."""
        before, self._node = self._node, 1 - self._node
        self._epoch += 1
        self._environment.order(f"replica {before} 0 unclean", self._node)
        self._environment.order(f"elect {self._epoch}", self._node)

    def pass_time(self, ticks: int, *, sends: bool = True) -> None:
        """Let time pass for the coordinator and every worker, then carry what they sent, unless ``sends`` is False."""
        self._now_ms += ticks * STEP_MS
        self._environment.order(f"advance {ticks * STEP_MS}", self._node)
        for worker in sorted(self._running):
            self._perform(worker, {"do": "step", "times": ticks})
        if sends:
            self.exchange()

    def take_seen(self) -> dict[str, Seen]:
        """What was seen of each worker since the last call."""
        taken, self._seen = self._seen, {}
        return taken

    # ------------------------------------------------------------------------------------------- frames

    def exchange(self) -> None:
        """Carry requests and replies until there are none that the network does not hold, or for so many rounds.

        Raises: RebalanceCheckError when Kafka's coordinator throws what no reply reports.
        """
        for _ in range(_ROUNDS):
            self._post()
            self._collect()
            ready = [entry for entry in self._replies if entry[0] not in self._held]
            self._replies = [entry for entry in self._replies if entry[0] in self._held]
            for worker, correlation, body in ready:
                self._perform(worker, {"do": "reply", "correlation": correlation, "frame": body.hex()})
            if not ready:
                return

    def _perform(self, worker: str, step: Step) -> None:
        seen = self._workers[worker].perform({**step, "worker": worker, "run": self.name})
        self._requests += [(worker, number, bytes.fromhex(frame)) for number, frame in seen[FRAMES]]
        before = self._seen.get(worker)
        if before is not None:
            for name in _TOGETHER:
                seen[name] = [*before[name], *seen[name]]
            seen["raised"] = before["raised"] + seen["raised"]
        self._seen[worker] = seen

    def _post(self) -> None:
        """Requests go to the coordinator in the order in which they were sent."""
        waiting, self._requests = self._requests, []
        for worker, correlation, frame in waiting:
            if worker in self._held:
                self._requests.append((worker, correlation, frame))
                continue
            number = self._environment.post(frame, self._node, awaited=True)
            self._asked[number] = (worker, self._incarnations[worker], correlation)
            self._environment.answer(number)
            self.frames += 1

    def _collect(self) -> None:
        self._environment.control("pending", self._node)
        if self._environment.thrown:
            raise RebalanceCheckError(f"{self.name}: Kafka's coordinator threw {self._environment.thrown[0]}")
        for number, body in self._environment.take_replies():
            worker, incarnation, correlation = self._asked.pop(number, ("", 0, 0))
            if worker in self._running and incarnation == self._incarnations[worker]:
                if body is None:
                    raise RebalanceCheckError(f"{self.name}: virtual Kafka cannot read a request of {worker}")
                self._replies.append((worker, correlation, body))

    def _forget(self, worker: str) -> None:
        self._asked = {number: asked for number, asked in self._asked.items() if asked[0] != worker}
        self._replies = [entry for entry in self._replies if entry[0] != worker]
        self._requests = [entry for entry in self._requests if entry[0] != worker]
