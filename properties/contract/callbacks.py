"""When a coordinator calls the code that uses it."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ON_JOIN_COMPLETE,
    CallbackEnded,
    CallbackStarted,
    MemberJoined,
    RequestAnswered,
)
from rebalance_check.properties.contract.standing import FAMILY, Standing, StandingFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation


class CompletesAsAMemberViolated(Violation):
    """A member was given an assignment of a generation that it does not belong to."""


class CallbackFold(StandingFold):
    """Looks at callbacks that begin, and at where their members stand."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {CallbackStarted: self.on_call})
        self.compared = 0

    def on_call(self, event: CallbackStarted) -> None:
        """A callback begins."""
        self.compared = (self.compared or 0) + 1
        self.look(event, self.standings.at(event.member))

    def look(self, event: CallbackStarted, one: Standing) -> None:
        """Whether it may."""


class _Completes(CallbackFold):
    """An onJoinComplete that asked to be called again goes on, whatever became of the membership."""

    def look(self, event: CallbackStarted, one: Standing) -> None:
        """Accepted, given an assignment, not over, and not completed before."""
        if event.callback != ON_JOIN_COMPLETE or _goes_on(event, one.repeats):
            return
        joined, last = one.joined, one.over or one.completed
        of = f"generation {event.generation}"
        if joined is None or (joined.generation, joined.member_id) != (event.generation, event.member_id):
            accepted = [] if joined is None else [
                (f"{event.member} was accepted last into generation {joined.generation} at {STEP};", joined)
            ]  # fmt: skip
            self.contradiction(
                f"{event.member} completes {of}, which it was not accepted into",
                *accepted,
                (f"it is given the assignment of {of} at {STEP}: contradiction.", event),
            )
        elif last is not None:
            how = "was over" if one.over is not None else "was completed"
            self.contradiction(
                f"{event.member} completes {of}, which {how} for it",
                (f"{event.member} was accepted into {of} at {STEP};", joined),
                (f"{of} {how} for it at {STEP};", last),
                (f"yet it is given the assignment at {STEP}: contradiction.", event),
            )
        elif one.synced is None:
            self.contradiction(
                f"{event.member} completes {of} and was not answered its SyncGroup",
                (f"{event.member} was accepted into {of} at {STEP};", joined),
                (f"no SyncGroup was accepted, yet it is given an assignment at {STEP}: contradiction.", event),
            )


def _goes_on(event: CallbackStarted, repeats: CallbackStarted | None) -> bool:
    return repeats is not None and _arguments(event) == _arguments(repeats)


def _arguments(event: CallbackStarted) -> tuple[object, ...]:
    return event.callback, event.generation, event.member_id, event.protocol, event.assignment


RECORDED: Final = "what a coordinator calls is recorded (CallbackStarted, CallbackEnded)"

CompletesAsAMember: Final = Invariant(
    name="completes_as_a_member",
    family=FAMILY,
    claim="onJoinComplete is called once for a generation that the member was accepted into and was given an "
    "assignment of, while it belongs to it",
    source="KIP-795; AbstractCoordinator.joinGroupIfNeeded",
    premises=(RECORDED, "a call that raised, or asks to be repeated, comes again"),
    exempted_by=(CallbackEnded, CallbackStarted, MemberJoined, RequestAnswered),
    violation=CompletesAsAMemberViolated,
    fold=_Completes,
)
"""onJoinComplete is called once for a generation, as its member: a membership that ended meanwhile is not completed.

The smallest history that breaks it::

    MemberJoined(member="m0", generation=1, member_id="a")
    RequestAnswered(member="m0", api="SyncGroup", request=1, error="NONE")
    MembershipLost(member="m0", generation=1, member_id="a", reason="poll timeout expired")
    CallbackStarted(member="m0", callback="onJoinComplete", generation=1, member_id="a")
"""


CLAIMS: Final = (CompletesAsAMember,)
"""In the order in which reports name them."""
