"""The group after a step, as the model has it and as an observer of the coordinator sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rebalance_check.impl.comparison.to_model.answers import assigned, member_of, partitions_of
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.model.checker.layout import NIL
from rebalance_check.model.classic.observer.member_ids import id_prefix_of, slots_by_prefix
from rebalance_check.model.classic.state import STATUS_NAMES, GroupStatus, Phase


@dataclass(frozen=True, slots=True)
class View:
    """Status, members and their assignments, generation and leader ("" for none); None is a field that cannot be seen.

    Members are named by the prefixes of their ids (`model.classic.observer.member_ids`).
    """

    status: str | None = None
    members: tuple[str, ...] | None = None
    assignments: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    generation: int | None = None
    leader: str | None = None

    def agrees_with(self, other: View) -> bool:
        """Whether both say the same wherever both say something."""
        return all(
            mine is None or theirs is None or mine == theirs
            for mine, theirs in (
                (self.status, other.status),
                (self.members, other.members),
                (self.assignments, other.assignments),
                (self.generation, other.generation),
                (self.leader, other.leader),
            )
        )

    def __str__(self) -> str:
        """``Stable, generation 2, leader m0, m0=[t-0] m1=[]``."""
        members = " ".join(f"{member}=[{' '.join(owned)}]" for member, owned in self.assignments or ())
        members = members or " ".join(self.members or ())
        return f"{self.status}, generation {self.generation}, leader {self.leader or 'none'}, {members or 'no members'}"


def predicted_view(state: Any) -> View:
    """The group in a state of the model; a group that does not exist has no generation to compare.

    It cannot be seen while there is no coordinator. One in which nothing ever happened is Empty or absent after a
    failover: whether its creation is on record is the coordinator's own business.
    """
    if state.phase != Phase.SERVING:
        return View()
    unspecified = state.incarnation > 0 and state.generation == 0
    members = sorted(slots_by_prefix(state).items())
    return View(
        status=None if unspecified and state.members == 0 else STATUS_NAMES[GroupStatus(state.status)],
        members=tuple(prefix for prefix, _ in members),
        assignments=tuple((prefix, partitions_of(state.member[m].assignment)) for prefix, m in members),
        generation=None if unspecified or state.status == GroupStatus.DEAD else state.generation,
        leader="" if state.leader == NIL else id_prefix_of(state, state.leader),
    )


def observed_view(observation: Observation | None) -> View:
    """The group as it was observed."""
    if observation is None:
        return View()
    members = sorted((member_of(m.member_id), assigned(m.assignment)) for m in observation.described.members)
    return View(
        status=observation.described.state,
        members=tuple(member for member, _ in members),
        assignments=tuple(members) if observation.shows_assignments else None,
        generation=observation.generation,
        leader=None if observation.leader is None else member_of(observation.leader),
    )
