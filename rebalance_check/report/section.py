"""One run on a page: what it shows, before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_check.properties.verdict import Counterexample
from rebalance_check.report.lanes import LaneTable
from rebalance_check.report.text import Origin, because_texts


@dataclass(frozen=True, slots=True)
class Section:
    """One run on the page; ``verdict`` is held, undecided or violated, ``lines`` say more about it."""

    title: str
    verdict: str
    table: LaneTable
    origin: Origin
    counterexample: Counterexample | None = None
    lines: Sequence[str] = ()

    @property
    def because(self) -> list[str]:
        """The reasons, each naming the step that gives it."""
        return because_texts(self.counterexample, self.table) if self.counterexample else []
