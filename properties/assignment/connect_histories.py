"""Random histories of Connect groups: workers join, leave, return with claims; configs, leaders and time change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from rebalance_check.properties.assignment.connect_steps import (
    DEFAULT_MAX_DELAY_MS,
    ITSELF,
    Configure,
    CutOff,
    Delete,
    History,
    Item,
    Join,
    Lead,
    Leave,
    Rebalance,
    Return,
    Step,
    Wait,
)

_WORKERS: Final = ("w1", "w2", "w3", "w4", "w5")
_CONNECTORS: Final = ("c1", "c2", "c3")
_MOST_TASKS: Final = 5
_DELAYS: Final = (DEFAULT_MAX_DELAY_MS, DEFAULT_MAX_DELAY_MS, 30_000, 1_000, 1, 0)
_WAITS: Final = (1, 39, 40, 41, 1_000, 1_600, 10_000, 64_000, 290_000, 299_999, 300_000, 600_000)


@dataclass(slots=True)
class _Group:
    """The group at a point of a history, so that its next step means something."""

    random: Random
    shape: str
    present: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    connectors: dict[str, int] = field(default_factory=dict)

    def join(self) -> Step | None:
        free = [name for name in _WORKERS if name not in (*self.present, *self.absent)]
        if not free:
            return None
        name = self.random.choice(free)
        self.present.append(name)
        claims: tuple[Item, ...] = ()
        if self.shape == "claims" and self.random.random() < 0.4:
            claims = tuple(item for item in self._items() if self.random.random() < 0.3)
        return Join(name, claims)

    def _items(self) -> list[Item]:
        return [(name, number) for name, count in self.connectors.items() for number in range(ITSELF, count)]

    def _taken(self, names: list[str]) -> str:
        name = self.random.choice(names)
        names.remove(name)
        return name

    def leave(self) -> Step | None:
        return Leave(self._taken(self.present)) if self.present else None

    def cut_off(self) -> Step | None:
        if not self.present:
            return None
        self.absent.append(self._taken(self.present))
        return CutOff(self.absent[-1])

    def come_back(self) -> Step | None:
        if not self.absent:
            return None
        self.present.append(self._taken(self.absent))
        return Return(self.present[-1])

    def lead(self) -> Step | None:
        return Lead(self.random.choice(self.present)) if self.present else None

    def configure(self) -> Step:
        name, count = self.random.choice(_CONNECTORS), self.random.randint(0, _MOST_TASKS)
        self.connectors[name] = count
        return Configure(name, count)

    def delete(self) -> Step | None:
        if not self.connectors:
            return None
        name = self.random.choice(sorted(self.connectors))
        del self.connectors[name]
        return Delete(name)

    def wait(self) -> Step:
        return Wait(self.random.choice(_WAITS))

    def rebalance(self) -> Step:
        chance = self.random.random()
        if self.shape == "tame" or chance < 0.8:
            return Rebalance()
        if chance < 0.87:
            return Rebalance(failed=True)
        if chance < 0.95:
            return Rebalance(tuple(name for name in self.present if self.random.random() < 0.4))
        return Rebalance(behind=True) if chance < 0.98 else Rebalance(eager=True)


_Moves = tuple[tuple[Callable[[_Group], Step | None], int], ...]

_TAME: Final[_Moves] = (
    (_Group.join, 4), (_Group.leave, 2), (_Group.configure, 2), (_Group.delete, 1), (_Group.wait, 2),
)  # fmt: skip
_LEADERS: Final[_Moves] = (*_TAME, (_Group.lead, 2))
_RETURNS: Final[_Moves] = (*_TAME, (_Group.cut_off, 2), (_Group.come_back, 3))
_ANY: Final[_Moves] = (*_RETURNS, (_Group.lead, 2))

SHAPES: Final[dict[str, _Moves]] = {
    "tame": _TAME,
    "failures": _TAME,
    "leaders": _LEADERS,
    "returns": _RETURNS,
    "claims": _ANY,
}
"""The steps of each shape: workers come and go, configs change (tame); rounds fail, too (failures), leaders change
(leaders), workers come back with the work that they ran (returns); all of it, and false claims (claims)."""


def random_history(shape: str, seed: int) -> History:
    """The history of a shape and a seed: a round follows most steps, and some steps come together."""
    random = Random(f"connect {shape} {seed}")
    group = _Group(random, shape)
    steps: list[Step] = [group.configure() for _ in range(random.randint(1, 3))]
    steps += filter(None, (group.join() for _ in range(random.randint(1, 3))))
    steps.append(Rebalance())
    moves = [move for move, weight in SHAPES[shape] for _ in range(weight)]
    for _ in range(random.randint(2, 12)):
        step = random.choice(moves)(group)
        if step is not None:
            steps.append(step)
        if random.random() < 0.7:
            steps.append(group.rebalance())
    return History(tuple(steps), random.choice(_DELAYS))
