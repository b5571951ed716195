"""Who is in the group at its coordinator, and which way its status goes."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupMetadataWritten,
    GroupStatusChanged,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import (
    ACCEPTED,
    IncarnationFold,
)

_FOLLOWERS: Final = {
    GroupStatus.EMPTY: (GroupStatus.PREPARING_REBALANCE, GroupStatus.DEAD),
    GroupStatus.PREPARING_REBALANCE: (GroupStatus.EMPTY, GroupStatus.COMPLETING_REBALANCE, GroupStatus.DEAD),
    GroupStatus.COMPLETING_REBALANCE: (GroupStatus.PREPARING_REBALANCE, GroupStatus.STABLE, GroupStatus.DEAD),
    GroupStatus.STABLE: (GroupStatus.PREPARING_REBALANCE, GroupStatus.DEAD),
}
LEGAL_MOVES: Final = frozenset((one, other) for one, followers in _FOLLOWERS.items() for other in followers)
"""From which status to which a classic group may go."""


class LegalTransitionsViolated(Violation):
    """A group moved between two statuses that do not follow each other."""


class PendingIdsAreNotMembersViolated(Violation):
    """A member id that was handed out and not used yet counted as a member."""


class OneMemberPerInstanceViolated(Violation):
    """Two members of a group had one group instance id."""


class LeaderIsMemberViolated(Violation):
    """A group with members had no leader, or one that is none of them."""


class EmptyGroupIsCleanViolated(Violation):
    """An Empty group still had a member, a leader or a protocol."""


class OnlyLaggardsTimeOutViolated(Violation):
    """The sync timeout removed a member that had sent its SyncGroup, or outside a formed generation."""


class _Transitions(IncarnationFold):
    bookkeeping = frozenset({IncarnationStarted})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {IncarnationStarted: self.on_incarnation, GroupStatusChanged: self.on_status})
        self._last: dict[int, tuple[str, Event]] = {}

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """An incarnation begins in a status of its own."""
        self._last.pop(event.incarnation, None)
        if event.status:
            self._last[event.incarnation] = (event.status, event)

    def on_status(self, event: GroupStatusChanged) -> None:
        """Each move is in the table, and begins where the one before it ended."""
        status, before = self._last.get(event.incarnation, (event.from_status, None))
        self._last[event.incarnation] = (event.to_status, event)
        moved = f"from {event.from_status} to {event.to_status}"
        if status != event.from_status:
            self.contradiction(
                f"the group was {status} and moved {moved}",
                (f"the group became {status} at {STEP}.", before),
                (f"at {STEP} it left {event.from_status}, in which it was not: contradiction.", event),
            )
        elif before is None and (event.from_status, event.to_status) == (GroupStatus.DEAD, GroupStatus.EMPTY):
            return  # how an incarnation begins where an absent group counts as Dead
        elif (event.from_status, event.to_status) not in LEGAL_MOVES:
            self.contradiction(
                f"the group moved {moved}", (f"at {STEP} it moved {moved}, which no status table knows.", event)
            )


class _Pending(IncarnationFold):
    needs = ((JoinGroupReplied,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                JoinGroupReplied: self.on_join_replied,
                GenerationStarted: self.on_generation,
                SyncGroupReplied: self.on_sync_replied,
            },
        )

    def on_join_replied(self, event: JoinGroupReplied) -> None:
        """What MEMBER_ID_REQUIRED hands out is no member's id yet."""
        group = self.incarnations.current
        if event.error == "MEMBER_ID_REQUIRED" and group is not None and event.assigned_member_id in group.members:
            self.contradiction(
                f"{event.assigned_member_id} is handed out with MEMBER_ID_REQUIRED and is a member",
                (
                    f"{event.assigned_member_id} is a member of the group, and was handed out at {STEP}: "
                    "contradiction.",
                    event,
                ),
            )

    def on_generation(self, event: GenerationStarted) -> None:
        """No member is in a generation that has not joined with its id."""
        group = self.incarnations.current
        for member in sorted(group.pending.keys() & set(event.members)) if group is not None and group.pending else ():
            self._report(member, f"it is in generation {event.generation}, which started", event)

    def on_sync_replied(self, event: SyncGroupReplied) -> None:
        """A pending id is UNKNOWN_MEMBER_ID to everything but JoinGroup and LeaveGroup."""
        group = self.incarnations.current
        if group is not None and event.member_id in group.pending and event.error == ACCEPTED:
            self._report(event.member_id, "its SyncGroup was accepted", event)

    def _report(self, member: str, what: str, event: Event) -> None:
        group = self.incarnations.current
        given = group.pending[member] if group is not None else None
        self.contradiction(
            f"{member} was handed out, has not joined, and counts as a member",
            (f"{member} was handed out with MEMBER_ID_REQUIRED at {STEP}, and no join with it was accepted.", given),
            (f"{what} at {STEP}: contradiction.", event),
        )


class _OnePerInstance(IncarnationFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberAdded: self.on_added, IncarnationStarted: self.on_incarnation})
        self._since: dict[str, Event] = {}

    def on_added(self, event: MemberAdded) -> None:
        """The member that had the instance id before is gone by now."""
        group = self.incarnations.current
        if not event.instance_id or group is None:
            return
        for other, instance in group.members.items():
            if instance == event.instance_id and other != event.member_id:
                self._report(other, event.member_id, instance, event)
        self._since[event.member_id] = event

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """Neither does the log know two."""
        seen: dict[str, str] = {}
        for member, instance in event.instances:
            other = seen.setdefault(instance, member)
            if other != member:
                self._report(other, member, instance, event)

    def _report(self, one: str, other: str, instance: str, event: Event) -> None:
        self.contradiction(
            f"{one} and {other} are both members with the group instance id {instance}",
            (f"{one} is a member with {instance} since {STEP}.", self._since.get(one)),
            (f"{other} is one, too, since {STEP}: contradiction.", event),
        )


class _Leader(IncarnationFold):
    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            GenerationStarted: self.on_generation,
            IncarnationStarted: self.on_incarnation,
            JoinGroupReplied: self.on_join_replied,
        }
        super().__init__(invariant, handlers)

    def on_generation(self, event: GenerationStarted) -> None:
        """A generation with members has one of them for its leader."""
        self._compare(event.members, event.leader, f"generation {event.generation} started", event)

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """What was loaded has a leader exactly when it has members."""
        if event.status:
            self._compare(event.members, event.leader, f"incarnation {event.incarnation} began", event)

    def on_join_replied(self, event: JoinGroupReplied) -> None:
        """The leader that a reply names is a member, or was until its successor replaced it."""
        group = self.incarnations.current
        if event.error != ACCEPTED or group is None or not group.is_known or not event.leader:
            return
        if group.heir_of(event.leader) not in group.members:
            self.contradiction(
                f"{event.assigned_member_id} learns that {event.leader} leads, which is no member",
                (f"{event.leader} is no member at the reply, at {STEP}: contradiction.", event),
            )

    def _compare(self, members: tuple[str, ...], leader: str, when: str, event: Event) -> None:
        if bool(members) == bool(leader) and (not leader or leader in members):
            return
        led = f"led by {leader}" if leader else "without a leader"
        who = f"the members {', '.join(members)}" if members else "no member"
        self.contradiction(
            f"a group with {who} is {led}", (f"{when} at {STEP} with {who}, {led}: contradiction.", event)
        )


class _Clean(IncarnationFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                GroupStatusChanged: self.on_status,
                IncarnationStarted: self.on_incarnation,
                GroupMetadataWritten: self.on_written,
                SyncGroupReplied: self.on_replied,
            },
        )

    def on_status(self, event: GroupStatusChanged) -> None:
        """The last member is gone before the group is Empty; one that begins has its first member at once."""
        group = self.incarnations.current
        if (
            event.to_status == GroupStatus.EMPTY
            and event.from_status != GroupStatus.DEAD
            and group is not None
            and group.is_known
            and group.members
        ):
            self._report(f"members ({', '.join(sorted(group.members))})", event)

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """What was loaded as Empty has nothing else, either."""
        if event.status == GroupStatus.EMPTY and (event.members or event.leader or event.protocol):
            self._report("members, a leader or a protocol", event)

    def on_written(self, event: GroupMetadataWritten) -> None:
        """The record of an Empty group has no members."""
        group = self.incarnations.current
        if group is not None and group.status == GroupStatus.EMPTY and event.members:
            self._report(f"members on record ({', '.join(event.members)})", event)

    def on_replied(self, event: SyncGroupReplied) -> None:
        """No member syncs with an Empty group."""
        group = self.incarnations.current
        if group is not None and group.status == GroupStatus.EMPTY and event.error == ACCEPTED:
            self._report(f"an assignment for {event.member_id}", event)

    def _report(self, what: str, event: Event) -> None:
        group = self.incarnations.current
        since = group.changed if group is not None and group.changed is not event else None
        self.contradiction(
            f"the group is Empty and has {what}",
            *([(f"the group became Empty at {STEP}.", since)] if since is not None else []),
            (f"at {STEP} it has {what}: contradiction.", event),
        )


class _Laggards(IncarnationFold):
    needs = ((IncarnationStarted, GroupStatusChanged),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberRemoved: self.on_removed})

    def on_removed(self, event: MemberRemoved) -> None:
        """The sync timeout is for who owes a SyncGroup of the present generation."""
        group = self.incarnations.current
        if event.reason != "sync timeout" or group is None or not group.status:
            return
        if group.status not in {GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}:
            self._report(event, f"the group is {group.status}, where no member owes a SyncGroup")
        elif group.had_synced:
            self._report(event, f"it had sent its SyncGroup for generation {event.generation}")

    def _report(self, event: MemberRemoved, why: str) -> None:
        group = self.incarnations.current
        started = group.started if group is not None else None
        self.contradiction(
            f"{event.member_id} is removed for a SyncGroup that it does not owe",
            *([(f"generation {event.generation} started at {STEP}.", started)] if started is not None else []),
            (f"{why}, and the sync timeout removed it at {STEP}: contradiction.", event),
        )


_PREMISE: Final = (
    "the history holds the coordinator's events; an incarnation is known from its start, or its next generation"
)

LegalTransitions: Final = Invariant(
    name="legal_transitions",
    family="membership",
    claim="the group moves only along the table of statuses: the last member leaves by way of PreparingRebalance",
    source="ClassicGroupState; ClassicGroup.assertValidTransition",
    premises=("the history holds the coordinator's GroupStatusChanged",),
    relies_on=frozenset({Feature.SYNC_GROUP}),
    violation=LegalTransitionsViolated,
    fold=_Transitions,
)
"""The group moves only along the table of statuses. There is no way from Stable or CompletingRebalance to Empty.

The smallest history that breaks it::

    GroupStatusChanged(incarnation=0, generation=1, from_status="Stable", to_status="Empty")
"""

PendingIdsAreNotMembers: Final = Invariant(
    name="pending_ids_are_not_members",
    family="membership",
    claim="a member id that MEMBER_ID_REQUIRED handed out is no member before a JoinGroup with it is accepted",
    source="KIP-394; ClassicGroup.pendingJoinMembers",
    premises=(_PREMISE, "pending ids hold a join phase open; that is no membership"),
    exempted_by=(MemberAdded,),
    violation=PendingIdsAreNotMembersViolated,
    fold=_Pending,
)
"""Pending ids and members are disjoint.

The smallest history that breaks it::

    JoinGroupReplied(incarnation=0, generation=0, request=1, error="MEMBER_ID_REQUIRED", assigned_member_id="a")
    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
"""

OneMemberPerInstance: Final = Invariant(
    name="one_member_per_instance",
    family="membership",
    claim="at most one member of the group has a given group instance id",
    source="KIP-345; ClassicGroup.staticMembers, replaceStaticMember",
    premises=(_PREMISE,),
    exempted_by=(MemberRemoved,),
    violation=OneMemberPerInstanceViolated,
    fold=_OnePerInstance,
)
"""The map from instance ids to member ids is a bijection: a restart takes the slot of its predecessor.

The smallest history that breaks it::

    MemberAdded(incarnation=0, generation=0, member_id="a", instance_id="i")
    MemberAdded(incarnation=0, generation=0, member_id="b", instance_id="i")
"""

LeaderIsMember: Final = Invariant(
    name="leader_is_member",
    family="membership",
    claim="a group has a leader exactly when it has members, and the leader is one of them",
    source="ClassicGroup.add, remove, maybeElectNewJoinedLeader",
    premises=(
        _PREMISE,
        "before JoinGroup v9 a static member that comes back learns the leader's id from before its replacement",
    ),
    relies_on=frozenset({Feature.LEADER}),
    exempted_by=(
        IncarnationStarted,
        MemberAdded,
    ),
    violation=LeaderIsMemberViolated,
    fold=_Leader,
)
"""A group has a leader exactly when it has members, and the leader is one of them.

The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="b")
"""

EmptyGroupIsClean: Final = Invariant(
    name="empty_group_is_clean",
    family="membership",
    claim="an Empty group has no member, no leader, no protocol, and no SyncGroup succeeds with it",
    source="GroupMetadataManager.completeClassicGroupJoin; ClassicGroup.initNextGeneration",
    premises=(_PREMISE, "pending ids may be outstanding"),
    exempted_by=(
        GroupStatusChanged,
        MemberRemoved,
    ),
    violation=EmptyGroupIsCleanViolated,
    fold=_Clean,
)
"""An Empty group has no member, no leader, no protocol. Ids handed out and not used yet may be outstanding.

The smallest history that breaks it::

    IncarnationStarted(incarnation=0, generation=0)
    MemberAdded(incarnation=0, generation=0, member_id="a")
    GroupStatusChanged(incarnation=0, generation=1, from_status="PreparingRebalance", to_status="Empty")
"""

OnlyLaggardsTimeOut: Final = Invariant(
    name="only_laggards_time_out",
    family="membership",
    claim="the sync timeout removes only members that owe the SyncGroup of the present generation",
    source="GroupMetadataManager.expirePendingSync; ClassicGroup.pendingSyncMembers",
    premises=(
        _PREMISE,
        "a superseded static id that owed it may start one needless rebalance; it removes no member",
    ),
    exempted_by=(
        GenerationStarted,
        GroupStatusChanged,
    ),
    violation=OnlyLaggardsTimeOutViolated,
    fold=_Laggards,
)
"""Who owes a SyncGroup is known in CompletingRebalance and Stable only, and only members that have not sent it do.

The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    GroupStatusChanged(incarnation=0, generation=1, from_status="PreparingRebalance", to_status="CompletingRebalance")
    RequestParked(incarnation=0, generation=1, api="SyncGroup", request=1, member_id="a")
    MemberRemoved(incarnation=0, generation=1, member_id="a", reason="sync timeout")
"""

CLAIMS: Final = (
    LegalTransitions,
    PendingIdsAreNotMembers,
    OneMemberPerInstance,
    LeaderIsMember,
    EmptyGroupIsClean,
    OnlyLaggardsTimeOut,
)
"""In the order in which reports name them."""
