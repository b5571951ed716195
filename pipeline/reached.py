"""What the runs of a campaign reached together: in how many of them each situation arose, and each fault struck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.model.vocabulary.status_course import STATUSES
from rebalance_check.properties.situations import fault_in


@dataclass(frozen=True, slots=True)
class Round:
    """Some runs that were chosen together: how many, and how many situations they reached that none before had."""

    runs: int
    new: int


@dataclass(slots=True)
class Reached:
    """``runs`` has for each situation (`properties.situations`) the number of runs that reached it.

    ``rounds`` are there where seeds were chosen, and ``chosen`` are those, in the order in which they were.
    """

    runs: Counter[str] = field(default_factory=Counter)
    rounds: list[Round] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)

    def add(self, situations: Iterable[str]) -> int:
        """Count another run; returns how many of its situations are new."""
        before = len(self.runs)
        self.runs.update(situations)
        return len(self.runs) - before

    def add_counts(self, counts: Mapping[str, int]) -> None:
        """Count several runs."""
        self.runs.update(counts)

    def strikes(self, kind: FaultKind) -> dict[str, int]:
        """In how many runs a kind of fault struck, by the status of the group; the statuses that it met."""
        found = {status: self.runs[fault_in(kind, status)] for status in STATUSES}
        return {status: runs for status, runs in found.items() if runs}
