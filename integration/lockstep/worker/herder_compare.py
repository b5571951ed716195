"""Kafka's DistributedHerder and ours do the same random schedule, each group on its own virtual Kafka."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.integration.lockstep.worker.group import WorkerGroup
from rebalance_check.integration.lockstep.worker.group_compare import perform
from rebalance_check.integration.lockstep.worker.group_schedule import GroupAction
from rebalance_check.integration.lockstep.worker.steps import Seen, Step

CONFIG: Final = GroupConfig(min_session_timeout_ms=1_000, initial_rebalance_delay_ms=0)
"""The broker's settings."""

_WORK: Final = ("start", "stop", "status", "status, safely")
_FIELDS: Final = ("call", "work", "state", "generation")
_COUNTS: Final = ({"c0": 2, "c1": 1}, {"c0": 3}, {"c0": 1, "c1": 1, "c2": 2})


@dataclass(frozen=True, slots=True)
class HerderResult:
    """How often what a herder did in one action was compared, how much it did, and the first difference ("": none)."""

    compared: int
    done: int
    difference: str


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
        yield GroupAction("pass", ticks=random.choice((1, 5, 10, 31)))


def run_herders(actions: Iterator[GroupAction], ours: WorkerGroup, theirs: WorkerGroup) -> HerderResult:
    """Do a schedule with both groups; what was started, stopped and written is compared after every action."""
    compared = done = 0
    for number, action in enumerate(actions, start=1):
        perform(ours, action)
        perform(theirs, action)
        mine, other = ours.take_seen(), theirs.take_seen()
        for worker in sorted(mine.keys() | other.keys()):
            compared += 1
            did, does = _did(mine.get(worker)), _did(other.get(worker))
            done += len(did)
            if did != does:
                text = f"after action {number} ({action}), at {ours.now_ms} ms, {worker}: Kafka's {does}, ours {did}"
                return HerderResult(compared, done, text)
    return HerderResult(compared, done, "")


def _did(seen: Seen | None) -> list[str]:
    """What a herder did in one action, without its order, which Kafka's pool of threads decides; and what it raised."""
    if seen is None:
        return ["not seen"]
    calls = [call for call in seen["calls"] if call["call"] in _WORK]
    found = [" ".join(str(call[name]) for name in _FIELDS if name in call) for call in calls]
    return sorted(found) + ([f"raised {seen['raised']}"] if seen["raised"] else [])
