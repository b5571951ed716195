"""The churn of config stores without a group, drawn from the seed before the run begins.

All workers run when the churn begins, and the first leads. The rest of each action is drawn when it happens, from
the stream of its draw (`DRAWS`), so an action that is left out leaves the others as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.impl.runtime.faults import FaultPlan
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator.connect.churn_draws import ChurnDraws
from rebalance_check.impl.simulator.member_state import NEEDED_FAULT
from rebalance_check.model.vocabulary.actions import Action, ActionKind

PER_STEP: Final = 10
"""How often something happens to stores in a step of the options: a call, or a single record that is read."""

WEIGHTS: Final = {
    ActionKind.WRITE_CONFIGS: 12,
    ActionKind.STEP_STORE: 20,
    ActionKind.TAKE_SNAPSHOT: 8,
    ActionKind.CHANGE_LEADER: 2,
    ActionKind.CRASH_MEMBER: 2,
    ActionKind.COMPACT_CONFIGS: 2,
    ActionKind.APPEND_ODDLY: 3,
    ActionKind.EXPIRE_CALLS: 1,
}
"""How often each kind of churn is drawn, relative to the others."""

DRAWS: Final = ChurnDraws("config churn", WEIGHTS)
"""The outcome of each number of the schedule."""


def config_actions(seed: int, options: SimulationOptions, plan: FaultPlan) -> Iterator[Action]:
    """`PER_STEP` times in each step something happens; a worker that crashes is started again at once."""
    DRAWS.begin()
    for number in range(PER_STEP * options.steps):
        kind, share, _ = DRAWS.plan(seed, number)
        if kind in NEEDED_FAULT and not plan.has(NEEDED_FAULT[kind]):
            continue
        slot = int(share * options.members)
        yield Action(kind, slot, number)
        if kind is ActionKind.CRASH_MEMBER:
            yield Action(ActionKind.START_MEMBER, slot)
