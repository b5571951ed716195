"""The costs of one change of the workers of a group: rounds until it is at rest, and time that work has no owner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Final

from rebalance_check.integration.comparison.connect_assignors.assigned_group import AssignedGroup
from rebalance_check.integration.comparison.connect_assignors.request import ConnectAssignors
from rebalance_check.properties.assignment.connect_rounds import CourseRound
from rebalance_check.properties.assignment.connect_steps import (
    DEFAULT_MAX_DELAY_MS,
    Configure,
    CutOff,
    Join,
    Leave,
    Rebalance,
    Return,
    Step,
    Wait,
)

CHANGES: Final[dict[str, tuple[Step, ...]]] = {
    "one joins": (Join("w8"),),
    "two join": (Join("w8"), Join("w9")),
    "one leaves": (Leave("w1"),),
    "one leaves, another joins": (Leave("w1"), Rebalance(), Wait(60_000), Join("w8"), Rebalance()),
    "one comes back": (CutOff("w1"), Rebalance(), Wait(60_000), Return("w1"), Rebalance()),
}
"""The kinds of change, each with its steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The sums of ``groups`` groups: rounds until rest, and for each connector and task the time that no worker ran it.

    ``idle_ms`` is that time in ms of the group's clock; rounds themselves take none.
    """

    groups: int
    rounds: int
    idle_ms: int


def cost_of_changes(assignors: ConnectAssignors, seeds: range) -> dict[str, Cost]:
    """The cost of each kind of change, over the groups of these seeds: one to four workers, up to three connectors."""
    return {change: _cost(assignors, change, seeds) for change in CHANGES}


def _cost(assignors: ConnectAssignors, change: str, seeds: range) -> Cost:
    rounds = idle = 0
    for seed in seeds:
        random = Random(f"cost {seed}")
        group = AssignedGroup(assignors, DEFAULT_MAX_DELAY_MS)
        for number in range(random.randint(1, 3)):
            group.step(Configure(f"c{number}", random.randint(0, 6)))
        for number in range(random.randint(2, 4)):
            group.step(Join(f"w{number}"))
        group.settle()
        before = len(group.rounds)
        for step in CHANGES[change]:
            group.step(step)
        group.settle()
        rounds += len(group.rounds) - before
        idle += sum(_idle_ms(group.rounds[before:]))
    return Cost(groups=len(seeds), rounds=rounds, idle_ms=idle)


def _idle_ms(rounds: list[CourseRound]) -> Iterator[int]:
    """Between each two rounds: the time, for everything that is configured and no member runs."""
    for one, following in pairwise(rounds):
        run = frozenset().union(*one.next_claims().values())
        yield len(one.configured - run) * (following.now_ms - one.now_ms)
