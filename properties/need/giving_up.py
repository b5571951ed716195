"""A member gives partitions up, or loses them, only for a cause."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    AssignmentCompleted,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    MetadataReceived,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RebalanceEnforced,
    RequestAnswered,
    RequestSent,
    RunStarted,
    SubscriptionChanged,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.need.causes import FAMILY
from rebalance_check.properties.need.joining import OfMembers
from rebalance_check.properties.need.members import Membership
from rebalance_check.properties.verdict import STEP, Violation

GivingUp: TypeAlias = PartitionsRevoked | PartitionsLost


class RevocationHasACauseViolated(Violation):
    """A member revoked partitions that nothing took away."""


class LossHasACauseViolated(Violation):
    """A member lost partitions although no answer ended its membership."""


class _GivesUp(OfMembers):
    """A member that leaves gives up first, so that what follows shows it: LeaveGroup, or the end of the process."""

    needs = ((RunStarted,), (RequestSent,))
    bookkeeping = frozenset({MemberLeft, MemberCrashed, SubscriptionChanged})
    gives_up: type[GivingUp]

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            self.gives_up: self.on_given_up,
            MemberLeft: self.on_left,
            MemberCrashed: self.on_left,
            SubscriptionChanged: self.on_left,
            RequestSent: self.on_sent,
            PartitionsAssigned: self.on_next,
            AssignmentCompleted: self.on_next,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._open: dict[str, GivingUp] = {}

    def on_given_up(self, event: GivingUp) -> None:
        """Without a cause so far the member must be about to leave."""
        member = self.members.at(event.member)
        is_judged = member.join is not None and member.join.metadata and member.started is not None
        if not self.run.is_simulated or not is_judged or not event.partitions:
            return
        self.compared = (self.compared or 0) + 1
        if not self.has_cause(member, event):
            self._open[event.member] = event
            if member.synced is not None and isinstance(event, PartitionsLost):
                self._report(self._open.pop(event.member), event)

    @abstractmethod
    def has_cause(self, member: Membership, event: GivingUp) -> bool:
        """Whether something asked for this."""

    def on_left(self, event: MemberEvent) -> None:
        """It gave up because it was about to leave."""
        if self._open:
            self._open.pop(event.member, None)

    def on_sent(self, event: RequestSent) -> None:
        """LeaveGroup is such a reason, every other request shows that it goes on."""
        if not self._open:
            return
        if event.api == Api.LEAVE_GROUP:
            self._open.pop(event.member, None)
        elif event.member in self._open:
            self._report(self._open.pop(event.member), event)

    def on_next(self, event: MemberEvent) -> None:
        """It is assigned something, and so goes on."""
        if self._open and event.member in self._open:
            self._report(self._open.pop(event.member), event)

    def _report(self, given_up: GivingUp, event: Event) -> None:
        member = self.members.at(given_up.member)
        verb = "revokes" if isinstance(given_up, PartitionsRevoked) else "loses"
        synced = member.synced or member.joined_from[0]
        self.contradiction(
            f"{given_up.member} {verb} {', '.join(given_up.partitions)}, and nothing asked for it",
            *([(f"{given_up.member} was answered its SyncGroup at {STEP};", synced)] if synced is not None else []),
            (f"it {verb} {', '.join(given_up.partitions)} at {STEP}, before any answer or wish that asks for it;",
             given_up),
            (f"it did not leave, but went on at {STEP}: contradiction." if event is not given_up else
             f"a settled member that leaves revokes what it owns, at {STEP}: contradiction.", event),
        )  # fmt: skip


class _Revokes(_GivesUp):
    gives_up = PartitionsRevoked

    def has_cause(self, member: Membership, event: GivingUp) -> bool:
        """What it was not assigned again goes; else it must be about to join again, for a cause."""
        missing = member.missing.issuperset(event.partitions)
        only_missing = member.cause is not None and member.cause.event is member.synced
        return missing or (member.cause is not None and not only_missing)


class _Loses(_GivesUp):
    gives_up = PartitionsLost

    def has_cause(self, member: Membership, event: GivingUp) -> bool:
        """An answer ended its membership, or it did not poll in time."""
        return member.loss is not None or member.missed_its_poll(event.time_ms) is not None


_EXEMPTED: Final = (
    ApplicationBusy,
    MemberCrashed,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    MetadataReceived,
    RebalanceEnforced,
    RequestAnswered,
    RequestSent,
    SubscriptionChanged,
)
_PREMISES: Final = (
    "the run is simulated: time is virtual, and what happens to members from outside is recorded",
    "a member that gives up and leaves next needs no other cause",
)

RevocationHasACause: Final = Invariant(
    name="revocation_has_a_cause",
    family=FAMILY,
    claim="a consumer revokes partitions only for a cause: it was not assigned them again, an answer, its topics or "
    "its application ask it to join again, or it leaves",
    source="ConsumerCoordinator.onJoinPrepare, onJoinComplete, onLeavePrepare; KIP-429",
    premises=_PREMISES,
    exempted_by=_EXEMPTED,
    violation=RevocationHasACauseViolated,
    fold=_Revokes,
)
"""A consumer revokes partitions only for a cause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", protocol="eager")
    RequestSent(member="m0", api="JoinGroup", request=0, metadata="x")
    RequestAnswered(member="m0", api="SyncGroup", request=1, error="NONE", assignment=("t-0",))
    PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
    RequestSent(member="m0", api="Heartbeat", request=2, generation=1)
"""

LossHasACause: Final = Invariant(
    name="loss_has_a_cause",
    family=FAMILY,
    claim="a consumer loses partitions only for a cause: an answer that it is no member or that its generation is "
    "over, a poll that did not come in time, or it leaves while it joins",
    source="ConsumerCoordinator.onJoinPrepare, onLeavePrepare (onPartitionsLost); KIP-429",
    premises=_PREMISES,
    exempted_by=_EXEMPTED,
    violation=LossHasACauseViolated,
    fold=_Loses,
)
"""A consumer loses partitions only for a cause.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", protocol="eager")
    RequestSent(member="m0", api="JoinGroup", request=0, metadata="x")
    RequestAnswered(member="m0", api="SyncGroup", request=1, error="NONE", assignment=("t-0",))
    RequestAnswered(member="m0", api="Heartbeat", request=2, error="REBALANCE_IN_PROGRESS")
    PartitionsLost(member="m0", generation=-1, partitions=("t-0",))
    RequestSent(member="m0", api="JoinGroup", request=3, metadata="x")
"""

CLAIMS: Final = (RevocationHasACause, LossHasACause)
"""In the order in which reports name them."""
