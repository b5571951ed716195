"""What a member sends: the assignors that it offers, and a LeaveGroup when it leaves."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorLost,
    Event,
    MemberClosing,
    MemberEvent,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    RequestSent,
)
from rebalance_check.properties.contract.standing import FAMILY, Standing, StandingFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation


class OffersItsAssignorsViolated(Violation):
    """A JoinGroup listed other protocols than its member is configured with, or in another order."""


class WhoLeavesSaysSoViolated(Violation):
    """A member left its group without LeaveGroup, or one sent it that is to come back under its name."""


class _SendFold(StandingFold):
    """Looks at requests, and at where their members stand."""

    def __init__(self, invariant: Invariant, handlers: dict[type[Event], Handler] | None = None) -> None:
        super().__init__(invariant, {RequestSent: self.on_sent, **(handlers or {})})

    def on_sent(self, event: RequestSent) -> None:
        """A request leaves the member."""


class _Offers(_SendFold):
    needs = ((MemberStarted,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self.compared = 0

    def on_sent(self, event: RequestSent) -> None:
        """Those of its configuration, most preferred first."""
        started = self.standings.at(event.member).started
        if event.api != Api.JOIN_GROUP or started is None or not started.assignors or not event.protocols:
            return
        self.compared = (self.compared or 0) + 1
        if event.protocols != started.assignors:
            self.contradiction(
                f"{event.member} offers {', '.join(event.protocols)}",
                (f"{event.member} is configured with {', '.join(started.assignors)}, most preferred first, at {STEP};",
                 started),
                (f"its JoinGroup lists {', '.join(event.protocols)} at {STEP}: contradiction.", event),
            )  # fmt: skip


class _Leaves(_SendFold):
    """Per member: whether it closes."""

    bookkeeping = frozenset({MemberClosing, MemberStarted})
    needs = ((MemberStarted,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_process,
            MemberClosing: self.on_closing,
            MembershipLost: self.on_lost,
            MemberLeft: self.on_left,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._closing: dict[str, MemberClosing] = {}

    def on_process(self, event: MemberStarted) -> None:
        """Another process does not close yet."""
        self._closing.pop(event.member, None)

    def on_closing(self, event: MemberClosing) -> None:
        """What it sends from here on is for its end."""
        self._closing[event.member] = event

    def on_sent(self, event: RequestSent) -> None:
        """A static member never leaves, and one that is to keep quiet does not when it closes.

        A member that records no coordinator is not judged: a model's static member may leave.
        """
        one = self.standings.at(event.member)
        if event.api != Api.LEAVE_GROUP or one.started is None or one.coordinator is None:
            return
        self.compared = (self.compared or 0) + 1
        why = "is a static member" if one.started.group_instance_id else ""
        if one.started.leaves_silently and event.member in self._closing:
            why = why or "is to keep quiet when it closes"
        if why:
            self.contradiction(
                f"{event.member} {why}, and sends LeaveGroup",
                (f"{event.member} {why}, as its start at {STEP} says;", one.started),
                (f"it sends LeaveGroup at {STEP}: contradiction.", event),
            )

    def on_lost(self, event: MembershipLost) -> None:
        """It left by itself, where no error says otherwise."""
        if not event.reason.isupper():
            one = self.standings.at(event.member)
            self._look(one, event, is_in_group=one.over is event and one.joined is not None)

    def on_left(self, event: MemberLeft) -> None:
        """It closes as a member."""
        one = self.standings.at(event.member)
        if event.member in self._closing and one.started is not None and not one.started.leaves_silently:
            self._look(one, event, is_in_group=one.over is None and one.joined is not None)

    def _look(self, one: Standing, event: MemberEvent, *, is_in_group: bool) -> None:
        """A member whose requests are not recorded is not judged, nor one that could not say it."""
        if one.coordinator is None or not one.records(RequestSent):
            return
        if one.started is None or one.started.group_instance_id:
            return
        self.compared = (self.compared or 0) + 1
        if is_in_group:
            self.contradiction(
                f"{event.member} leaves its group and does not say so",
                (f"{event.member} belongs to a generation since {STEP}, and knows its coordinator;", one.joined),
                (f"it left at {STEP}, and sent no LeaveGroup: contradiction.", event),
            )


_REQUESTS: Final = "the history holds what members send (RequestSent)"

OffersItsAssignors: Final = Invariant(
    name="offers_its_assignors",
    family=FAMILY,
    claim="a JoinGroup lists the protocols that its member is configured with, most preferred first",
    source="KIP-795; ConsumerCoordinator.metadata (partition.assignment.strategy)",
    premises=(_REQUESTS, "what members are configured with is recorded (MemberStarted.assignors)"),
    exempted_by=(MemberStarted,),
    violation=OffersItsAssignorsViolated,
    fold=_Offers,
)
"""A JoinGroup lists the protocols that its member is configured with, most preferred first.

The smallest history that breaks it::

    MemberStarted(member="m0", assignors=("range", "cooperative-sticky"))
    RequestSent(member="m0", api="JoinGroup", request=0, protocols=("cooperative-sticky", "range"))
"""

WhoLeavesSaysSo: Final = Invariant(
    name="who_leaves_says_so",
    family=FAMILY,
    claim="a dynamic member that leaves its group (it closes, unsubscribes, or its application does not poll) sends "
    "LeaveGroup, if it knows its coordinator; a static member never does, nor one that closes and is to keep quiet",
    source="AbstractCoordinator.maybeLeaveGroup; KIP-345; internal.leave.group.on.close",
    premises=(_REQUESTS, "settings of members are recorded (MemberStarted), and what they know (CoordinatorFound)"),
    exempted_by=(CoordinatorLost, MemberStarted, MembershipLost, RequestSent),
    violation=WhoLeavesSaysSoViolated,
    fold=_Leaves,
)
"""A dynamic member that leaves its group says so.

The smallest history that breaks it::

    MemberStarted(member="m0")
    CoordinatorFound(member="m0", node=1)
    RequestSent(member="m0", api="JoinGroup", request=1)
    MemberJoined(member="m0", generation=1, member_id="a")
    MembershipLost(member="m0", generation=1, member_id="a", reason="poll timeout expired")
"""


CLAIMS: Final = (OffersItsAssignors, WhoLeavesSaysSo)
"""In the order in which reports name them."""
