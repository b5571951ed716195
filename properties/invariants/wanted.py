"""What a leader deals out: to each member only what that member asked for."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import AssignmentComputed
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import STEP, Violation


class AssignedTopicsAreWantedViolated(Violation):
    """A leader assigned a member partitions of a topic that the member did not ask for."""


class _Wanted(Fold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {AssignmentComputed: self.on_computed})
        self.compared = 0

    def on_computed(self, event: AssignmentComputed) -> None:
        """Each member gets partitions of its own topics, or none."""
        wanted = dict(event.wanted_topics)
        for member, given in event.assignments:
            if member in wanted:
                self.compared = (self.compared or 0) + 1
                if unwanted := sorted(one for one in given if topic_of(one) not in wanted[member]):
                    self._report(event, member, ", ".join(unwanted), ", ".join(wanted[member]) or "nothing")

    def _report(self, event: AssignmentComputed, member: str, unwanted: str, wanted: str) -> None:
        self.contradiction(
            f"{member} is assigned {unwanted}, and asked for {wanted}",
            (f"{event.member} computed the assignment at {STEP}: it assigns {unwanted} to {member}, whose "
             f"subscription lists {wanted}: contradiction.", event),
        )  # fmt: skip


AssignedTopicsAreWanted: Final = Invariant(
    name="assigned_topics_are_wanted",
    family="agreement",
    claim="a leader assigns to each member only partitions of topics that the subscription of this member lists",
    source="ConsumerPartitionAssignor.assign; AbstractPartitionAssignor.consumersPerTopic; "
    "ConsumerCoordinator.onJoinComplete (received assignment does not match the current subscription)",
    premises=("the leader's record has the subscriptions that its JoinGroup reply listed (wanted_topics)",),
    violation=AssignedTopicsAreWantedViolated,
    fold=_Wanted,
)
"""A member that is assigned what it did not ask for takes nothing of its assignment, and joins again and again.

The smallest history that breaks it::

    AssignmentComputed(member="m0", generation=1, wanted_topics=(("a", ("t",)),), assignments=(("a", ("u-0",)),))
"""

CLAIMS: Final = (AssignedTopicsAreWanted,)
"""In the order in which reports name them."""
