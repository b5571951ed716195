"""Kafka's workers and herders and ours do the same steps; observations after every step are compared.

There are three kinds: one worker, whose requests the driver answers; groups of workers on virtual Kafka; groups of
herders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from rebalance_check.impl.comparison.compare import Lockstep, Schedule, Side, compared
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference, Field, differing, shrunk
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.integration.comparison.workers.group import WorkerGroup
from rebalance_check.integration.comparison.workers.group_schedule import GroupSchedule, herder_schedule
from rebalance_check.integration.comparison.workers.our_herder import OurHerder
from rebalance_check.integration.comparison.workers.our_worker import OurWorker
from rebalance_check.integration.comparison.workers.projection import projected, work_done
from rebalance_check.integration.comparison.workers.rerun import Rerun
from rebalance_check.integration.comparison.workers.sequences import RandomSequence
from rebalance_check.integration.comparison.workers.steps import Seen
from rebalance_check.integration.virtual import VirtualKafka

Workers: TypeAlias = Mapping[str, Side]
"""The workers of one group, by their names."""

HERDERS: Final = GroupConfig(min_session_timeout_ms=1_000, initial_rebalance_delay_ms=0)
"""The broker's settings for groups of herders."""


def compare_worker(theirs: Side, seed: int, steps: int, ours: Callable[[], Side] = OurWorker) -> Compared:
    """One random sequence of steps for our worker and Kafka's."""

    def run(schedule: Schedule) -> Lockstep:
        return Lockstep((ours(), theirs), schedule, differ)

    return _result(("ours", theirs.name), run, RandomSequence(seed, steps))


def differ(first: Seen, second: Seen) -> tuple[Field, ...]:
    """The fields in which two workers differ, of those that both show: Kafka's shows none of some while it polls."""
    mine, other = projected(first), projected(second)
    return tuple(each for each in differing(mine, other) if each.name in mine and each.name in other)


def compare_groups(kafka: VirtualKafka, sides: Mapping[str, Workers], seed: int, actions: int) -> Compared:
    """The schedule of a seed, of so many actions, done by a group of each side, each on a virtual Kafka of its own.

    The first side is compared with each of the others; all have workers of the same names. ``reached`` counts the
    assignments that were taken over: of which side, who led, and whose worker it was.
    """
    schedule = GroupSchedule(seed, actions, tuple(next(iter(sides.values()))))

    def group(name: str) -> WorkerGroup:
        return WorkerGroup(name, kafka, sides[name], schedule.config, seed)

    return _of_groups(tuple(sides), group, schedule, _differ_groups)


def compare_herders(
    kafka: VirtualKafka, theirs: Side, names: Sequence[str], *, seed: int, mode: str, actions: int
) -> Compared:
    """The schedule of a seed, done by our herders and by Kafka's; their starts, stops and writes are compared.

    ``reached`` counts our side's actions.
    """
    sides: dict[str, Workers] = {
        "ours": {name: OurHerder() for name in names},
        f"Kafka's {mode}": dict.fromkeys(names, theirs),
    }

    def group(name: str) -> WorkerGroup:
        return WorkerGroup(name, kafka, sides[name], HERDERS, seed)

    schedule = Rerun(herder_schedule(seed, actions, names, mode))
    return _of_groups(tuple(sides), group, schedule, _differ_herders)


def _differ_groups(first: Mapping[str, Seen], second: Mapping[str, Seen]) -> tuple[Field, ...]:
    seen = differing(dict.fromkeys(first, "seen"), dict.fromkeys(second, "seen"))
    both = sorted(first.keys() & second.keys())
    fields = ((worker, each) for worker in both for each in differ(first[worker], second[worker]))
    return (*seen, *(each._replace(name=f"{worker} {each.name}") for worker, each in fields))


def _differ_herders(first: Mapping[str, Seen], second: Mapping[str, Seen]) -> tuple[Field, ...]:
    return differing(*({worker: work_done(seen) for worker, seen in group.items()} for group in (first, second)))


class _Groups(Lockstep):
    """Groups in environments of their own, which end with the run."""

    groups: Sequence[WorkerGroup] = ()

    def close(self) -> None:
        """Give the environments back."""
        for group in self.groups:
            group.close()


def _of_groups(
    sides: tuple[str, ...],
    group: Callable[[str], WorkerGroup],
    schedule: Schedule,
    differ_in: Callable[[Any, Any], tuple[Field, ...]],
) -> Compared:
    def run(steps: Schedule) -> _Groups:
        groups = [group(name) for name in sides]
        lockstep = _Groups(groups, steps, differ_in)
        lockstep.groups = groups
        return lockstep

    first, *others = sides
    return _result((first, " and ".join(others)), run, schedule)


def _result(sides: tuple[str, str], run: Callable[[Schedule], Lockstep], schedule: Schedule) -> Compared:
    """Do a schedule; its first difference is made smaller."""
    result, lockstep = Compared(sides), run(schedule)
    found = compared(lockstep)
    result.counts.update(runs=1, steps=len(lockstep.steps), compared=lockstep.compared)
    if isinstance(lockstep, _Groups):
        for group in lockstep.groups:
            result.reached += group.reached
    if found is not None:
        result.note(shrunk(found, partial(_again, run), keep=1))
    return result


def _again(run: Callable[[Schedule], Lockstep], steps: tuple[Any, ...]) -> Difference | None:
    return compared(run(Rerun(steps)))
