"""A member records the end of each membership that it loses: once, before it joins anew, and not when it closes."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ON_LEAVE_PREPARE,
    CallbackStarted,
    Event,
    MemberClosing,
    MemberEvent,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    RequestSent,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class LossesAreRecordedOnceViolated(Violation):
    """A member lost its membership and did not record it, or recorded the loss of one that it did not have."""


class _Losses(SimulatedFold):
    """Per process: the membership that it has, and whether it leaves for good."""

    bookkeeping = frozenset({CallbackStarted, MemberClosing, MemberJoined, *PROCESS})
    needs = ((MemberStarted,), (MemberJoined,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            MemberClosing: self.on_closing,
            CallbackStarted: self.on_call,
            MemberJoined: self.on_joined,
            MembershipLost: self.on_lost,
            RequestSent: self.on_sent,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._joined: dict[str, MemberJoined] = {}
        self._left: dict[str, MembershipLost] = {}
        self._closing: set[str] = set()
        self._leaves: dict[str, CallbackStarted] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process has no membership."""
        self._joined.pop(event.member, None)
        self._left.pop(event.member, None)
        self._closing.discard(event.member)
        self._leaves.pop(event.member, None)

    def on_closing(self, event: MemberClosing) -> None:
        """It does its last work."""
        self._closing.add(event.member)

    def on_call(self, event: CallbackStarted) -> None:
        """It leaves for good."""
        if event.callback == ON_LEAVE_PREPARE and event.member in self._closing:
            self._leaves[event.member] = event

    def on_joined(self, event: MemberJoined) -> None:
        """It has this membership from here on."""
        self._joined[event.member] = event
        self._left.pop(event.member, None)

    def on_lost(self, event: MembershipLost) -> None:
        """It had it until here."""
        if not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if not event.reason.isupper():
            self._left[event.member] = event
        joined, leaves = self._joined.pop(event.member, None), self._leaves.get(event.member)
        if leaves is not None:
            self.contradiction(
                f"{event.member} leaves its group for good, and records that it lost its membership",
                (f"{event.member} closes, and prepares to leave at {STEP};", leaves),
                (f"it records the loss of what it gave up itself at {STEP}: contradiction.", event),
            )
        elif joined is None or (joined.generation, joined.member_id) != (event.generation, event.member_id):
            self.contradiction(
                f"{event.member} records the loss of a membership that it does not have",
                *([(f"{event.member} joined generation {joined.generation} as {joined.member_id} at {STEP};", joined)]
                  if joined is not None else []),
                (f"it records the loss of generation {event.generation} as {event.member_id or 'no member id'} at "
                 f"{STEP}, and had no such membership: contradiction.", event),
            )  # fmt: skip

    def on_sent(self, event: RequestSent) -> None:
        """Who joins without a member id has lost the membership that it had."""
        if event.api != Api.JOIN_GROUP or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        joined, left = self._joined.get(event.member), self._left.get(event.member)
        if left is not None and event.member_id and event.member_id == left.member_id:
            self.contradiction(
                f"{event.member} joins under the id with which it left",
                (f"{event.member} left its group as {left.member_id} at {STEP};", left),
                (f"it joins as {event.member_id} at {STEP}, which is no member any more: contradiction.", event),
            )
        if joined is not None and joined.member_id != event.member_id:
            self.contradiction(
                f"{event.member} joins as a new member, and has recorded no loss of its membership",
                (f"{event.member} joined generation {joined.generation} as {joined.member_id} at {STEP};", joined),
                (
                    f"it joins as {event.member_id or 'no member id'} at {STEP}, and recorded no loss: contradiction.",
                    event,
                ),
            )


LossesAreRecordedOnce: Final = Invariant(
    name="losses_are_recorded_once",
    family=FAMILY,
    claim="a member records the loss of a membership that it has, once, before it joins under another member id, "
    "which it does when it left by itself, and never when it leaves to close",
    source="AbstractCoordinator.resetStateAndRejoin, resetStateOnResponseError, maybeLeaveGroup, close",
    premises=(RECORDED,),
    exempted_by=(MemberJoined, MembershipLost, MemberStarted, MemberClosing),
    violation=LossesAreRecordedOnceViolated,
    fold=_Losses,
)
"""Claims about what a former member may do begin with the loss.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    MemberJoined(member="m0", generation=1, member_id="a")
    RequestSent(member="m0", api="JoinGroup", request=5)
"""

CLAIMS: Final = (LossesAreRecordedOnce,)
"""In the order in which reports name them."""
