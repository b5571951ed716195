"""Random schedules for a group of workers: processes come and go, configs change, network and coordinator fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Final

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.integration.comparison.workers.sequences import CONNECTORS, MODES, MOST_TASKS, OWNERS
from rebalance_check.integration.comparison.workers.steps import STEP_MS, GroupAction, Seen, Step

OUTAGE_TICKS: Final = 12
"""How long all workers wait, in ticks, after an error that makes one look the coordinator up (docs/differences.md)."""

_DELAYS_MS: Final = (0, 5_000, 20_000)
_HOLDS_MS: Final = 2_000
_PASS_TICKS: Final = (1, 5, 10, 31)
_COUNTS: Final = ({"c0": 2, "c1": 1}, {"c0": 3}, {"c0": 1, "c1": 1, "c2": 2})


class GroupSchedule:
    """The actions of one seed for ``workers``. Each depends on the observations so far: hand them to `observe`.

    Every worker's herder is this schedule's: it polls whenever it is not stalled, reads the config topic late, and
    requests a rejoin where Kafka's herder does (after a revocation, at the end of the delay, for new connectors).
    """

    def __init__(self, seed: int, actions: int, workers: tuple[str, ...]) -> None:
        self._random = Random(seed)
        self._actions = actions
        self._names = workers
        self.config = GroupConfig(
            min_session_timeout_ms=1_000, initial_rebalance_delay_ms=self._random.choice((0, 3_000))
        )
        self._delay_ms = self._random.choice(_DELAYS_MS)
        self._offset, self._counts = 1, self._draw_counts()
        self._common = ConnectMode.SESSIONED if self._random.random() < 0.7 else None
        self._read: dict[str, int] = {}
        self._running: list[str] = []
        self._stalled: set[str] = set()
        self._held: dict[str, int] = {}
        self._inside: dict[str, bool] = {}
        self._rejoins: dict[str, int] = {}
        self._now_ms = 0

    def observe(self, seen: Mapping[str, Seen]) -> None:
        """Learn from the last action."""
        for worker, one in seen.items():
            self._inside[worker] = one["inside"]
            for call in one["calls"]:
                self._learn(worker, call)

    def _learn(self, worker: str, call: Seen) -> None:
        """The herder takes an assignment over: note when it joins again."""
        if call["call"] != "assigned":
            return
        assignment = call["assignment"]
        if assignment["revoked_connectors"] or assignment["revoked_tasks"]:
            self._rejoins[worker] = self._now_ms
        elif assignment["delay"]:
            self._rejoins[worker] = self._now_ms + assignment["delay"]

    def __iter__(self) -> Iterator[GroupAction]:
        for action in self._all():
            self._now_ms += action.ticks * STEP_MS
            yield action

    def _all(self) -> Iterator[GroupAction]:
        yield self._start(self._names[0])
        for _ in range(self._actions):
            yield from self._release(oldest_ms=_HOLDS_MS)
            yield from self._happen()
            yield from self._herders()
            yield GroupAction("pass", ticks=self._random.choice(_PASS_TICKS))
        yield from self._recover()

    def _recover(self) -> Iterator[GroupAction]:
        """No more disturbances: everything runs on, so that late answers and delays come to their end."""
        yield from self._release()
        self._stalled.clear()
        for _ in range(8):
            yield from self._herders()
            yield GroupAction("pass", ticks=10)

    def _herders(self) -> Iterator[GroupAction]:
        """The reader of each worker reads on; each herder that is not stalled sends due requests, and polls."""
        for worker in sorted(self._running):
            has_read = self._read[worker] < self._offset and self._random.random() < 0.5
            if has_read:
                self._read[worker] = self._offset
                yield GroupAction("perform", worker, self._configs())
            if worker in self._stalled or self._inside.get(worker):
                continue
            if self._rejoins.get(worker, self._now_ms + STEP_MS) <= self._now_ms:
                del self._rejoins[worker]
                yield GroupAction("perform", worker, {"do": "rejoin"})
            if has_read:
                yield GroupAction("perform", worker, {"do": "rejoin"})
            yield GroupAction("perform", worker, {"do": "poll"})

    def _happen(self) -> Iterator[GroupAction]:
        chances: Mapping[Callable[[], Iterator[GroupAction]], int] = {
            self._nothing: 12,
            self._come: 5,
            self._leave: 1,
            self._die: 1,
            self._configure: 2,
            self._rejoin: 1,
            self._stall: 1,
            self._hold: 2,
            self._break_connection: 1,
            self._lose_coordinator: 1,
            self._move: 1,
        }
        yield from self._random.choices(list(chances), list(chances.values()))[0]()

    # ------------------------------------------------------------------------------------------- possible actions

    def _nothing(self) -> Iterator[GroupAction]:
        yield from ()

    def _start(self, worker: str) -> GroupAction:
        self._running.append(worker)
        self._inside[worker] = False
        self._rejoins.pop(worker, None)
        self._read[worker] = self._offset
        mode = self._common or self._random.choice(MODES)
        options = {**self._configs(), "mode": mode.value, "maxDelay": self._delay_ms, "owners": OWNERS}
        del options["do"]
        return GroupAction("start", worker, options)

    def _come(self) -> Iterator[GroupAction]:
        absent = [name for name in self._names if name not in self._running]
        if absent:
            yield self._start(self._random.choice(absent))

    def _some(self) -> str | None:
        return self._random.choice(self._running) if self._running else None

    def _leave(self) -> Iterator[GroupAction]:
        worker = self._some()
        if worker is not None and not self._inside.get(worker):
            yield GroupAction("perform", worker, {"do": "leave"})
            yield self._gone(worker)

    def _die(self) -> Iterator[GroupAction]:
        worker = self._some()
        if worker is not None:
            yield self._gone(worker)

    def _gone(self, worker: str) -> GroupAction:
        self._running.remove(worker)
        self._stalled.discard(worker)
        self._held.pop(worker, None)
        return GroupAction("kill", worker)

    def _configure(self) -> Iterator[GroupAction]:
        """The config topic grows; the workers read it when they come to it."""
        self._offset += 1 + self._random.randrange(2)
        self._counts = self._draw_counts()
        yield from ()

    def _rejoin(self) -> Iterator[GroupAction]:
        worker = self._some()
        if worker is not None:
            yield GroupAction("perform", worker, {"do": "rejoin"})

    def _stall(self) -> Iterator[GroupAction]:
        """A herder does not poll, or polls again."""
        worker = self._some()
        if worker is not None:
            self._stalled ^= {worker}
        yield from ()

    def _hold(self) -> Iterator[GroupAction]:
        worker = self._some()
        if worker is not None and worker not in self._held:
            self._held[worker] = self._now_ms
            yield GroupAction("hold", worker)

    def _release(self, *, oldest_ms: int = 0) -> Iterator[GroupAction]:
        """The network delivers frames that it has held for so long. A worker whose session ends meanwhile looks the
        coordinator up, which Kafka's two threads do at times of their own."""
        for worker in sorted(self._held):
            if self._now_ms - self._held[worker] >= oldest_ms:
                del self._held[worker]
                yield GroupAction("release", worker)

    def _break_connection(self) -> Iterator[GroupAction]:
        worker = self._some()
        if worker is not None:
            yield from self._release()
            yield GroupAction("disconnect", worker)
            yield GroupAction("pass", ticks=OUTAGE_TICKS)

    def _lose_coordinator(self) -> Iterator[GroupAction]:
        """One worker cannot find the coordinator for some seconds, longer or shorter than it keeps its work for."""
        worker = self._some()
        if worker is None:
            return
        yield from self._release()
        yield GroupAction("perform", worker, {"do": "reachable", "value": False})
        yield GroupAction("disconnect", worker)
        if not self._inside.get(worker) and worker not in self._stalled:
            yield GroupAction("perform", worker, {"do": "poll"})
        yield GroupAction("pass", ticks=self._random.choice((5, 20, 40)))
        yield GroupAction("perform", worker, {"do": "reachable", "value": True})
        yield GroupAction("pass", ticks=OUTAGE_TICKS)

    def _move(self) -> Iterator[GroupAction]:
        """The coordinator gives the group up, and another node takes it over."""
        yield from self._release()
        yield GroupAction("resign")
        for _ in range(self._random.randrange(3)):
            yield GroupAction("wait", ticks=OUTAGE_TICKS)
        yield GroupAction("elect")
        yield GroupAction("wait", ticks=OUTAGE_TICKS)

    def _configs(self) -> Step:
        return {"do": "configs", "offset": self._offset, "counts": self._counts}

    def _draw_counts(self) -> dict[str, int]:
        chosen = [name for name in CONNECTORS if self._random.random() < 0.8]
        return {name: self._random.randrange(MOST_TASKS + 1) for name in chosen}


def herder_schedule(seed: int, actions: int, workers: Sequence[str], mode: str) -> Iterator[GroupAction]:
    """Workers come, and are killed; time passes in steps of 0.1 to 3.1 s. The config topic does not change."""
    random = Random(f"herders {seed}")
    counts, delay_ms = random.choice(_COUNTS), random.choice((0, 5_000))
    options: Step = {"mode": mode, "offset": 1, "counts": counts, "maxDelay": delay_ms, "owners": [], "herder": True}
    running: set[str] = set()
    for _ in range(actions):
        absent = [worker for worker in workers if worker not in running]
        drawn = random.random()
        if absent and (drawn < 0.25 or not running):
            worker = random.choice(absent)
            running.add(worker)
            yield GroupAction("start", worker, options)
            yield GroupAction("perform", worker, {"do": "poll"})
        elif drawn > 0.93:
            worker = random.choice(sorted(running))
            running.discard(worker)
            yield GroupAction("kill", worker)
        yield GroupAction("pass", ticks=random.choice(_PASS_TICKS))
