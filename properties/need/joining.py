"""A member that has its assignment joins again only for a cause."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConfigReadEnded,
    ConnectAssignmentReceived,
    MemberCrashed,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    MetadataReceived,
    RebalanceEnforced,
    RejoinRequested,
    RequestAnswered,
    RequestSent,
    RunStarted,
    SubscriptionChanged,
    WorkRevocationStarted,
)
from rebalance_check.properties.kinds import Fold, Invariant, Memories
from rebalance_check.properties.need.causes import FAMILY
from rebalance_check.properties.need.members import Members
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.simulated import Run


class JoinGroupHasACauseViolated(Violation):
    """A settled member joined again although nothing asked for it."""


class OfMembers(Fold):
    """A fold that looks at the memberships of a run in virtual time, where all that happens to members is recorded."""

    members: Members
    run: Run

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same memberships."""
        self.members, self.run = Members.among(memories), Run.among(memories)
        self.memories = (self.members, self.run)


class _Joins(OfMembers):
    needs = ((RunStarted,), (RequestAnswered,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RequestSent: self.on_sent})
        self.compared = 0

    def on_sent(self, event: RequestSent) -> None:
        """Something asks for each JoinGroup of a member that has its assignment."""
        if event.api != Api.JOIN_GROUP or not event.metadata or not self.run.is_simulated:
            return
        member = self.members.at(event.member)
        synced, cause = member.joined_from
        if synced is None or member.started is None:
            return
        self.compared = (self.compared or 0) + 1
        if cause is None:
            self.contradiction(
                f"{event.member} joins again, and nothing asked for it",
                (f"{event.member} was answered its SyncGroup at {STEP}, with all that it had claimed;", synced),
                (f"since then no answer ended its generation, no topic changed, and it polled in time: yet it sent a "
                 f"JoinGroup at {STEP}: contradiction.", event),
            )  # fmt: skip


JoinGroupHasACause: Final = Invariant(
    name="join_group_has_a_cause",
    family=FAMILY,
    claim="a member that has its assignment sends JoinGroup only for a cause: it was answered that its generation is "
    "over, its topics changed, it was not assigned again all that it claimed, it did not poll in time, or it left",
    source="ConsumerCoordinator.rejoinNeededOrPending, onJoinComplete; AbstractCoordinator.HeartbeatResponseHandler",
    premises=(
        "the run is simulated: time is virtual, and what happens to members from outside is recorded",
        "a leader may join again whenever it received other metadata since it joined",
        "a worker of Connect may join again when its herder asks, after a failed round, when it gave its work up "
        "for want of a coordinator, and when it could not read the configs to their end: it leaves its group then, and "
        "says so only to a coordinator that it knows",
    ),
    exempted_by=(
        ApplicationBusy,
        ConfigReadEnded,
        ConnectAssignmentReceived,
        MemberCrashed,
        MemberLeft,
        MemberPaused,
        MemberResumed,
        MemberStarted,
        MetadataReceived,
        RebalanceEnforced,
        RejoinRequested,
        RequestAnswered,
        SubscriptionChanged,
        WorkRevocationStarted,
    ),
    violation=JoinGroupHasACauseViolated,
    fold=_Joins,
)
"""A member that has its assignment sends JoinGroup only for a cause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", protocol="eager")
    RequestSent(member="m0", api="JoinGroup", request=0, metadata="x")
    RequestAnswered(member="m0", api="SyncGroup", request=1, error="NONE")
    RequestSent(member="m0", api="JoinGroup", request=2, metadata="x")
"""

CLAIMS: Final = (JoinGroupHasACause,)
"""In the order in which reports name them."""
