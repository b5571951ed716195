"""A member leaves its group only for a cause."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConfigReadEnded,
    ConnectAssignmentReceived,
    MemberClosing,
    MemberCrashed,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    RequestAnswered,
    RequestSent,
    RunStarted,
    SubscriptionChanged,
    WorkerConfigured,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.need.causes import FAMILY, Reason
from rebalance_check.properties.need.joining import OfMembers
from rebalance_check.properties.verdict import STEP, Violation


class LeaveGroupHasACauseViolated(Violation):
    """A member left its group although nothing asked for it."""


class _Leaves(OfMembers):
    needs = ((RunStarted,), (MemberStarted,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RequestSent: self.on_sent})
        self.compared = 0

    def on_sent(self, event: RequestSent) -> None:
        """Something asks for each LeaveGroup."""
        if event.api != Api.LEAVE_GROUP or not self.run.is_simulated:
            return
        member = self.members.at(event.member)
        if member.started is None or member.join is None or not member.join.metadata:
            return
        self.compared = (self.compared or 0) + 1
        if member.left_for is None:
            shown: Reason = (f"{event.member} joined its group at {STEP};", member.join)
            if member.synced is not None:
                shown = (f"{event.member} has its assignment since {STEP};", member.synced)
            self.contradiction(
                f"{event.member} leaves its group, and nothing asked for it",
                shown,
                (f"it did not close or unsubscribe, and its application polled in time: yet it sent LeaveGroup at "
                 f"{STEP}: contradiction.", event),
            )  # fmt: skip


LeaveGroupHasACause: Final = Invariant(
    name="leave_group_has_a_cause",
    family=FAMILY,
    claim="a member sends LeaveGroup only for a cause since its last JoinGroup: it closes, its application "
    "unsubscribes or did not poll for max.poll.interval.ms, or, a worker of Connect, it did not read its configs in "
    "time",
    source="AbstractCoordinator.maybeLeaveGroup, close; ClassicKafkaConsumer.unsubscribe; "
    "DistributedHerder.readConfigToEnd",
    premises=(
        "the run is simulated: time is virtual, and what happens to members from outside is recorded",
        "the herder of a worker of Connect waits inside of a round, and may be busy with what it was assigned: it need "
        "not have polled since the last answer of a round",
    ),
    exempted_by=(
        ApplicationBusy,
        ConnectAssignmentReceived,
        ConfigReadEnded,
        MemberClosing,
        MemberCrashed,
        MemberLeft,
        MemberPaused,
        MemberResumed,
        MemberStarted,
        RequestAnswered,
        SubscriptionChanged,
        WorkerConfigured,
    ),
    violation=LeaveGroupHasACauseViolated,
    fold=_Leaves,
)
"""A member leaves its group only for a cause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", protocol="eager")
    RequestSent(member="m0", api="JoinGroup", request=0, metadata="x")
    RequestSent(member="m0", api="LeaveGroup", request=1)
"""

CLAIMS: Final = (LeaveGroupHasACause,)
"""In the order in which reports name them."""
