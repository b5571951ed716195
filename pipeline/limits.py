"""When a campaign ends before its last seed: at its first new finding, or when its time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from rebalance_check.pipeline.judging import VerdictRow
from rebalance_check.properties.known import NOTHING_KNOWN, KnownFindings
from rebalance_check.properties.verdict import Outcome

OnFinding: TypeAlias = Callable[[VerdictRow], None]
"""Takes the first new finding, as soon as it is there."""


def ignore_finding(_row: VerdictRow) -> None:
    """Nothing is done about a first finding."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``stop_at_first``: the campaign ends at its first new finding. ``seconds`` is how long it may take, None for as
    long as its seeds take."""

    stop_at_first: bool = False
    seconds: float | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return self.stop_at_first or self.seconds is not None


NO_LIMITS: Final = Limits()


class Watch:
    """Looks at verdicts as they come; ``on_finding`` takes the first that is violated and not ``known``."""

    def __init__(
        self, limits: Limits, known: KnownFindings = NOTHING_KNOWN, on_finding: OnFinding = ignore_finding
    ) -> None:
        self._limits = limits
        self._known = known
        self._on_finding = on_finding
        self._started = time.monotonic()
        self._has_found = False
        self._first_of: dict[str, VerdictRow] = {}

    def take(self, rows: Iterable[VerdictRow]) -> None:
        """Take the verdicts on some more runs."""
        new = self._new(rows)
        for row in new:
            self._first_of.setdefault(row.invariant, row)
        if new and not self._has_found:
            self._has_found = True
            self._on_finding(new[0])

    def note(self, *, is_new: bool) -> None:
        """Take note of a run that was judged elsewhere: whether something new was found in it."""
        self._has_found = self._has_found or is_new

    def _new(self, rows: Iterable[VerdictRow]) -> list[VerdictRow]:
        broken = (row for row in rows if row.outcome is Outcome.VIOLATED)
        new = [row for row in broken if self._known.entry_for(row.invariant, row.detail) is None]
        return sorted(new, key=lambda row: row.seed)

    @property
    def findings_so_far(self) -> str:
        """A sentence with the first finding of each claim, for a campaign that ends before its result."""
        found = [f"{row.invariant} (seed {row.seed}: {row.detail})" for row in self._first_of.values()]
        return f"found so far: {', '.join(found)}" if found else "nothing is found so far"

    @property
    def may_end(self) -> bool:
        """Whether the campaign may end before its last seed."""
        return self._limits.any

    @property
    def is_over(self) -> bool:
        """Whether the campaign ends here."""
        seconds = self._limits.seconds
        late = seconds is not None and time.monotonic() - self._started >= seconds
        return late or (self._limits.stop_at_first and self._has_found)
