"""A member that was answered that it is no member is done with that member id."""

from __future__ import annotations

from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import REFUSED_MEMBERS
from rebalance_check.properties.views.recent import Recent

RAISED_LATER: Final = frozenset({Api.OFFSET_COMMIT, Api.SYNC_GROUP})
"""The requests of which the application learns at its next poll that its member was fenced."""

OPEN: Final = 64
"""So many requests of a member are remembered while they wait for their answer."""


class LostMemberIdIsNotUsedViolated(Violation):
    """A member went on with a member id that it had been answered to be none."""


class _Loss(NamedTuple):
    """The request with the member id, and the answer that says that it is none."""

    sent: RequestSent
    answered: RequestAnswered


class _NotUsed(Fold):
    """Per process: its requests on their way, its last JoinGroup, and the member id that it lost last."""

    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft, RequestAnswered})
    needs = ((RequestAnswered,),)

    def __init__(self, invariant: Invariant) -> None:
        gone: tuple[type[Event], ...] = (MemberStarted, MemberCrashed, MemberLeft)
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(gone, self.on_gone),
            RequestSent: self.on_sent,
            RequestAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._open: dict[str, Recent[int, RequestSent]] = {}
        self._joins: dict[str, RequestSent] = {}
        self._lost: dict[str, _Loss] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """A process takes its ids with it."""
        self._open.pop(event.member, None)
        self._joins.pop(event.member, None)
        self._lost.pop(event.member, None)

    def on_sent(self, event: RequestSent) -> None:
        """Not with the id that it lost; LeaveGroup may still take it out of the group."""
        loss = self._lost.get(event.member)
        if loss is not None and event.api != Api.LEAVE_GROUP:
            self.compared = (self.compared or 0) + 1
            if event.member_id == loss.sent.member_id:
                self._report(loss, event)
        if event.member_id:
            if event.member not in self._open:
                self._open[event.member] = Recent(OPEN)
            self._open[event.member][event.request] = event
        if event.api == Api.JOIN_GROUP:
            self._joins[event.member] = event

    def on_answered(self, event: RequestAnswered) -> None:
        """An answer to a request from before the last JoinGroup is about a membership that is over."""
        requests = self._open.get(event.member)
        sent = requests.pop(event.request, None) if requests is not None else None
        if sent is None or event.error not in REFUSED_MEMBERS:
            return
        if sent.api in RAISED_LATER and event.error == "FENCED_INSTANCE_ID":
            return  # raised at the application's next poll; the heartbeat thread goes on until then
        join = self._joins.get(event.member)
        if join is None or join.request <= sent.request:
            self._lost[event.member] = _Loss(sent, event)

    def _report(self, loss: _Loss, event: RequestSent) -> None:
        self.contradiction(
            f"{event.member} goes on as {event.member_id}, which is no member",
            (f"{event.member} sent {loss.sent.api} as {loss.sent.member_id} at {STEP};", loss.sent),
            (f"it was answered {loss.answered.error} at {STEP};", loss.answered),
            (f"it sent {event.api} as {event.member_id} at {STEP}: contradiction.", event),
        )


LostMemberIdIsNotUsed: Final = Invariant(
    name="lost_member_id_is_not_used",
    family="clients",
    claim="a member whose request was answered UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID sends nothing more with that "
    "member id, but for LeaveGroup",
    source="AbstractCoordinator.resetStateOnResponseError, resetGenerationOnResponseError",
    premises=(
        "the history holds what members send (RequestSent) with their member ids, and how it is answered",
        "an answer to a request that was sent before the last JoinGroup ends nothing",
        "nor does FENCED_INSTANCE_ID to an OffsetCommit or a SyncGroup, which the client raises at the next poll",
    ),
    exempted_by=(MemberStarted,),
    violation=LostMemberIdIsNotUsedViolated,
    fold=_NotUsed,
)
"""The smallest history that breaks it::

    RequestSent(member="m0", api="Heartbeat", request=0, generation=1, member_id="a")
    RequestAnswered(member="m0", api="Heartbeat", request=0, error="UNKNOWN_MEMBER_ID")
    RequestSent(member="m0", api="JoinGroup", request=1, member_id="a")
"""

CLAIMS: Final = (LostMemberIdIsNotUsed,)
"""In the order in which reports name them."""
