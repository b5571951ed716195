"""What stands in the coordinator's log: the records that a coordinator wrote, each as often as it wrote it."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupMetadataAppended,
    GroupMetadataWritten,
    IncarnationStarted,
    RunStarted,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import GENERATIONS, Recent
from rebalance_check.properties.views.simulated import SimulatedFold

Record = tuple[int, int, tuple[str, ...]]
"""Incarnation, generation and members."""


class OnlyWrittenRecordsAreAppendedViolated(Violation):
    """The log has a record of a group that its coordinator did not write."""


class _Written(SimulatedFold):
    """What was handed to the log, and how often it was appended."""

    bookkeeping = frozenset({IncarnationStarted, GroupMetadataWritten})
    needs = ((IncarnationStarted,), (RunStarted, GroupMetadataWritten))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            IncarnationStarted: self.on_incarnation,
            GroupMetadataWritten: self.on_written,
            GroupMetadataAppended: self.on_appended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._begun: Recent[int, IncarnationStarted] = Recent(GENERATIONS)
        self._writes = False
        self._open: Recent[Record, int] = Recent(GENERATIONS)

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """From here on all that it writes is recorded."""
        self._begun[event.incarnation] = event

    def on_written(self, event: GroupMetadataWritten) -> None:
        """It may be appended once, or never."""
        self._writes = True
        record = (event.incarnation, event.generation, tuple(sorted(event.members)))
        self._open[record] = self._open.get(record, 0) + 1

    def on_appended(self, event: GroupMetadataAppended) -> None:
        """It was written before."""
        begun = self._begun.get(event.incarnation)
        record = (event.incarnation, event.generation, tuple(sorted(event.members)))
        if begun is None or not (self._writes or self.run.is_simulated):
            return
        self.compared = (self.compared or 0) + 1
        left = self._open.get(record, 0)
        if left:
            self._open[record] = left - 1
        else:
            self.contradiction(
                f"a record of generation {event.generation} stands in the log, and was not written",
                (f"incarnation {event.incarnation} began at {STEP};", begun),
                (f"a record of it was appended at {STEP}, and the coordinator had written none like it: contradiction.",
                 event),
            )  # fmt: skip


OnlyWrittenRecordsAreAppended: Final = Invariant(
    name="only_written_records_are_appended",
    family="persistence",
    claim="each group record in the log was written once by the incarnation that it is of, with its generation and "
    "members",
    source="CoordinatorRuntime.scheduleWriteOperation; GroupCoordinatorRecordHelpers.newGroupMetadataRecord",
    premises=(
        "the history holds the incarnation from its begin, with what it writes (GroupMetadataWritten), as that of each "
        "simulated run does",
    ),
    exempted_by=(GroupMetadataWritten,),
    violation=OnlyWrittenRecordsAreAppendedViolated,
    fold=_Written,
)
"""A log holds what was written, and each record as often as that.

The smallest history that breaks it::

    IncarnationStarted(incarnation=0, generation=0, status="Empty")
    GroupMetadataWritten(incarnation=0, generation=1, members=("a",))
    GroupMetadataAppended(incarnation=0, generation=1, members=("a", "b"), offset=0)
"""

CLAIMS: Final = (OnlyWrittenRecordsAreAppended,)
"""In the order in which reports name them."""
