"""New members whose first JoinGroup waits for too long: the coordinator gives them up, whatever their session.

A client that gave up its connection would otherwise hold a place in the group until the join phase ends.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    Event,
    HeartbeatReplied,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    NodeChanged,
    OffsetCommitReplied,
    ReplyEvent,
    SyncGroupReplied,
)
from rebalance_check.properties.invariants.timing import TimeFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.sessions import Key

NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 300_000
"""``GroupMetadataManager.NEW_MEMBER_JOIN_TIMEOUT_MS``, where no event says another."""


class NewMembersAreGivenUpInTimeViolated(Violation):
    """A new member waited in its first JoinGroup for longer than new members may."""


class _NewMembers(TimeFold):
    bookkeeping = frozenset(
        {CoordinatorConfigured, MemberAdded, HeartbeatReplied, SyncGroupReplied, OffsetCommitReplied}
    )

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            CoordinatorConfigured: self.on_configured,
            MemberAdded: self.on_added,
            HeartbeatReplied: self.on_activity,
            SyncGroupReplied: self.on_activity,
            OffsetCommitReplied: self.on_activity,
            JoinGroupReplied: self.on_end,
            MemberRemoved: self.on_end,
        }
        super().__init__(invariant, handlers)
        self._allowed_ms = NEW_MEMBER_JOIN_TIMEOUT_MS
        self._new: dict[Key, MemberAdded] = Recent(WAITING)

    def on_configured(self, event: CoordinatorConfigured) -> None:
        """How long new members may wait, in scenarios that say so."""
        self._allowed_ms = event.new_member_join_timeout_ms or NEW_MEMBER_JOIN_TIMEOUT_MS

    def on_added(self, event: MemberAdded) -> None:
        """It is new until its first JoinGroup is answered; a static one may stand for another that was there before."""
        if not event.instance_id:
            self._new[event.incarnation, event.member_id] = event

    def on_activity(self, event: ReplyEvent) -> None:
        """Another request of it may begin its session, which is shorter or longer."""
        self._new.pop((event.incarnation, event.member_id), None)

    def on_end(self, event: JoinGroupReplied | MemberRemoved) -> None:
        """It was new and waited until here."""
        member_id = event.member_id if isinstance(event, MemberRemoved) else event.assigned_member_id
        since = self._new.pop((event.incarnation, member_id), None)
        if since is None or not self.sessions.punctual:
            return
        if self.compare(since, event, self._allowed_ms) > 0:
            self.contradiction(
                f"{member_id} is new and waits in its first JoinGroup for {event.time_ms - since.time_ms} ms, and "
                f"the coordinator gives new members up after {self._allowed_ms} ms",
                (f"{member_id} entered the group at {STEP}.", since),
                (f"it waited until {STEP}: contradiction.", event),
            )


NewMembersAreGivenUpInTime: Final = Invariant(
    name="new_members_are_given_up_in_time",
    family="timing",
    claim="a new member waits in its first JoinGroup for at most five minutes, and is no member any more after that",
    source="GroupMetadataManager.NEW_MEMBER_JOIN_TIMEOUT_MS, classicGroupJoinNewMember; KAFKA-7610",
    premises=(
        "the run says that its timers are punctual (RunStarted), and no node was paused",
        "static members are not judged: one that replaces another is not new",
        "scenarios may say another time (CoordinatorConfigured)",
        "a member that sends anything else meanwhile has its own session from then on, and is not judged",
        "it is judged when it is over; what is never over is for rebalance_completes",
    ),
    exempted_by=(NodeChanged, HeartbeatReplied, SyncGroupReplied, OffsetCommitReplied),
    violation=NewMembersAreGivenUpInTimeViolated,
    fold=_NewMembers,
)
"""A new member that is gone does not hold its place in the group until the join phase ends.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberAdded(incarnation=0, generation=0, member_id="a")
    JoinGroupReplied(incarnation=0, generation=1, request=0, error="NONE", assigned_member_id="a", reply_generation=1,
                     leader="a", time_ms=300001)
"""

CLAIMS: Final = (NewMembersAreGivenUpInTime,)
