"""The situations of a campaign: in how many of its runs each one arose, and each fault struck."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rebalance_check.impl.runtime.options import FaultKind
from rebalance_check.model.vocabulary.status_course import STATUSES
from rebalance_check.properties.situations import fault_in


@dataclass(slots=True)
class Reached:
    """``runs`` has for each situation (`properties.situations`) the number of runs that reached it."""

    runs: Counter[str] = field(default_factory=Counter)

    def strikes(self, kind: FaultKind) -> dict[str, int]:
        """In how many runs a kind of fault struck, by the status of the group; the statuses that it met."""
        found = {status: self.runs[fault_in(kind, status)] for status in STATUSES}
        return {status: runs for status, runs in found.items() if runs}
