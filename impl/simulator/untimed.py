"""The parts of a run that did not converge for which no timer is armed: only something from outside can wake them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.impl.coordinator.timers import TimerKind
from rebalance_check.impl.simulator.environment import Environment
from rebalance_check.model.vocabulary.group_status import GroupStatus

TIMER_OF_PHASE: Final = {
    GroupStatus.PREPARING_REBALANCE: TimerKind.JOIN,
    GroupStatus.COMPLETING_REBALANCE: TimerKind.SYNC,
}
"""The timer that ends each phase of a rebalance when members are missing."""


def untimed(environment: Environment) -> Iterator[str]:
    """The members that run and wait without a timer, then the phase of the group that none ends."""
    for member in environment.members:
        if member.is_untimed:
            yield member.name
    armed, state = environment.nodes.armed(), environment.nodes.describe().state
    for status, timer in TIMER_OF_PHASE.items():
        if armed is not None and state == status and timer not in armed:
            yield str(timer)
