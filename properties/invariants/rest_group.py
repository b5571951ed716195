"""A group at rest: what its coordinator holds of each member is what that member has, wants and would join with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorRested,
    Event,
    GenerationStarted,
    GroupRested,
    MemberRested,
    MemberStarted,
    SubscriptionChanged,
)
from rebalance_check.properties.invariants.rest_members import FAMILY, SETTLED, RestFold, listed
from rebalance_check.properties.kinds import Invariant, Kind
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.rest import APART_MS

Difference = tuple[str, str, str]
"""What is compared, what the coordinator holds, and what the member has."""


class CoordinatorHoldsWhatMembersWantViolated(Violation):
    """The coordinator of a settled group holds other settings of a member than that member has."""


class OwnedIsWhatTheCoordinatorHoldsViolated(Violation):
    """A member of a settled group owns something else than its coordinator holds as its assignment."""


class _Terms(RestFold):
    """What the coordinator holds of each member, as DescribeGroups shows it and as it stands in its memory."""

    needs = ((MemberRested,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {GroupRested: self.on_group, CoordinatorRested: self.on_coordinator})
        self.compared = 0
        self._differ: dict[type[Event], dict[str, set[Difference]]] = {GroupRested: {}, CoordinatorRested: {}}

    def on_group(self, event: GroupRested) -> None:
        """Member and instance ids, the selected protocol and subscriptions are those of the members."""
        before, self._differ[GroupRested] = self._differ[GroupRested], {}
        instances, topics = dict(event.instances), dict(event.topics)
        for rested in self.looks.now.members.values():
            if rested.member_id not in instances:
                held = listed(sorted(instances))
                self._compare(event, rested, [("member id", held, rested.member_id)], before)
                continue
            pairs: list[Difference] = [
                ("group instance id", instances[rested.member_id], rested.group_instance_id),
                ("selected protocol", event.protocol, rested.protocol),
            ]
            if rested.member_id in topics:
                pairs += self._topics(topics[rested.member_id], rested)
            self._compare(event, rested, pairs, before)

    def _topics(self, held: tuple[str, ...], rested: MemberRested) -> Iterator[Difference]:
        """What the application said last, what the member makes of it, and what it joined with are one."""
        wish = self.looks.wishes.get(rested.member)
        for what, topics in (
            ("wanted topics", wish.topics if wish is not None else ()),
            ("topics", rested.topics),
            ("joined topics", rested.joined_topics),
        ):
            if topics:
                yield what, listed(sorted(held)), listed(sorted(topics))

    def on_coordinator(self, event: CoordinatorRested) -> None:
        """Generation, timeouts and protocols are those of the members, and of the processes as they were started."""
        before, self._differ[CoordinatorRested] = self._differ[CoordinatorRested], {}
        timeouts = {member_id: (session, rebalance) for member_id, session, rebalance in event.timeouts}
        offers = dict(event.offers)
        for rested in self.looks.now.members.values():
            if rested.member_id in timeouts:
                pairs = [
                    ("generation", str(event.generation), str(rested.generation)),
                    *_timeouts(timeouts[rested.member_id], rested, self.looks.started.get(rested.member)),
                    *self._offers(event, offers.get(rested.member_id, ()), rested),
                ]
                self._compare(event, rested, pairs, before)

    def _offers(self, event: CoordinatorRested, held: tuple[str, ...], rested: MemberRested) -> Iterator[Difference]:
        """A coordinator that read its log knows of each member only the protocol that was selected, until the next
        join."""
        is_complete = event.incarnation in self.looks.formed
        if rested.offers and (is_complete or held != (rested.protocol,)):
            yield "protocols", listed(held), listed(rested.offers)

    def _compare(
        self, event: Event, rested: MemberRested, pairs: list[Difference], before: dict[str, set[Difference]]
    ) -> None:
        """Note how they differ; what differed in the same way at the look before was given the time to be noticed."""
        differ = self._differ[type(event)][rested.member] = {pair for pair in pairs if pair[1] != pair[2]}
        if self.looks.earlier(rested) is None:
            return
        self.compared = (self.compared or 0) + 1
        for what, held, had in pairs:
            if (what, held, had) in differ & before.get(rested.member, set()):
                self.contradiction(
                    f"{rested.member} has the {what} {had or 'none'}, and its coordinator holds {held or 'none'}",
                    (f"{rested.member} has the {what} {had or 'none'} at {STEP}, when the group was settled.", rested),
                    (f"the coordinator holds {held or 'none'} for it at {STEP}.", event),
                )


def _timeouts(held: tuple[int, int], rested: MemberRested, started: MemberStarted | None) -> Iterator[Difference]:
    for kind, in_ms, of_member, of_process in (
        ("session", held[0], rested.session_timeout_ms, started.session_timeout_ms if started else 0),
        ("rebalance", held[1], rested.rebalance_timeout_ms, started.rebalance_timeout_ms if started else 0),
    ):
        for known in (of_member, of_process):
            if known:
                yield f"{kind} timeout", f"{in_ms} ms", f"{known} ms"


class _Assigned(RestFold):
    needs = ((MemberRested,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {GroupRested: self.on_group})
        self.compared = 0

    def on_group(self, event: GroupRested) -> None:
        """Each member owns its assignment, and nothing else."""
        assigned = dict(event.assignments)
        for rested in self.looks.now.members.values():
            if rested.member_id not in assigned:
                continue
            if self.looks.earlier(rested) is None:
                continue
            self.compared = (self.compared or 0) + 1
            given = assigned[rested.member_id]
            if set(given) != set(rested.owned):
                self.contradiction(
                    f"{rested.member} owns {listed(rested.owned)}, and the coordinator holds {listed(given)} for it",
                    (f"{rested.member} owns {listed(rested.owned)} at {STEP}, when the group was settled.", rested),
                    (f"the coordinator holds {listed(given)} for {rested.member_id} at {STEP}.", event),
                )


CoordinatorHoldsWhatMembersWant: Final = Invariant(
    name="coordinator_holds_what_members_want",
    family=FAMILY,
    claim="the coordinator of a settled group holds each member, with the instance id, topics, protocols and timeouts "
    "that the member has, in the generation that it is in",
    source="GroupMetadataManager.updateMemberThenRebalanceOrCompleteJoin, ClassicGroup.updateMember",
    premises=(
        SETTLED,
        f"what differs at two looks in one generation, {APART_MS // 1000} s or more apart, was not noticed",
        "a coordinator that read its log knows only the selected protocol of each member, until all join again",
    ),
    exempted_by=(GenerationStarted, MemberStarted, SubscriptionChanged),
    violation=CoordinatorHoldsWhatMembersWantViolated,
    fold=_Terms,
    kind=Kind.LIVENESS,
)
"""The coordinator of a settled group holds of each member what the member has.

The smallest history that breaks it::

    MemberRested(member="m0", generation=1, member_id="m0-1", session_timeout_ms=10000)
    CoordinatorRested(incarnation=0, generation=1, timeouts=(("m0-1", 6000, 0),))
    MemberRested(member="m0", generation=1, member_id="m0-1", session_timeout_ms=10000, time_ms=7000)
    CoordinatorRested(incarnation=0, generation=1, timeouts=(("m0-1", 6000, 0),))
"""

OwnedIsWhatTheCoordinatorHolds: Final = Invariant(
    name="owned_is_what_the_coordinator_holds",
    family=FAMILY,
    claim="a member of a settled group owns exactly the assignment that its coordinator holds for it",
    source="ConsumerCoordinator.onJoinComplete, ClassicGroupMember.assignment",
    premises=(
        SETTLED,
        f"the member has been in its generation at two looks, {APART_MS // 1000} s or more apart",
        "the group is one of consumers, whose assignments DescribeGroups shows",
    ),
    violation=OwnedIsWhatTheCoordinatorHoldsViolated,
    fold=_Assigned,
    kind=Kind.LIVENESS,
)
"""A member of a settled group owns exactly the assignment that its coordinator holds for it.

The smallest history that breaks it::

    MemberRested(member="m0", generation=1, member_id="m0-1", owned=("t-0",))
    MemberRested(member="m0", generation=1, member_id="m0-1", owned=("t-0",), time_ms=7000)
    GroupRested(status="Stable", instances=(("m0-1", ""),), assignments=(("m0-1", ("t-0", "t-1")),))
"""

CLAIMS: Final = (CoordinatorHoldsWhatMembersWant, OwnedIsWhatTheCoordinatorHolds)
"""In the order in which reports name them."""
