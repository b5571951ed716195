"""How a page draws the texts of a lane: one tone for each kind of text."""

from __future__ import annotations

from typing import Final

from rebalance_check.report.board import CONDITIONS, NOTHING
from rebalance_check.report.wire_cells import ENDED, SIGNALLED

STATUSES: Final = {
    "Empty": "empty",
    "Preparing": "preparing",
    "Completing": "completing",
    "Stable": "stable",
    "Dead": "absent",
}
ABSENT: Final = frozenset(filter(None, (*CONDITIONS.values(), *SIGNALLED.values())))


def tone_of(text: str) -> str:
    """``nothing``, ``absent`` for a process that is not at work, the status of a group, or else ``holds``."""
    if text == NOTHING:
        return "nothing"
    last = text.rpartition("  ")[2]
    if last in ABSENT or last.startswith(ENDED):
        return "absent"
    return STATUSES.get(text.partition(" ")[0], "holds")
