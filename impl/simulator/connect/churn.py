"""The churn of a simulated Connect cluster, drawn from the seed before the run begins.

Workers start, stop, crash and pause; an operator changes connectors; topics are compacted; coordinators move. In an
upgrade every worker is restarted twice, to the next mode each time, one worker after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import ClusterMode, FaultKind, SimulationOptions
from rebalance_check.impl.simulator.connect.modes import UPGRADE
from rebalance_check.impl.simulator.member_state import CHURN_STEPS, NEEDED_FAULT, MemberState
from rebalance_check.model.vocabulary.actions import Action, ActionKind

MOST_TASKS: Final = 8

Pause = Callable[[Random], Action]

WEIGHTS: Final = {
    ActionKind.CHANGE_CONFIG: 6,
    ActionKind.CREATE_CONNECTOR: 3,
    ActionKind.DELETE_CONNECTOR: 2,
    ActionKind.PAUSE_CONNECTOR: 2,
    ActionKind.RESUME_CONNECTOR: 3,
    ActionKind.STOP_CONNECTOR: 1,
    ActionKind.RESTART_CONNECTOR: 2,
    ActionKind.RESTART_TASK: 2,
    ActionKind.FAIL_TASK: 3,
    ActionKind.COMPACT_TOPIC: 1,
    ActionKind.COMPACT_CONFIGS: 1,
    ActionKind.DELETE_TOPIC_STATUS: 1,
}
"""How often each thing is drawn that an operator, a task or a topic does, relative to the others."""

COORDINATOR_CHURN: Final = {
    FaultKind.FAILOVER: ((ActionKind.FAIL_OVER, 3),),
    FaultKind.COORDINATOR_KILL: ((ActionKind.KILL_COORDINATOR, 0),),
    FaultKind.COORDINATOR_PAUSE: ((ActionKind.PAUSE_COORDINATOR, 0), (ActionKind.RESUME_COORDINATOR, 0)),
    FaultKind.COORDINATOR_MOVE: ((ActionKind.MOVE_COORDINATOR, 1),),
    FaultKind.LOG_TAIL: ((ActionKind.KILL_COORDINATOR, 12),),
}
"""The churn of coordinators where a fault is switched on, with the highest choice of each."""


def connect_actions(
    random: Random, options: SimulationOptions, plan: FaultPlan, mode: ClusterMode, pause: Pause
) -> Iterator[Action]:
    """All workers start; ``options.steps`` times something happens; in an upgrade restarts lie in between."""
    members = [MemberState.DOWN] * options.members
    reached = [0] * options.members
    for member in range(options.members):
        yield Action(ActionKind.START_MEMBER, member)
        between = pause(random)
        if not plan.has(FaultKind.JOINT_START):
            yield between
        members[member] = MemberState.RUNNING
    restarts = _restarts(random, options.members) if mode is ClusterMode.UPGRADE else []
    due = sorted(random.randrange(options.steps + 1) for _ in restarts)
    for step in range(options.steps + 1):
        while due and due[0] <= step:
            due.pop(0)
            yield from _restart(random, members, reached, restarts.pop(0), pause)
        if step < options.steps:
            yield from _one(random, members, plan, pause, restarts=mode is not ClusterMode.UPGRADE)


def _restarts(random: Random, members: int) -> list[tuple[int, int]]:
    """The worker that is restarted, and to which place of the upgrade, in turn."""
    places = range(1, len(UPGRADE))
    return [(member, place) for place in places for member in random.sample(range(members), members)]


def _restart(
    random: Random, members: list[MemberState], reached: list[int], to: tuple[int, int], pause: Pause
) -> Iterator[Action]:
    """Stop a worker that runs, and start it in its next mode."""
    member, place = to
    if members[member] is MemberState.PAUSED:
        yield Action(ActionKind.RESUME_MEMBER, member)
    if members[member] is not MemberState.DOWN:
        yield Action(ActionKind.STOP_MEMBER, member)
        yield Action(ActionKind.ADVANCE_CLOCK, 0, random.randrange(10_000))
    reached[member] = place
    members[member] = MemberState.RUNNING
    yield Action(ActionKind.START_MEMBER, member, place)
    yield pause(random)


def _one(
    random: Random, members: list[MemberState], plan: FaultPlan, pause: Pause, *, restarts: bool
) -> Iterator[Action]:
    """One thing that happens, and some time; without ``restarts`` no worker is touched.

    A worker of the oldest mode that is away during an upgrade takes the whole group back when it returns, which Kafka's
    workers do not survive (KAFKA-13816).
    """
    coordinators = [one for kind in plan.kinds for one in COORDINATOR_CHURN.get(kind, ())]
    member = random.randrange(len(members))
    if random.random() < 0.5:
        kind = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        yield Action(kind, member, random.randint(1, MOST_TASKS))
    elif coordinators and random.random() < 0.4:
        kind, most = random.choice(coordinators)
        yield Action(kind, 0, random.randint(0, most))
    elif restarts:
        kind = random.choice([kind for kind, (before, _) in CHURN_STEPS.items() if before is members[member]])
        if kind not in NEEDED_FAULT or plan.has(NEEDED_FAULT[kind]):
            yield Action(kind, member)
            members[member] = CHURN_STEPS[kind][1]
    yield pause(random)
