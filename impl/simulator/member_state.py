"""The states of a member process while churn goes on, and the churn that may happen to it then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final

from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.model.vocabulary.actions import Action, ActionKind


class MemberState(Enum):
    """The state of a member process, as far as its operator knows."""

    DOWN = "down"
    RUNNING = "running"
    PAUSED = "paused"


CHURN_STEPS: Final = {
    ActionKind.START_MEMBER: (MemberState.DOWN, MemberState.RUNNING),
    ActionKind.STOP_MEMBER: (MemberState.RUNNING, MemberState.DOWN),
    ActionKind.CRASH_MEMBER: (MemberState.RUNNING, MemberState.DOWN),
    ActionKind.PAUSE_MEMBER: (MemberState.RUNNING, MemberState.PAUSED),
    ActionKind.RESUME_MEMBER: (MemberState.PAUSED, MemberState.RUNNING),
}
"""From which to which state each churn action takes a member; it applies to a member in no other state."""

NEEDED_FAULT: Final = {ActionKind.CRASH_MEMBER: FaultKind.CRASH, ActionKind.PAUSE_MEMBER: FaultKind.PAUSE}
"""Churn that is a fault: it happens only where the plan of the run switches that kind on."""


def applicable(actions: Iterable[Action], at_first: MemberState = MemberState.DOWN) -> Iterator[Action]:
    """The actions without those that a member's state rules out; all members are ``at_first`` to begin with."""
    members: dict[int, MemberState] = {}
    for action in actions:
        if action.kind in CHURN_STEPS:
            before, after = CHURN_STEPS[action.kind]
            if members.get(action.member, at_first) is not before:
                continue
            members[action.member] = after
        yield action
