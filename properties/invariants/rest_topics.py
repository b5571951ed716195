"""A group at rest: its coordinator knows which topics its members read, and keeps the offsets of these."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import CoordinatorRested, GroupRested, MemberRested
from rebalance_check.properties.invariants.rest_members import FAMILY, SETTLED, RestFold, listed
from rebalance_check.properties.kinds import Invariant, Kind
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.rest import APART_MS


class OffsetsOfItsTopicsAreHeldViolated(Violation):
    """The coordinator of a settled group takes it for subscribed to other topics than its members read."""


class _Topics(RestFold):
    """What was held at the look before, when that was not what the members read."""

    needs = ((MemberRested,), (GroupRested,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {CoordinatorRested: self.on_coordinator})
        self.compared = 0
        self._wrong: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def on_coordinator(self, event: CoordinatorRested) -> None:
        """All topics that some member joined with, and no others."""
        wrong, self._wrong = self._wrong, None
        group, members = self.looks.now.group, self.looks.now.members.values()
        sees_all = {one.member_id for one in members} == {member_id for member_id, *_ in event.timeouts}
        if group is None or not group.topics or not sees_all:
            return
        read = tuple(sorted({topic for one in members for topic in one.joined_topics}))
        if event.subscribed != read:
            self._wrong = (event.subscribed, read)
        if any(self.looks.earlier(one) is None for one in members):
            return
        self.compared = (self.compared or 0) + 1
        if self._wrong is not None and self._wrong == wrong:
            self.contradiction(
                f"the coordinator takes the group for subscribed to {listed(event.subscribed)}, and it reads "
                f"{listed(read)}",
                *((f"{one.member} reads {listed(one.joined_topics)} at {STEP};", one) for one in members),
                (f"the coordinator counts {listed(event.subscribed)} at {STEP}: the offsets of topics that it does not "
                 "count expire while they are used, and those of others never do.", event),
            )  # fmt: skip


OffsetsOfItsTopicsAreHeld: Final = Invariant(
    name="offsets_of_its_topics_are_held",
    family=FAMILY,
    claim="the coordinator of a settled group of consumers takes it for subscribed to the topics that its members "
    "joined with, whose offsets neither expire nor can be deleted, and to no others",
    source="ClassicGroup.computeSubscribedTopics, isSubscribedToTopic; KIP-211, KIP-496",
    premises=(
        SETTLED,
        "the observer looks at every member that the coordinator holds",
        f"what differs at two looks in one generation, {APART_MS // 1000} s or more apart, was not noticed",
    ),
    violation=OffsetsOfItsTopicsAreHeldViolated,
    fold=_Topics,
    kind=Kind.LIVENESS,
)
"""The coordinator of a settled group counts the topics that its members read.

The smallest history that breaks it::

    MemberRested(member="m0", generation=1, member_id="a", joined_topics=("t",))
    GroupRested(status="Stable", instances=(("a", ""),), topics=(("a", ("t",)),))
    CoordinatorRested(incarnation=0, generation=1, timeouts=(("a", 6000, 0),))
    MemberRested(member="m0", generation=1, member_id="a", joined_topics=("t",), time_ms=7000)
    GroupRested(status="Stable", instances=(("a", ""),), topics=(("a", ("t",)),))
    CoordinatorRested(incarnation=0, generation=1, timeouts=(("a", 6000, 0),))
"""

CLAIMS: Final = (OffsetsOfItsTopicsAreHeld,)
"""In the order in which reports name them."""
