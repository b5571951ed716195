"""The coordinator starts a rebalance only for a cause: a join that changes something, or a member that is gone."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupStatusChanged,
    IncarnationStarted,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.need.causes import FAMILY, Cause, Reason
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED, REFUSED_MEMBERS, Incarnation, IncarnationFold
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent
from rebalance_check.properties.views.simulated import Run

OF_THE_SENDER: Final = REFUSED_MEMBERS | {
    ACCEPTED, "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "INCONSISTENT_GROUP_PROTOCOL"
}  # fmt: skip
"""The answers to a SyncGroup that concern its sender; any other says that the assignment could not be written."""


class RebalanceHasACauseViolated(Violation):
    """The coordinator started a rebalance that nothing asked for."""


class _Known:
    """Of one incarnation: the cause of a rebalance since the last generation, and each member's last JoinGroup.

    ``idle`` is the last JoinGroup that asked for nothing, ``suspect`` a rebalance for which the cause may still come.
    ``owing`` is a member that was replaced before it had synced.
    """

    def __init__(self) -> None:
        self.cause: Cause | None = None
        self.joins: Recent[str, RequestParked] = Recent(WAITING)
        self.idle: RequestParked | None = None
        self.suspect: GroupStatusChanged | None = None
        self.owing: MemberRemoved | None = None


class _Rebalances(IncarnationFold):
    """Notes what asks for a rebalance, until the generation that it leads to starts.

    A member id that was handed out and never used may leave, too; its LeaveGroup is answered after the rebalance began.
    """

    needs = ((RequestParked,),)
    bookkeeping = frozenset(
        {IncarnationStarted, MemberAdded, MemberRemoved, SyncGroupReplied, LeaveGroupReplied,
         GenerationStarted}
    )  # fmt: skip

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            IncarnationStarted: self.on_incarnation,
            MemberAdded: self.on_added,
            MemberRemoved: self.on_removed,
            RequestParked: self.on_parked,
            SyncGroupReplied: self.on_synced,
            LeaveGroupReplied: self.on_left,
            GenerationStarted: self.on_generation,
            GroupStatusChanged: self.on_status,
        }
        super().__init__(invariant, handlers)
        self._known: Recent[int, _Known] = Recent(GENERATIONS)

    def share(self, memories: Memories) -> None:
        """Only where time is virtual a sync timeout that comes too early is seen as such."""
        super().share(memories)
        self.run = Run.among(memories)
        self.memories = (*self.memories, self.run)

    def _at(self, event: CoordinatorEvent) -> _Known:
        known = self._known.get(event.incarnation)
        if known is None:
            known = self._known[event.incarnation] = _Known()
        return known

    # ------------------------------------------------------------------------------------------------ causes

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """A group that has outgrown ``group.max.size`` rebalances when it is loaded."""
        known = self._known[event.incarnation] = _Known()
        if 0 < event.max_size < len(event.members):
            known.cause = Cause("it was loaded with more members than group.max.size", event)

    def on_added(self, event: MemberAdded) -> None:
        """A new member asks for one; a static one that takes the slot of its predecessor may ask when it is parked."""
        group = self.incarnations.current
        if group is None or event.member_id not in group.predecessors:
            self._at(event).cause = Cause(f"{event.member_id} is a new member", event)

    def on_removed(self, event: MemberRemoved) -> None:
        """What it owned must go to others; a member that was replaced comes back where that could not be written."""
        known, group = self._at(event), self.incarnations.current
        if event.reason != "replaced":
            known.joins.pop(event.member_id, None)
            known.cause = Cause(f"{event.member_id} was removed", event)
        elif group is not None and not group.had_synced:
            known.owing = event

    def on_synced(self, event: SyncGroupReplied) -> None:
        """An assignment that could not be written is computed once more."""
        if event.error not in OF_THE_SENDER:
            self._at(event).cause = Cause("the assignment could not be written", event)

    def on_left(self, event: LeaveGroupReplied) -> None:
        """The answer to the LeaveGroup of an id that was never used."""
        self._at(event).suspect = None

    def on_parked(self, event: RequestParked) -> None:
        """A JoinGroup asks for a rebalance where it changes something."""
        group, known = self.incarnations.current, self._at(event)
        if known.suspect is not None:
            self._resolve(known, event)
        if event.api != Api.JOIN_GROUP or group is None:
            return
        before = known.joins.get(event.member_id)
        why = _why_it_joins(group, event, "" if before is None else before.metadata)
        known.joins[event.member_id] = event
        if why:
            known.cause = Cause(why, event)
        else:
            known.idle = event

    # ------------------------------------------------------------------------------------------------ effects

    def on_generation(self, event: GenerationStarted) -> None:
        """From here on another cause is needed."""
        known = self._at(event)
        known.cause = known.idle = known.owing = None

    def on_status(self, event: GroupStatusChanged) -> None:
        """A rebalance begins."""
        if event.to_status != GroupStatus.PREPARING_REBALANCE or not self.incarnations.tells_parked:
            return
        known, group = self._at(event), self.incarnations.current
        if known.suspect is not None:
            self._report(known.suspect, known)
        if known.cause is not None or group is None or self._is_owed(group, known, event):
            return
        if group.pending:
            known.suspect = event
        else:
            self._report(event, known)

    def _is_owed(self, group: Incarnation, known: _Known, event: GroupStatusChanged) -> bool:
        """Whether a member that was replaced before it had synced may have run out of time: Kafka keeps its debt."""
        if known.owing is None or group.started is None:
            return False
        shortest = min((join.rebalance_timeout_ms for join in known.joins.values()), default=0)
        return not self.run.is_simulated or event.time_ms - group.started.time_ms >= shortest

    def _resolve(self, known: _Known, event: RequestParked) -> None:
        suspect, known.suspect = known.suspect, None
        if suspect is not None and (event.api != Api.LEAVE_GROUP or event.time_ms != suspect.time_ms):
            self._report(suspect, known)

    def _report(self, event: GroupStatusChanged, known: _Known) -> None:
        group = self.incarnations.known.get(event.incarnation)
        started = group.started if group is not None else None
        reasons: list[Reason] = []
        if started is not None:
            reasons.append(
                (f"generation {started.generation} started at {STEP}, with all that was known then;", started)
            )
        if known.idle is not None:
            reasons.append((f"{known.idle.member_id} joined again at {STEP} with what it had joined with before, which "
                            "a coordinator answers at once;", known.idle))  # fmt: skip
        self.contradiction(
            f"a rebalance begins in generation {event.generation}, and nothing asked for it",
            *reasons,
            (f"at {STEP} the group left {event.from_status} for a rebalance: no member had come, changed or gone, and "
             "every assignment was written: contradiction.", event),
        )  # fmt: skip


def _why_it_joins(group: Incarnation, event: RequestParked, before: str) -> str:
    """Why this JoinGroup asks for a rebalance; empty where it changes nothing."""
    if event.member_id in group.predecessors and not before:
        return _why_it_takes_over(group, event)
    if not before or not event.metadata:
        return f"{event.member_id} joined, and what it had joined with before is unknown"
    if event.metadata != before:
        return f"{event.member_id} joined with other metadata than before"
    if group.status == GroupStatus.STABLE and event.member_id == _leader_of(group):
        return f"the leader {event.member_id} joined again"
    return ""


def _leader_of(group: Incarnation) -> str:
    led = group.started or group.begun
    return group.heir_of(led.leader) if led is not None else ""


def _why_it_takes_over(group: Incarnation, event: RequestParked) -> str:
    """A static member that comes back leaves a Stable group alone, unless its protocols may change the vote."""
    if group.status == GroupStatus.STABLE:
        listed = {group.listed.get(member, ()) for member in group.members}
        listed.add(group.listed.get(group.predecessors[event.member_id], ()))
        if len(listed) == 1 and () not in listed:
            return ""
    return f"{event.member_id} took the slot of {group.predecessors[event.member_id]}"


RebalanceHasACause: Final = Invariant(
    name="rebalance_has_a_cause",
    family=FAMILY,
    claim="the coordinator starts a rebalance only for a cause since the last generation: a new member, a join with "
    "other metadata or of the leader, a member that is gone, an assignment that could not be written",
    source="GroupMetadataManager.classicGroupJoinToClassicGroup, classicGroupLeaveToClassicGroup, "
    "updateStaticMemberThenRebalanceOrCompleteJoin; KIP-345",
    premises=(
        "the history holds the coordinator's events, with the requests it keeps",
        "a join counts as a change where what its member joined with before is unknown, as after a failover",
        "an id that was handed out and not used may leave, too: the answer to that follows the rebalance",
        "a static member that was replaced before it had synced leaves its debt behind in Kafka (pendingSyncMembers): "
        "the sync timeout may start a rebalance though all have synced",
    ),
    exempted_by=(
        GenerationStarted,
        IncarnationStarted,
        LeaveGroupReplied,
        MemberAdded,
        MemberRemoved,
        RequestParked,
        SyncGroupReplied,
    ),
    violation=RebalanceHasACauseViolated,
    fold=_Rebalances,
)
"""The coordinator starts a rebalance only for a cause since the last generation.

Source: ``classicGroupJoinToClassicGroup``: a follower that joins a Stable group again with the same metadata is
answered at once, and so is any member in CompletingRebalance; a static member that comes back to a Stable group takes
its slot without a rebalance, unless the vote on the protocol changes (KIP-345).

The smallest history that breaks it::

    MemberAdded(incarnation=0, generation=0, member_id="a")
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a", metadata="x")
    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    GroupStatusChanged(incarnation=0, generation=1, from_status="Stable", to_status="PreparingRebalance")
"""

CLAIMS: Final = (RebalanceHasACause,)
"""In the order in which reports name them."""
