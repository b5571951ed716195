"""The churn of a cluster of status stores, drawn from the seed before the run begins.

All workers run when the churn begins. The rest of each action is drawn when it happens, from the stream of its
draw (`DRAWS`), so an action that is left out leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.connect.churn_draws import ChurnDraws
from rebalance_check.impl.simulator.member_state import CHURN_STEPS, NEEDED_FAULT, MemberState
from rebalance_check.model.vocabulary.actions import Action, ActionKind

LONGEST_GAP_MS: Final = 2_000

PER_STEP: Final = 4
"""How often something happens to stores in a step of the options: less often than to a group."""

WEIGHTS: Final = {
    ActionKind.REBALANCE: 10,
    ActionKind.RESET_GROUP: 1,
    ActionKind.FAIL_TASK: 5,
    ActionKind.PAUSE_TASK: 3,
    ActionKind.RESTART_TASK: 3,
    ActionKind.DELETE_CONNECTOR: 3,
    ActionKind.CREATE_CONNECTOR: 3,
    ActionKind.CRASH_MEMBER: 2,
    ActionKind.START_MEMBER: 4,
    ActionKind.STOP_MEMBER: 1,
    ActionKind.PAUSE_MEMBER: 2,
    ActionKind.RESUME_MEMBER: 3,
    ActionKind.COMPACT_TOPIC: 1,
    ActionKind.FLUSH_STORE: 2,
    ActionKind.QUERY_STATUS: 6,
    ActionKind.PUT_TOPIC_STATUS: 1,
    ActionKind.DELETE_TOPIC_STATUS: 1,
}
"""How often each kind of churn is drawn, relative to the others."""

DRAWS: Final = ChurnDraws("status churn", WEIGHTS)
"""The outcome of each number of the schedule."""

OF_ALL_WORKERS: Final = frozenset({ActionKind.START_MEMBER, ActionKind.RESUME_MEMBER})
"""Drawn once, these happen to every worker that is down, or paused."""

OF_THE_GROUP: Final = frozenset(
    {ActionKind.REBALANCE, ActionKind.RESET_GROUP, ActionKind.DELETE_CONNECTOR, ActionKind.CREATE_CONNECTOR}
)
OF_TASKS: Final = frozenset({ActionKind.FAIL_TASK, ActionKind.PAUSE_TASK, ActionKind.RESTART_TASK})


def status_actions(seed: int, options: SimulationOptions, plan: FaultPlan) -> Iterator[Action]:
    """`PER_STEP` times in each step a pause and something that happens; a pause alone where that suits no worker."""
    DRAWS.begin()
    workers = [MemberState.RUNNING] * options.members
    gaps = stream(seed, "status gaps")
    for number in range(PER_STEP * options.steps):
        yield Action(ActionKind.ADVANCE_CLOCK, 0, gaps.randint(0, LONGEST_GAP_MS))
        for action in _drawn(seed, number, plan, workers):
            yield action
            if action.kind in CHURN_STEPS:
                workers[action.member] = CHURN_STEPS[action.kind][1]


def _drawn(seed: int, number: int, plan: FaultPlan, workers: list[MemberState]) -> Iterator[Action]:
    """The actions of one draw, while ``workers`` are in these states."""
    kind, share, _ = DRAWS.plan(seed, number)
    running = [slot for slot, state in enumerate(workers) if state is MemberState.RUNNING]
    if kind in NEEDED_FAULT and not plan.has(NEEDED_FAULT[kind]):
        return
    if kind in OF_ALL_WORKERS:
        yield from [Action(kind, slot) for slot, state in enumerate(workers) if state is CHURN_STEPS[kind][0]]
    elif kind in OF_THE_GROUP:
        yield Action(kind, 0, number)
    elif kind is ActionKind.COMPACT_TOPIC:
        yield Action(kind)
    elif running:
        yield Action(kind, running[int(share * len(running))], number if kind in OF_TASKS else 0)
