"""The port through which a coordinator writes, and two logs behind it: one commits at once, one is steered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rebalance_check.impl.coordinator.records import Record
from rebalance_check.model.vocabulary.errors import Error

OnOutcome = Callable[[Error, int], None]
"""Called once per append with NONE and the offset of its last record, or with the error of the write and -1."""


class GroupLog(Protocol):
    """Where records go. An outcome may come at once or later; outcomes come in the order of the calls."""

    def append(self, records: tuple[Record, ...], on_outcome: OnOutcome) -> None:
        """Write ``records`` as one unit."""

    def barrier(self, on_outcome: OnOutcome) -> None:
        """Report when everything appended before has its outcome: replies that wait for earlier writes hang on it."""


class ImmediateLog:
    """A log in memory that commits at once; ``records`` is all that was ever written, in order."""

    __slots__ = ("records",)

    def __init__(self) -> None:
        self.records: list[Record] = []

    def append(self, records: tuple[Record, ...], on_outcome: OnOutcome) -> None:
        """Keep ``records`` and report success."""
        self.records.extend(records)
        on_outcome(Error.NONE, len(self.records) - 1)

    def barrier(self, on_outcome: OnOutcome) -> None:
        """Report at once: nothing is ever pending."""
        on_outcome(Error.NONE, len(self.records) - 1)


class SteeredLog:
    """A log in memory whose outcomes are withheld or refused on demand.

    ``hold`` stops the high watermark, `release` lets it catch up, ``failure`` (an error of the write) refuses every
    append while it is set. ``records`` holds what was appended, committed or not; ``committed`` counts those that are.
    After a `release` the coordinator has answers to give: call its ``advance``.
    """

    __slots__ = ("_pending", "committed", "failure", "hold", "records")

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.committed = 0
        self.hold = False
        self.failure = Error.NONE
        self._pending: list[tuple[int, OnOutcome]] = []

    def append(self, records: tuple[Record, ...], on_outcome: OnOutcome) -> None:
        """Keep ``records`` unless ``failure`` is set; the outcome comes now, or with `release`."""
        if self.failure is not Error.NONE:
            on_outcome(self.failure, -1)
            return
        self.records.extend(records)
        self._settle(on_outcome)

    def barrier(self, on_outcome: OnOutcome) -> None:
        """Report now if nothing is pending, else after the last pending append."""
        if self._pending:
            self._pending.append((len(self.records), on_outcome))
        else:
            on_outcome(Error.NONE, len(self.records) - 1)

    def release(self) -> None:
        """Stop holding; everything pending is committed, in order."""
        self.hold = False
        pending, self._pending = self._pending, []
        for end, on_outcome in pending:
            self.committed = max(self.committed, end)
            on_outcome(Error.NONE, end - 1)

    def lose(self, count: int) -> None:
        """Drop the last ``count`` records and every pending outcome: the log's leader crashed, another took over."""
        del self.records[len(self.records) - count :]
        self._pending.clear()
        self.committed = len(self.records)
        self.hold = False

    def _settle(self, on_outcome: OnOutcome) -> None:
        end = len(self.records)
        if self.hold:
            self._pending.append((end, on_outcome))
        else:
            self.committed = end
            on_outcome(Error.NONE, end - 1)
