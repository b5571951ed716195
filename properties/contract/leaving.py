"""What comes before a member leaves by itself: onLeavePrepare, in which it gives up what it holds."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ON_LEAVE_PREPARE,
    CallbackStarted,
    Event,
    LeaveGroupReplied,
    MemberClosing,
    MemberEvent,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    RunStarted,
)
from rebalance_check.properties.contract.callbacks import RECORDED
from rebalance_check.properties.contract.standing import FAMILY
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation

UNSUBSCRIBED: Final = "unsubscribed"
"""What the reason of a loss says where the application wants nothing any more."""


class PreparesBeforeLeavingViolated(Violation):
    """A member left its group by itself, and did not have its user give up what it held."""


class LeaveNamesAMemberViolated(Violation):
    """A LeaveGroup named no member."""


class _Names(Fold):
    """Looks at what reached the coordinator, whose replies say who asked."""

    bookkeeping = frozenset({RunStarted, MemberStarted})
    needs = ((RunStarted,), (MemberStarted,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant, {RunStarted: self.on_run, MemberStarted: self.on_member, LeaveGroupReplied: self.on_replied}
        )
        self.compared = 0
        self._is_virtual = False
        self._all_are_members = False

    def on_run(self, event: RunStarted) -> None:
        """In a run in virtual time all that asks is recorded."""
        self._is_virtual = event.punctual

    def on_member(self, _event: MemberStarted) -> None:
        """Members ask, and no script or administrator does."""
        self._all_are_members = self._is_virtual

    def on_replied(self, event: LeaveGroupReplied) -> None:
        """A LeaveGroup says who leaves."""
        if not self._all_are_members:
            return
        self.compared = (self.compared or 0) + 1
        if not event.member_id:
            self.contradiction(
                "a member sent a LeaveGroup that names no member",
                (f"a LeaveGroup without a member id was answered {event.error} at {STEP}: contradiction.", event),
            )


class _Leaves(Fold):
    """Per member: since when it closes, and the last callback, which is forgotten when it begins to close."""

    bookkeeping = frozenset({MemberStarted, MemberClosing, CallbackStarted})
    needs = ((CallbackStarted, MemberClosing),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_started,
            MemberClosing: self.on_closing,
            CallbackStarted: self.on_call,
            MembershipLost: self.on_lost,
            MemberLeft: self.on_left,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._closing: dict[str, MemberClosing] = {}
        self._called: dict[str, CallbackStarted] = {}

    def on_started(self, event: MemberStarted) -> None:
        """Another process was called nothing."""
        self._closing.pop(event.member, None)
        self._called.pop(event.member, None)

    def on_closing(self, event: MemberClosing) -> None:
        """What was called before was not for this end."""
        self._closing[event.member] = event
        self._called.pop(event.member, None)

    def on_call(self, event: CallbackStarted) -> None:
        """The callback that says that the member is about to leave, or another one."""
        self._called[event.member] = event

    def on_lost(self, event: MembershipLost) -> None:
        """A member that unsubscribes has prepared for that just before."""
        called = self._called.get(event.member)
        if called is None or UNSUBSCRIBED not in event.reason:
            return
        self.compared = (self.compared or 0) + 1
        if called.callback != ON_LEAVE_PREPARE:
            self._report(event, (f"the last callback of {event.member} was {called.callback}, at {STEP};", called))

    def on_left(self, event: MemberLeft) -> None:
        """A member that was closed has prepared for that."""
        closing, called = self._closing.pop(event.member, None), self._called.pop(event.member, None)
        if closing is None:
            return
        self.compared = (self.compared or 0) + 1
        if called is None or called.callback != ON_LEAVE_PREPARE:
            self._report(event, (f"{event.member} began to close at {STEP};", closing))

    def _report(self, event: MemberEvent, before: tuple[str, Event]) -> None:
        self.contradiction(
            f"{event.member} leaves without an onLeavePrepare",
            before,
            (f"it has left at {STEP}, and onLeavePrepare was not called since: contradiction.", event),
        )


PreparesBeforeLeaving: Final = Invariant(
    name="prepares_before_leaving",
    family=FAMILY,
    claim="a member that its application closes, or that unsubscribes, calls onLeavePrepare before it leaves",
    source="KIP-795; AbstractCoordinator.close, maybeLeaveGroup; ConsumerCoordinator.onLeavePrepare",
    premises=(RECORDED, "a close is recorded from its begin (MemberClosing)"),
    exempted_by=(CallbackStarted, MemberStarted),
    violation=PreparesBeforeLeavingViolated,
    fold=_Leaves,
)
"""A member that leaves by itself calls onLeavePrepare first.

The smallest history that breaks it::

    MemberClosing(member="m0")
    MemberLeft(member="m0")
"""

LeaveNamesAMember: Final = Invariant(
    name="leave_names_a_member",
    family=FAMILY,
    claim="a member that has no member id sends no LeaveGroup",
    source="AbstractCoordinator.maybeLeaveGroup (generation.hasMemberId)",
    premises=("the run is simulated: every LeaveGroup is one of a member, and no administrator removes any",),
    violation=LeaveNamesAMemberViolated,
    fold=_Names,
)
"""A LeaveGroup names the member that leaves.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    LeaveGroupReplied(incarnation=0, generation=1, request=1, error="UNKNOWN_MEMBER_ID")
"""

CLAIMS: Final = (PreparesBeforeLeaving, LeaveNamesAMember)
"""In the order in which reports name them."""
