"""Workers as members of one group on virtual Kafka: their requests and its answers are carried to and fro as bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from rebalance_check.impl.comparison.compare import Side
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.integration.comparison.workers.steps import FRAMES, START_MS, STEP_MS, GroupAction, Seen, Step
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

_TOGETHER: Final = ("requests", "calls")
"""Observations that come in parts, and belong together; of everything else the latest counts."""

_ROUNDS: Final = 6
"""So often frames go to and fro at one instant, at most; later answers arrive at the next exchange. Workers
whose leader is behind the config topic join again at once and for ever (CONFIG_MISMATCH)."""


class WorkerGroup:
    """The workers of one side, and the virtual Kafka on which they are a group. All have one virtual time.

    ``workers`` perform the steps, Kafka's or ours, by their names, which are also their client ids. ``seed`` decides
    the member ids that Kafka makes: two sides with the same seed and the same schedule have the same ids.
    """

    def __init__(
        self, name: str, kafka: VirtualKafka, workers: Mapping[str, Side], config: GroupConfig, seed: int
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
        self.reached: Counter[str] = Counter()
        """The leaders of the assignments that were taken over, and by which worker; and the herders' actions."""

    def close(self) -> None:
        """Give the environment back."""
        self._kafka.give_back(self._environment)

    # ------------------------------------------------------------------------------------------- actions

    def perform(self, action: GroupAction) -> dict[str, Seen]:
        """Do an action; the observations of each worker since the one before."""
        match action.do:
            case "start":
                self._start(action.worker, action.step)
            case "kill":
                self._kill(action.worker)
            case "perform":
                self._let(action.worker, action.step)
                self._exchange()
            case "disconnect":
                self._disconnect(action.worker)
            case "hold" | "release":
                (self._held.add if action.do == "hold" else self._held.discard)(action.worker)
                self._exchange()
            case "resign":
                self._resign()
            case "elect":
                self._elect()
            case "wait":
                self._exchange()
                self._pass_time(action.ticks)
            case _:
                self._pass_time(action.ticks)
                self._exchange()
        taken, self._seen = self._seen, {}
        self._count(taken)
        return taken

    def _count(self, taken: Mapping[str, Seen]) -> None:
        for worker, seen in taken.items():
            for call in seen["calls"]:
                leader = call.get("assignment", {}).get("leader")
                if call["call"] == "assigned" and leader:
                    self.reached[f"{self.name}: {worker} took over what {leader.partition('-')[0]} assigned"] += 1
                elif "work" in call:
                    self.reached[f"{self.name}: {call['call']}"] += 1

    def _start(self, worker: str, options: Step) -> None:
        """A new process of this name begins; ``options`` are those of the step ``reset``."""
        self._incarnations[worker] += 1
        self._running.add(worker)
        self._let(worker, {"do": "reset", "now": self._now_ms, **options})
        self._exchange()

    def _kill(self, worker: str) -> None:
        """The process is gone without a word; its requests on the way still arrive."""
        self._running.discard(worker)
        self._held.discard(worker)
        self._replies = [entry for entry in self._replies if entry[0] != worker]

    def _disconnect(self, worker: str) -> None:
        """The connection of a worker breaks: replies on the way to it are lost."""
        self._forget(worker)
        self._let(worker, {"do": "disconnect"})

    def _resign(self) -> None:
        """The coordinator gives the group up; requests are refused until `elect`."""
        self._epoch += 1
        self._environment.order(f"resign {self._epoch}", self._node)

    def _elect(self) -> None:
        """The other node becomes the coordinator, with the whole journal."""
        before, self._node = self._node, 1 - self._node
        self._epoch += 1
        self._environment.order(f"replica {before} 0 unclean", self._node)
        self._environment.order(f"elect {self._epoch}", self._node)

    def _pass_time(self, ticks: int) -> None:
        """Let time pass for the coordinator and every worker."""
        self._now_ms += ticks * STEP_MS
        self._environment.order(f"advance {ticks * STEP_MS}", self._node)
        for worker in sorted(self._running):
            self._let(worker, {"do": "step", "times": ticks})

    # ------------------------------------------------------------------------------------------- frames

    def _exchange(self) -> None:
        """Carry requests and replies until there are none that the network does not hold, or for so many rounds.

        Raises: RebalanceCheckError when Kafka's coordinator throws an exception that no reply reports.
        """
        for _ in range(_ROUNDS):
            self._post()
            self._collect()
            ready = [entry for entry in self._replies if entry[0] not in self._held]
            self._replies = [entry for entry in self._replies if entry[0] in self._held]
            for worker, correlation, body in ready:
                self._let(worker, {"do": "reply", "correlation": correlation, "frame": body.hex()})
            if not ready:
                return

    def _let(self, worker: str, step: Step) -> None:
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
            number = self._environment.post(frame, self._node)
            self._asked[number] = (worker, self._incarnations[worker], correlation)
            self._environment.answer(number)

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
