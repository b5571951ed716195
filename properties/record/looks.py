"""A look at a settled group is whole: all that run are looked at, and each says what it is known to have said."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorRested,
    Event,
    GroupRested,
    MemberRested,
    RestingStateRead,
    RunEnded,
    RunStarted,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

COORDINATOR: Final = "coordinator"
STORES: Final = frozenset({"config store", "status store"})
"""Roles of what belongs to no coordinator."""

"""The subject, and the role, of what a coordinator remembers."""


class LooksAreWholeViolated(Violation):
    """A look at a settled group left a member or the coordinator out, or what one of them joined with."""


class _Looks(SimulatedFold):
    """The looks, each at its time, and whose memory was read.

    All are judged at the end: what happens at one time may be recorded in any order.
    """

    bookkeeping = frozenset({CoordinatorRested, GroupRested, MemberRested, RestingStateRead})
    needs = ((RunStarted,), (GroupRested,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberRested: self.on_member,
            GroupRested: self.on_group,
            CoordinatorRested: self.on_coordinator,
            RestingStateRead: self.on_read,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._members: Recent[tuple[int, str], MemberRested] = Recent(WAITING)
        self._groups: Recent[int, GroupRested] = Recent(GENERATIONS)
        self._coordinators: Recent[int, CoordinatorRested] = Recent(GENERATIONS)
        self._read: dict[bool, RestingStateRead] = {}
        self._read_coordinators: set[bool] = set()

    def on_member(self, event: MemberRested) -> None:
        """One member of a look."""
        self._members[event.time_ms, event.member_id] = event

    def on_group(self, event: GroupRested) -> None:
        """What all see of it."""
        if self.run.is_recorded and event.status == GroupStatus.STABLE:
            self._groups[event.time_ms] = event
            self.compared = (self.compared or 0) + 1

    def on_coordinator(self, event: CoordinatorRested) -> None:
        """The last part of a look."""
        self._coordinators[event.time_ms] = event

    def on_read(self, event: RestingStateRead) -> None:
        """What members and coordinator remember of the group, and of one that was founded for the comparison."""
        if event.role in STORES:
            return
        if event.subject == COORDINATOR and event.role == COORDINATOR:
            self._read_coordinators.add(event.is_new)
        else:
            self._read[event.is_new] = event

    def on_end(self, event: RunEnded) -> None:
        """Each look has its coordinator; where the memory of members was read, that of their coordinator was, too."""
        for time_ms, group in self._groups.items():
            self._look_at_topics(group)
            if time_ms not in self._coordinators:
                self.contradiction(
                    "a settled group was looked at, and not what its coordinator keeps of it",
                    (f"the group is {group.status} at {STEP};", group),
                    (f"its coordinator was not looked at then, as is known at {STEP}: contradiction.", event),
                )
        for is_new, read in self._read.items():
            if is_new not in self._read_coordinators and self.run.is_recorded:
                self.contradiction(
                    f"the memory of {read.subject} was read, and none of its coordinator",
                    (f"{read.subject} says what it remembers at {STEP};", read),
                    (f"the run ended at {STEP}, and its coordinator said nothing: contradiction.", event),
                )

    def _look_at_topics(self, group: GroupRested) -> None:
        """What each member joined for is what the group has of it."""
        for member_id, topics in group.topics:
            member = self._members.get((group.time_ms, member_id))
            if member is not None and not set(topics) <= set(member.joined_topics):
                self.contradiction(
                    f"{member.member} does not say that it joined for {', '.join(topics)}",
                    (f"it says that it joined for {', '.join(member.joined_topics) or 'nothing'} at {STEP};", member),
                    (f"the group has it as subscribed to {', '.join(topics)} at {STEP}: contradiction.", group),
                )


LooksAreWhole: Final = Invariant(
    name="looks_are_whole",
    family=FAMILY,
    claim="each look at a settled group has its coordinator, too, and members that say what they joined with",
    source="GroupCoordinator.describeGroups; SubscriptionState (joinedSubscription)",
    premises=(RECORDED, "a subscriber by pattern may have learned of more topics since"),
    exempted_by=(CoordinatorRested, RestingStateRead),
    violation=LooksAreWholeViolated,
    fold=_Looks,
)
"""What is not looked at cannot be wrong.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    GroupRested(status="Stable", protocol="range")
"""

CLAIMS: Final = (LooksAreWhole,)
"""In the order in which reports name them."""
