"""Ways from one rebalance mode of Connect workers to another, by rolling restarts (KIP-415, KIP-507).

A worker is configured with ``connect.protocol``: *eager* offers the subprotocol ``default`` alone, *compatible* offers
``compatible`` and ``default``, *sessioned* all three. A group runs the highest one that every member offers. So unlike
consumers (`model.vocabulary.upgrade_paths`), whose names of assignors share nothing unless both are listed, a worker
with a higher mode is never refused: one rolling restart is enough to go up.

A group in which no eager worker is left is cooperative at once. So an eager worker that joins later, because it was not
a member when the others were restarted, brings the group down again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class WorkerMode(IntEnum):
    """``connect.protocol`` of a worker, and of a group the mode that all its members offer; the version on the wire."""

    EAGER = 0
    COMPATIBLE = 1
    SESSIONED = 2


@dataclass(frozen=True, slots=True)
class ModePath:
    """The modes that each worker has in turn, and whether the operator waits for the group before each restart."""

    modes: tuple[WorkerMode, ...]
    """The modes in turn: a worker starts with the first, and each rolling restart takes the next."""
    what: str
    """A sentence for reports: what happens, and what comes of it."""
    legal: bool = True
    """Whether no work may run twice on it, at any step."""
    waits: bool = True
    """Whether a worker is restarted only while every worker is a member of a stable group."""

    @property
    def name(self) -> str:
        """How addresses name it: ``eager-to-sessioned``, or ``impatient-eager-to-sessioned``."""
        return ("" if self.waits else "impatient-") + "-to-".join(mode.name.lower() for mode in self.modes)


_EAGER, _COMPATIBLE, _SESSIONED = WorkerMode

MODE_PATHS: Final = (
    ModePath((_EAGER, _SESSIONED), "one rolling restart up: enough"),
    ModePath((_EAGER, _COMPATIBLE, _SESSIONED), "two rolling restarts up"),
    ModePath((_SESSIONED, _COMPATIBLE), "one rolling restart to unsigned requests"),
    ModePath(
        (_SESSIONED, _EAGER), "one rolling restart down: the first eager worker makes work run twice", legal=False
    ),
    ModePath(
        (_EAGER, _SESSIONED),
        "restarts that wait for no worker: one that joins late, still eager, makes work run twice",
        legal=False,
        waits=False,
    ),
    ModePath(
        (_SESSIONED, _COMPATIBLE, _EAGER), "two rolling restarts down: the second makes work run twice", legal=False
    ),
)
"""All paths; the number of a path is its place, from 1."""


def mode_path_number(name: str) -> int:
    """The number of a path, from 1.

    Raises `RebalanceCheckError` when there is none of that name.
    """
    names = [path.name for path in MODE_PATHS]
    if name not in names:
        raise RebalanceCheckError(f"{name!r} is no path of worker modes: choose one of {', '.join(names)}")
    return names.index(name) + 1


def mode_path_numbered(number: int) -> ModePath:
    """The path of a number, from 1."""
    return MODE_PATHS[number - 1]
