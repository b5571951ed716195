"""The churn of a run: which process starts, stops, dies or stalls, and when. Drawn from the seed before the run begins.

The same schedule runs on the simulator and on live clients of a real broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from random import Random
from typing import Final

from rebalance_check.impl.runtime.faults import FaultPlan, draw_plan
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.connect.churn import COORDINATOR_CHURN, MOST_TASKS, WEIGHTS, connect_actions
from rebalance_check.impl.simulator.connect.config_churn import config_actions
from rebalance_check.impl.simulator.connect.modes import drawn_mode
from rebalance_check.impl.simulator.connect.status_churn import status_actions
from rebalance_check.impl.simulator.member_state import CHURN_STEPS, NEEDED_FAULT, MemberState, applicable
from rebalance_check.impl.simulator.rolling_restarts import legal_steps, upgrade_actions
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol, RunBounds
from rebalance_check.model.vocabulary.schedule import Schedule
from rebalance_check.model.vocabulary.upgrade_paths import path_number

DRAWN_PROTOCOLS: Final = (
    SimulatedProtocol.EAGER,
    SimulatedProtocol.COOPERATIVE,
    SimulatedProtocol.CONNECT,
    SimulatedProtocol.STATUS,
    SimulatedProtocol.CONNECT_CONFIG,
    SimulatedProtocol.ELECTION,
)
STORES: Final = frozenset({SimulatedProtocol.STATUS, SimulatedProtocol.CONNECT_CONFIG})
"""Runs without a group: stores of workers that all run when the churn begins."""

PAUSES_MS: Final = (0, 5, 50, 500, 3_000, 10_000, 25_000)
"""How far apart two churn actions may lie, at most: from a race inside one rebalance to more than any time-out."""

MOST_PARTITIONS: Final = 6
MOST_LOST: Final = 12
OF_SOME: Final = 10
"""From this choice on, `ActionKind.CHANGE_TOPICS` is about the topic that only some members want."""
MOST_TOPICS: Final = 3
"""How many topics there may be that match a pattern, not counting the first."""

UNUSUAL: Final = {
    FaultKind.FAILOVER: ((ActionKind.FAIL_OVER, 0, 3),),
    FaultKind.SUBSCRIPTION: ((ActionKind.CHANGE_SUBSCRIPTION, 0, 2),),
    FaultKind.METADATA: ((ActionKind.CHANGE_CONFIG, 1, MOST_PARTITIONS),),
    FaultKind.COORDINATOR_KILL: ((ActionKind.KILL_COORDINATOR, 0, 0),),
    FaultKind.COORDINATOR_PAUSE: ((ActionKind.PAUSE_COORDINATOR, 0, 0), (ActionKind.RESUME_COORDINATOR, 0, 0)),
    FaultKind.COORDINATOR_MOVE: ((ActionKind.MOVE_COORDINATOR, 0, 1),),
    FaultKind.LOG_TAIL: ((ActionKind.KILL_COORDINATOR, 1, MOST_LOST),),
    FaultKind.PATTERN: ((ActionKind.CHANGE_TOPICS, 0, MOST_TOPICS),),
    FaultKind.TOPIC_OF_SOME: (
        (ActionKind.CHANGE_TOPICS, OF_SOME, OF_SOME + MOST_TOPICS),
        (ActionKind.CHANGE_SUBSCRIPTION, 1, 2),
    ),
}
"""The churn of a fault that is drawn on request: the actions, and the range of the choice of each."""

OF_CONSUMERS: Final = frozenset(
    {FaultKind.SUBSCRIPTION, FaultKind.METADATA, FaultKind.PATTERN, FaultKind.TOPIC_OF_SOME}
)
"""Those of them that others than consumers know nothing of."""


def drawn_protocol(seed: int, options: SimulationOptions) -> SimulatedProtocol:
    """The protocol that the run of ``seed`` has: the one asked for, or one drawn when that is ``mixed``."""
    if options.upgrade_path is not None:
        return SimulatedProtocol.COOPERATIVE if options.upgrade_path.cooperative else SimulatedProtocol.EAGER
    if options.protocol is not SimulatedProtocol.MIXED:
        return options.protocol
    return _drawn_of_mixed(seed)


@lru_cache(maxsize=1)  # a run asks twice: for its schedule, and when it begins
def _drawn_of_mixed(seed: int) -> SimulatedProtocol:
    return stream(seed, "protocol").choice(DRAWN_PROTOCOLS)


def churn_schedule(seed: int, options: SimulationOptions) -> Schedule:
    """The schedule of ``seed``: members start, ``options.steps`` churn actions, at least one member left, then `Heal`.

    ``options.actions`` stand in the place of drawn ones. Actions listed in ``options.omit`` are left out, and with
    them those that no longer apply (a resume without its pause). On an upgrade path it is the rolling restarts with
    ``options.steps`` // 2 others between. The bounds say how many members and partitions there are; their budgets count
    the actions of the schedule.
    """
    protocol = drawn_protocol(seed, options)
    random, plan, path = stream(seed, "churn"), draw_plan(seed, options), options.upgrade_path
    drawn: Iterable[Action]
    if options.actions is not None:
        drawn = options.written_actions
    elif protocol is SimulatedProtocol.STATUS:
        drawn = status_actions(seed, options, plan)
    elif protocol is SimulatedProtocol.CONNECT_CONFIG:
        drawn = config_actions(seed, options, plan)
    elif protocol is SimulatedProtocol.CONNECT:
        drawn = connect_actions(random, options, plan, drawn_mode(seed, options.mode), _pause)
    elif path is None:
        drawn = _draw(random, options, plan, protocol)
    else:
        drawn = upgrade_actions(random, path, members=options.members, steps=options.steps, plan=plan, pause=_pause)
    kept = [
        action
        for index, action in enumerate(drawn)
        if index not in options.omit or action.kind is ActionKind.AWAIT_GROUP
    ]
    actions = applicable(kept, MemberState.RUNNING) if protocol in STORES else _ending_alive(applicable(kept))
    if path is not None:
        actions = legal_steps(path, actions, options.members)
    return Schedule(_bounds(options, protocol, kept), (*actions, Action(ActionKind.HEAL)), seed)


def unusual_steps(
    plan: FaultPlan, protocol: SimulatedProtocol, partitions: int = MOST_PARTITIONS
) -> list[tuple[ActionKind, int, int]]:
    """The kinds of churn that faults of the plan bring with them, and the range of the choice of each.

    A topic that began with more ``partitions`` than `MOST_PARTITIONS` gets up to so many again.
    """
    if protocol is SimulatedProtocol.CONNECT:
        of_nodes = [(kind, 0, most) for fault in plan.kinds for kind, most in COORDINATOR_CHURN.get(fault, ())]
        return [*of_nodes, *((kind, 1, MOST_TASKS) for kind in WEIGHTS)]
    consumes = protocol in {SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE}
    found = [one for kind in plan.kinds if consumes or kind not in OF_CONSUMERS for one in UNUSUAL.get(kind, ())]
    most = {ActionKind.CHANGE_CONFIG: max(MOST_PARTITIONS, partitions)}
    return [(action, low, most.get(action, high)) for action, low, high in found]


def _draw(random: Random, options: SimulationOptions, plan: FaultPlan, protocol: SimulatedProtocol) -> Iterator[Action]:
    """All starts, then steps; a step whose fault is switched off waits only, so that the others stay as they are."""
    members = [MemberState.DOWN] * options.members
    unusual = unusual_steps(plan, protocol, options.partitions)
    for member in range(options.members):
        yield Action(ActionKind.START_MEMBER, member)
        pause = _pause(random)
        if not plan.has(FaultKind.JOINT_START):
            yield pause
        members[member] = MemberState.RUNNING
    for _ in range(options.steps):
        if unusual and random.random() < 0.4:
            kind, low, high = random.choice(unusual)
            yield Action(kind, random.randrange(options.members), random.randint(low, high))
        else:
            member = random.randrange(options.members)
            kind = random.choice([kind for kind, (before, _) in CHURN_STEPS.items() if before is members[member]])
            if kind not in NEEDED_FAULT or plan.has(NEEDED_FAULT[kind]):
                yield Action(kind, member)
                members[member] = CHURN_STEPS[kind][1]
        yield _pause(random)


def _pause(random: Random) -> Action:
    """Some time between two churn actions; every order of magnitude is as likely as the next."""
    return Action(ActionKind.ADVANCE_CLOCK, 0, random.randint(0, random.choice(PAUSES_MS)))


def _ending_alive(actions: Iterable[Action]) -> Iterator[Action]:
    """The actions, and a start of m0 when all members are down by then: an empty group has nothing to settle."""
    up: set[int] = set()
    for action in actions:
        if action.kind in CHURN_STEPS:
            (up.discard if CHURN_STEPS[action.kind][1] is MemberState.DOWN else up.add)(action.member)
        yield action
    if not up:
        yield Action(ActionKind.START_MEMBER, 0)


_PROTOCOLS: Final = {
    SimulatedProtocol.COOPERATIVE: RebalanceProtocol.COOPERATIVE,
    SimulatedProtocol.STATUS: RebalanceProtocol.STATUS,
    SimulatedProtocol.CONNECT_CONFIG: RebalanceProtocol.CONNECT_CONFIG,
}
"""How bounds call the protocols that are not EAGER."""


def _bounds(options: SimulationOptions, protocol: SimulatedProtocol, actions: list[Action]) -> RunBounds:
    """The size of the environment and the actions that happen to it."""
    counts = {kind: sum(action.kind is kind for action in actions) for kind in CHURN_STEPS}
    return RunBounds(
        protocol=_PROTOCOLS.get(protocol, RebalanceProtocol.EAGER),
        members=options.members,
        partitions=options.partitions,
        generations=100,
        crashes=min(counts[ActionKind.CRASH_MEMBER], 100),
        leaves=min(counts[ActionKind.STOP_MEMBER], 100),
        expiries=min(counts[ActionKind.PAUSE_MEMBER], 100),
        upgrade=path_number(options.upgrade) if options.upgrade else 0,
        rolling_restarts=sum(
            action.kind is ActionKind.START_MEMBER and action.choice > 0 for action in actions if options.upgrade
        ),
    )
