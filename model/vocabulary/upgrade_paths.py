"""Upgrade paths: from one assignor to another while the group runs, by rolling restarts (KIP-429), legal and illegal.

A member is configured with a *list* of assignors. The coordinator votes for one that all members list (*protocol*);
each member treats its partitions by the highest rebalance protocol that *all* assignors of its own list support,
under any vote (``ConsumerCoordinator``'s constructor). A path is the lists that a member has in turn; a *restart*
stops a member and starts it with the next one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class Order(IntEnum):
    """The operator's condition before a member is restarted to the list after the next.

    ``GROUP``: every member runs with the list before, and the group has no member left with an older one.
    ``PROCESSES``: every process has the list before. ``NONE``: nothing.
    """

    NONE = 0
    PROCESSES = 1
    GROUP = 2


@dataclass(frozen=True, slots=True)
class AssignorCode:
    """An assignor as code: its name on the wire, whether it supports COOPERATIVE (besides EAGER), and whether it
    withholds what another member still owns."""

    name: str
    cooperative: bool

    @property
    def number(self) -> int:
        """The number of its name in the model, from 1."""
        return NAMES.index(self.name) + 1


NAMES: Final = ("range", "cooperative-sticky", "custom")
"""The names that assignors have on the wire."""

RANGE: Final = AssignorCode("range", cooperative=False)
COOPERATIVE_STICKY: Final = AssignorCode("cooperative-sticky", cooperative=True)
OLD_CUSTOM: Final = AssignorCode("custom", cooperative=False)
NEW_CUSTOM: Final = AssignorCode("custom", cooperative=True)

AssignorList = tuple[AssignorCode, ...]


@dataclass(frozen=True, slots=True)
class UpgradePath:
    """The lists that each member has in turn, the operator's condition, and the smallest group that matters."""

    name: str
    """How addresses name it (``upgrade=NAME``)."""
    lists: tuple[AssignorList, ...]
    """The lists in turn: a member starts with the first, and each restart takes the next."""
    order: Order
    """The operator's condition between two restarts."""
    what: str
    """A sentence for reports: what is upgraded, and how."""
    members: int = 2
    """The smallest group in which the path shows all that it can do."""

    @property
    def legal(self) -> bool:
        """Whether nothing may break on it, at any step."""
        return self.order is Order.GROUP

    @property
    def cooperative(self) -> bool:
        """Whether it begins with members that keep their partitions while they rebalance."""
        return is_cooperative_list(self.lists[0])


def is_cooperative_list(assignors: AssignorList) -> bool:
    """Whether a member with this list is COOPERATIVE: all its assignors are."""
    return all(assignor.cooperative for assignor in assignors)


def keeps_names(path: UpgradePath) -> bool:
    """Whether each name of an assignor stands for the same code in all lists of a path."""
    codes = {code for assignors in path.lists for code in assignors}
    return len(codes) == len({code.name for code in codes})


_OLD: Final = (RANGE,)
_BOTH: Final = (COOPERATIVE_STICKY, RANGE)
_NEW: Final = (COOPERATIVE_STICKY,)
_DEFAULT: Final = (RANGE, COOPERATIVE_STICKY)

PATHS: Final = (
    UpgradePath("legal", (_OLD, _BOTH, _NEW), Order.GROUP, "two rolling restarts: add the new assignor, drop the old"),
    UpgradePath("single-upgrade", (_OLD, _NEW), Order.NONE, "one rolling restart: replace the old assignor by the new"),
    UpgradePath(
        "reused-name", ((OLD_CUSTOM,), (NEW_CUSTOM,)), Order.NONE, "one rolling restart: new code under the old name",
        members=3,
    ),
    UpgradePath("wrong-order", (_OLD, _BOTH, _NEW), Order.NONE, "the second restart begins before the first is over"),
    UpgradePath(
        "impatient", (_OLD, _BOTH, _NEW), Order.PROCESSES,
        "the second restart begins while the group still remembers a member from before the first",
    ),
    UpgradePath("downgrade", (_NEW, _BOTH, _OLD), Order.GROUP, "two rolling restarts back"),
    UpgradePath("single-downgrade", (_NEW, _OLD), Order.NONE, "one rolling restart back"),
    UpgradePath("from-default", (_DEFAULT, _NEW), Order.GROUP, "one rolling restart from the default since 3.0"),
)  # fmt: skip
"""All paths; the number of a path is its place, from 1."""


def names_of(assignors: AssignorList) -> str:
    """``[cooperative-sticky, range]``; new code under an old name is marked: ``[custom (cooperative)]``."""
    return f"[{', '.join(map(known_as, assignors))}]"


def known_as(code: AssignorCode) -> str:
    """The name of an assignor, and for new code under an old name a mark."""
    return f"{code.name} (cooperative)" if code == NEW_CUSTOM else code.name


def path_numbered(number: int) -> UpgradePath:
    """The path of a number, from 1."""
    return PATHS[number - 1]


def path_number(name: str) -> int:
    """The number of a path, from 1; `RebalanceCheckError` when there is none of that name."""
    names = [path.name for path in PATHS]
    if name not in names:
        raise RebalanceCheckError(f"{name!r} is no upgrade path: choose one of {', '.join(names)}")
    return names.index(name) + 1


def path_named(name: str) -> UpgradePath:
    """The path of a name; `RebalanceCheckError` when there is none."""
    return path_numbered(path_number(name))


# ------------------------------------------------------------------------------------------------ as the model reads it

NAME_BITS: Final = 2
"""Bits of an encoded list per name; the preferred name stands lowest, and 0 is the end."""


def encoded_lists(path: UpgradePath) -> tuple[int, ...]:
    """The lists of a path as numbers that `classic_voting` reads; behind them for each name the list of it alone."""
    lists = (sum(code.number << (NAME_BITS * at) for at, code in enumerate(each)) for each in path.lists)
    return (*lists, *range(1, len(NAMES) + 1))


def offered_names(path: UpgradePath) -> tuple[int, ...]:
    """Of each list the set of names in it, and behind them for each name the set of it alone."""
    return (*(sum(1 << code.number for code in each) for each in path.lists), *(2 << at for at in range(len(NAMES))))


def withholding_names(path: UpgradePath) -> tuple[int, ...]:
    """Of each list the set of names whose code withholds what another member still owns."""
    return tuple(sum(1 << code.number for code in each if code.cooperative) for each in path.lists)


def cooperative_lists(path: UpgradePath) -> tuple[int, ...]:
    """Of each list whether a member with it is COOPERATIVE, 1 or 0."""
    return tuple(int(is_cooperative_list(each)) for each in path.lists)
