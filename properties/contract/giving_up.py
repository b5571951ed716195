"""What a member that leaves by itself does with its partitions: it revokes what is its own, and loses other ones.

A member that owns none gives up none.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ON_LEAVE_PREPARE,
    CallbackEnded,
    CallbackStarted,
    Event,
    MemberEvent,
    MembershipLost,
    MemberStarted,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class LeavingMembersRevokeWhatIsTheirsViolated(Violation):
    """A member that left while it joined revoked partitions, or lost them though it was settled, or gave up none."""


class _GivesUp(SimulatedFold):
    """Per member: the last request of its last attempt to join, and its answer."""

    bookkeeping = frozenset({*PROCESS, CallbackStarted, CallbackEnded, MembershipLost, RequestSent, RequestAnswered})
    needs = ((MemberStarted,), (CallbackStarted,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((*PROCESS, MembershipLost), self.on_over),
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
            CallbackStarted: self.on_call,
            CallbackEnded: self.on_return,
            PartitionsRevoked: self.on_given_up,
            PartitionsLost: self.on_given_up,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._sent: dict[str, RequestSent] = {}
        self._answered: dict[str, RequestAnswered] = {}
        self._leaves: dict[str, CallbackStarted] = {}

    def on_over(self, event: MemberEvent) -> None:
        """It belongs to no generation."""
        self._sent.pop(event.member, None)
        self._answered.pop(event.member, None)
        if not isinstance(event, MembershipLost):
            self._leaves.pop(event.member, None)

    def on_sent(self, event: RequestSent) -> None:
        """An attempt begins, or goes on."""
        if event.api in {Api.JOIN_GROUP, Api.SYNC_GROUP}:
            self._sent[event.member] = event
            self._answered.pop(event.member, None)

    def on_answered(self, event: RequestAnswered) -> None:
        """It is accepted, or fails."""
        sent = self._sent.get(event.member)
        if sent is not None and sent.request == event.request:
            self._answered[event.member] = event

    def on_call(self, event: CallbackStarted) -> None:
        """It is about to leave."""
        if event.callback == ON_LEAVE_PREPARE and self.run.is_recorded:
            self._leaves[event.member] = event

    def on_return(self, event: CallbackEnded) -> None:
        """It has given up what it had."""
        if event.callback == ON_LEAVE_PREPARE:
            self._leaves.pop(event.member, None)

    def on_given_up(self, event: PartitionsRevoked | PartitionsLost) -> None:
        """What is given up in an onLeavePrepare fits what the member is."""
        leaves = self._leaves.get(event.member)
        if leaves is None:
            return
        self._look_at_what(leaves, event)
        is_settled = self._is_settled(leaves)
        if is_settled is None:
            return
        self.compared = (self.compared or 0) + 1
        if is_settled is isinstance(event, PartitionsRevoked):
            return
        what = "belongs to its generation" if is_settled else "belongs to no generation, or joins another one"
        how = "revokes" if isinstance(event, PartitionsRevoked) else "loses"
        self.contradiction(
            f"{event.member} {what}, and {how} its partitions when it leaves",
            (f"{event.member} {what}, and prepares to leave at {STEP};", leaves),
            (f"it {how} {', '.join(event.partitions)} at {STEP}: contradiction.", event),
        )

    def _look_at_what(self, leaves: CallbackStarted, event: PartitionsRevoked | PartitionsLost) -> None:
        if not event.partitions:
            self.contradiction(
                f"{event.member} gives up nothing when it leaves, and calls that a change",
                (f"{event.member} prepares to leave at {STEP};", leaves),
                (f"it records that it gives up no partition at {STEP}, as if it owned any: contradiction.", event),
            )

    def _is_settled(self, leaves: CallbackStarted) -> bool | None:
        """Whether it is a settled member of its generation; None after an attempt to join that failed."""
        sent, answered = self._sent.get(leaves.member), self._answered.get(leaves.member)
        if leaves.generation == NO_GENERATION:
            return False
        if sent is None or (answered is not None and answered.error != ACCEPTED):
            return None
        return answered is not None and sent.api == Api.SYNC_GROUP


LeavingMembersRevokeWhatIsTheirs: Final = Invariant(
    name="leaving_members_revoke_what_is_theirs",
    family=FAMILY,
    claim="a consumer that leaves by itself revokes its partitions where it is settled in its generation, and loses "
    "them where it belongs to none or is joining another one; where it owns none, it does neither",
    source="ConsumerCoordinator.onLeavePrepare (droppedPartitions.isEmpty, hasGenerationReset, rebalanceInProgress)",
    premises=(RECORDED, "after an attempt to join that failed either is right"),
    exempted_by=(CallbackEnded, CallbackStarted, MembershipLost, MemberStarted, RequestAnswered, RequestSent),
    violation=LeavingMembersRevokeWhatIsTheirsViolated,
    fold=_GivesUp,
)
"""What may belong to another member already is not committed any more.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    CallbackStarted(member="m0", callback="onLeavePrepare", generation=-1)
    PartitionsRevoked(member="m0", generation=-1, partitions=("t-0",))
"""

CLAIMS: Final = (LeavingMembersRevokeWhatIsTheirs,)
"""In the order in which reports name them."""
