"""The memory of a coordinator at rest: it is about members that there are, and each of them is timed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.events import CoordinatorRested, Event, MemberRemoved
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.invariants.rest_members import FAMILY, SETTLED, RestFold, listed
from rebalance_check.properties.kinds import Handler, Invariant, Kind
from rebalance_check.properties.verdict import STEP, Violation

REPLACED: Final = "replaced"
"""The reason of a `MemberRemoved` after which Kafka lets the timers of the id run out."""

SESSION: Final = "session"
SYNC: Final = "sync"
"""Kinds of timers."""


class FormerMembersAreForgottenViolated(Violation):
    """The coordinator of a settled group remembered a client that is no member."""


class EachMemberIsTimedViolated(Violation):
    """A member of a settled group, or an id that was handed out, has no session that ends."""


class _Forgotten(RestFold):
    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {MemberRemoved: self.on_removed, CoordinatorRested: self.on_coordinator}
        super().__init__(invariant, handlers)
        self.bookkeeping = frozenset({MemberRemoved})
        self._replaced: set[str] = set()

    def on_removed(self, event: MemberRemoved) -> None:
        """The timer of an id that another one replaced runs out without effect."""
        if event.reason == REPLACED:
            self._replaced.add(event.member_id)

    def on_coordinator(self, event: CoordinatorRested) -> None:
        """Nothing names an id that is no member's, nothing waits, and what is counted is there."""
        for what in self._left_over(event):
            self.contradiction(
                f"the group is settled, and {what}",
                (f"the members are {listed([member_id for member_id, _ in event.offers])} at {STEP}.", event),
                (f"{what} at {STEP}.", event),
            )

    def _left_over(self, event: CoordinatorRested) -> Iterator[str]:
        members = {member_id for member_id, _ in event.offers}
        timed = members | set(event.pending_joins) | self._replaced
        for kind, member_id, _ in event.timers:
            if member_id and member_id not in timed:
                yield f"a {kind} timer is armed for {member_id}, which is no member"
        for instance, member_id in event.static_members:
            if member_id not in members:
                yield f"{instance} belongs to {member_id}, which is no member"
        for member_id in event.pending_syncs:
            if member_id not in members | self._replaced:
                yield f"a SyncGroup of {member_id} is awaited, which is no member"
        if members and event.leader not in members:
            yield f"{event.leader or 'nobody'} leads, which is no member"
        yield from _counted(event)


def _counted(event: CoordinatorRested) -> Iterator[str]:
    """Where the numbers of a group differ from its members."""
    counted = Counter(name for _, names in event.offers for name in names)
    if dict(event.supported) != dict(counted):
        held = listed([f"{name}: {count}" for name, count in event.supported])
        meant = listed([f"{name}: {count}" for name, count in sorted(counted.items())])
        yield f"the coordinator counts supporters {held}, and its members are {meant}"


class _Timed(RestFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {CoordinatorRested: self.on_coordinator})

    def on_coordinator(self, event: CoordinatorRested) -> None:
        """Each member, each pending id and each SyncGroup that is owed has a timer, and a Stable group no other."""
        for what in self._badly_timed(event):
            self.contradiction(
                f"the group is settled, and {what}",
                (f"{what} at {STEP}.", event),
            )

    def _badly_timed(self, event: CoordinatorRested) -> Iterator[str]:
        due = {member_id: ms for kind, member_id, ms in event.timers if kind == SESSION}
        for member_id, session_ms, _ in event.timeouts:
            if member_id not in due:
                yield f"no session timer is armed for the member {member_id}"
            elif due[member_id] > session_ms:
                yield f"the session of {member_id} ends in {due[member_id]} ms, and its timeout is {session_ms} ms"
        for member_id in event.pending_joins:
            if member_id not in due:
                yield f"no session timer is armed for {member_id}, an id that was handed out and not used"
        kinds = {kind for kind, _, _ in event.timers}
        if event.pending_syncs and SYNC not in kinds:
            yield f"no sync timer is armed, and a SyncGroup of {listed(event.pending_syncs)} is awaited"
        if "" in due:
            yield "a session timer is armed that is of no member"
        group = self.looks.now.group
        if group is not None and group.status == GroupStatus.STABLE:
            awaited = {SESSION, SYNC} if event.pending_syncs else {SESSION}
            idle = (kind for kind, _, _ in event.timers if kind not in awaited)
            yield from (f"a {kind} timer is armed in a Stable group that awaits nobody" for kind in idle)
            yield from (f"{api} of {member_id} is parked in a Stable group" for member_id, api in event.parked)


FormerMembersAreForgotten: Final = Invariant(
    name="former_members_are_forgotten",
    family=FAMILY,
    claim="the coordinator of a settled group keeps timers, instance ids, counts and awaited requests of its members "
    "alone, and one of them leads",
    source="GroupMetadataManager.removeMemberAndUpdateGroup, removePendingJoinMember; ClassicGroup.remove",
    premises=(
        SETTLED,
        "the run looks into the coordinator (CoordinatorRested)",
        "the session timer of a static member's former id is left to run out, and the SyncGroup that it owed stays "
        "awaited (ClassicGroup.replaceStaticMember)",
    ),
    exempted_by=(MemberRemoved,),
    violation=FormerMembersAreForgottenViolated,
    fold=_Forgotten,
    kind=Kind.LIVENESS,
)
"""The coordinator of a settled group keeps timers, instance ids, counts and awaited requests of its members alone.

The smallest history that breaks it::

    CoordinatorRested(incarnation=0, generation=2, leader="a", offers=(("a", ()),), timers=(("session", "b", 900),))
"""

EachMemberIsTimed: Final = Invariant(
    name="each_member_is_timed",
    family=FAMILY,
    claim="in a settled group a session timer runs for each member and for each id that was handed out, no longer than "
    "the session, and no session timer without a member; a sync timer runs where a SyncGroup is awaited, and a Stable "
    "group that awaits none times nothing else and has no request parked",
    source="GroupMetadataManager.rescheduleClassicGroupMemberHeartbeat, maybePrepareRebalanceOrCompleteJoin, "
    "schedulePendingSync, cancelClassicGroupSyncTimeout; KAFKA-12890",
    premises=(SETTLED, "the run looks into the coordinator (CoordinatorRested)"),
    violation=EachMemberIsTimedViolated,
    fold=_Timed,
    kind=Kind.LIVENESS,
)
"""In a settled group a session timer runs for each member and for each id that was handed out.

The smallest history that breaks it::

    CoordinatorRested(incarnation=0, generation=2, leader="a", timeouts=(("a", 10000, 15000),))
"""

CLAIMS: Final = (FormerMembersAreForgotten, EachMemberIsTimed)
"""In the order in which reports name them."""
