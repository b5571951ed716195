"""A state of the classic model in words: one cell for the coordinator, one for each member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.bounds import Bounds
from rebalance_check.model.classic_state import STATUS_NAMES, GroupStatus, MemberStatus, State, has
from rebalance_check.model.world import partitions_of

NOTHING: Final = "-"


@dataclass(frozen=True, slots=True)
class Described:
    """The cells of one row of a counterexample table."""

    coordinator: str
    members: tuple[str, ...]


def describe(bounds: Bounds, state: State) -> Described:
    """``Stable g1 [m0* m1]`` and, for each member, what it owns.

    A star marks the leader. A partition in brackets is owned and not part of the assignment that the member will be
    answered with. A member that doesn't run says ``down``; a zombie, which the coordinator has forgotten, has a ``!``.
    """
    present = [f"m{m}{'*' if m == state.leader else ''}" for m in range(bounds.members) if has(state.members, m)]
    status = STATUS_NAMES[GroupStatus(state.status)].removesuffix("Rebalance")
    coordinator = f"{status} g{state.generation}" + (f" [{' '.join(present)}]" if present else "")
    return Described(coordinator, tuple(member_cell(bounds, state, m) for m in range(bounds.members)))


def member_cell(bounds: Bounds, state: State, m: int) -> str:
    """What a member owns."""
    me = state.member[m]
    if me.status == MemberStatus.DOWN:
        return "down"
    assigned = me.assignment if state.status == GroupStatus.STABLE and has(state.members, m) else me.owned
    owned = partitions_of(me.owned, bounds.partitions)
    kept = set(partitions_of(assigned, bounds.partitions))
    zombie = "!" if me.owned and not has(state.members, m) else ""
    return " ".join(p if p in kept else f"({p})" for p in owned) + zombie or NOTHING
