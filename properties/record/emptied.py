"""A group that becomes empty is written: a coordinator that reads the log knows that its members are gone."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupMetadataWritten,
    GroupStatusChanged,
    IncarnationEnded,
    MemberAdded,
    RequestParked,
    RunEnded,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY, REPLIES
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class EmptiedGroupsAreWrittenViolated(Violation):
    """A generation without members began, and the coordinator wrote no record of it."""


class _Emptied(SimulatedFold):
    """Per incarnation: the generation without members that is to be written next."""

    bookkeeping = frozenset(
        {GroupMetadataWritten, GroupStatusChanged, IncarnationEnded, MemberAdded, RequestParked, RunEnded, *REPLIES}
    )

    def __init__(self, invariant: Invariant) -> None:
        others = (GroupStatusChanged, IncarnationEnded, MemberAdded, RequestParked, *REPLIES)
        handlers: dict[type[Event], Handler] = {
            GenerationStarted: self.on_generation,
            GroupMetadataWritten: self.on_written,
            **dict.fromkeys(others, self.on_other),
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._unwritten: dict[int, GenerationStarted] = {}

    def on_generation(self, event: GenerationStarted) -> None:
        """The group is empty from here on."""
        self.on_other(event)
        if self.run.is_recorded and not event.members:
            self.compared = (self.compared or 0) + 1
            self._unwritten[event.incarnation] = event

    def on_written(self, event: GroupMetadataWritten) -> None:
        """Its record is of that generation, and names no member."""
        emptied = self._unwritten.pop(event.incarnation, None)
        if emptied is not None and (event.generation != emptied.generation or event.members):
            self._report(emptied, event)

    def on_other(self, event: CoordinatorEvent) -> None:
        """The coordinator goes on with the group."""
        if (emptied := self._unwritten.pop(event.incarnation, None)) is not None:
            self._report(emptied, event)

    def on_end(self, event: RunEnded) -> None:
        """The run is over."""
        for emptied in self._unwritten.values():
            self._report(emptied, event)

    def _report(self, emptied: GenerationStarted, event: Event) -> None:
        self.contradiction(
            f"generation {emptied.generation} has no members, and is not written",
            (f"generation {emptied.generation} began without members at {STEP};", emptied),
            (f"the coordinator has written no record that says so until {STEP}: contradiction.", event),
        )


EmptiedGroupsAreWritten: Final = Invariant(
    name="emptied_groups_are_written",
    family=FAMILY,
    claim="a coordinator whose group has become empty writes a record of that generation, without members, before it "
    "does anything else with the group",
    source="GroupMetadataManager.completeClassicGroupJoin",
    premises=(RECORDED,),
    exempted_by=(GroupMetadataWritten,),
    violation=EmptiedGroupsAreWrittenViolated,
    fold=_Emptied,
)
"""A group that becomes empty is written.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    GenerationStarted(incarnation=0, generation=2, members=(), leader="")
    MemberAdded(incarnation=0, generation=2, member_id="b")
"""

CLAIMS: Final = (EmptiedGroupsAreWritten,)
"""In the order in which reports name them."""
