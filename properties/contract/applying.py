"""What a member does with the replies that it was waiting for."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ON_LEAVE_PREPARE,
    CallbackStarted,
    Event,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS


class AcceptedJoinIsAppliedViolated(Violation):
    """A member was accepted into a generation, and joined once more without entering it."""


class _Applies(Fold):
    """Per member: its last JoinGroup, and the reply that accepts it, until the member enters the generation."""

    bookkeeping = frozenset({*PROCESS, MemberJoined, MembershipLost, MemberClosing, CallbackStarted, RequestAnswered})
    needs = ((MemberJoined,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((*PROCESS, MembershipLost, MemberClosing), self.on_over),
            MemberJoined: self.on_joined,
            CallbackStarted: self.on_call,
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._sent: dict[str, RequestSent] = {}
        self._accepted: dict[str, RequestAnswered] = {}

    def on_over(self, event: MemberEvent) -> None:
        """What it is answered from here on is about a membership that is over."""
        self._sent.pop(event.member, None)
        self._accepted.pop(event.member, None)

    def on_call(self, event: CallbackStarted) -> None:
        """It leaves, with a LeaveGroup or without."""
        if event.callback == ON_LEAVE_PREPARE:
            self.on_over(event)

    def on_joined(self, event: MemberJoined) -> None:
        """It entered the generation."""
        self._accepted.pop(event.member, None)

    def on_answered(self, event: RequestAnswered) -> None:
        """It is accepted, as it says itself: a reply that the coordinator records may be lost on its way."""
        sent = self._sent.get(event.member)
        is_its_own = event.source == event.member
        if is_its_own and sent is not None and sent.request == event.request and event.error == "NONE":
            self._accepted[event.member] = event

    def on_sent(self, event: RequestSent) -> None:
        """It joins: whatever it was accepted into, it has entered before."""
        if event.api != Api.JOIN_GROUP:
            return
        self.compared = (self.compared or 0) + 1
        sent, accepted = self._sent.get(event.member), self._accepted.pop(event.member, None)
        self._sent[event.member] = event
        if accepted is not None and sent is not None:
            self.contradiction(
                f"{event.member} was accepted into generation {accepted.generation} and did not enter it",
                (f"{event.member} sent JoinGroup at {STEP};", sent),
                (f"it was accepted into generation {accepted.generation} at {STEP}, and nothing ended its membership;",
                 accepted),
                (f"it sent JoinGroup once more at {STEP}, and had not entered that generation: contradiction.", event),
            )  # fmt: skip


AcceptedJoinIsApplied: Final = Invariant(
    name="accepted_join_is_applied",
    family=FAMILY,
    claim="a member whose JoinGroup is accepted enters that generation before it joins again, unless it left or lost "
    "its membership meanwhile",
    source="AbstractCoordinator.JoinGroupResponseHandler",
    premises=("the history holds what members send (RequestSent), and the replies that they received themselves",),
    exempted_by=(CallbackStarted, MemberClosing, MemberCrashed, MemberJoined, MembershipLost, MemberStarted),
    violation=AcceptedJoinIsAppliedViolated,
    fold=_Applies,
)
"""A member that is accepted into a generation enters it.

The smallest history that breaks it::

    MemberJoined(member="m0", generation=1, member_id="a")
    RequestSent(member="m0", api="JoinGroup", request=4)
    RequestAnswered(member="m0", api="JoinGroup", request=4, error="NONE", generation=2, leader="a")
    RequestSent(member="m0", api="JoinGroup", request=5)
"""

CLAIMS: Final = (AcceptedJoinIsApplied,)
"""In the order in which reports name them."""
