"""What comes before a member joins, and what its leader does: onJoinPrepare and performAssignment."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ON_JOIN_PREPARE,
    PERFORM_ASSIGNMENT,
    CallbackEnded,
    CallbackStarted,
    Event,
    MemberEvent,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.contract.callbacks import RECORDED, CallbackFold
from rebalance_check.properties.contract.standing import FAMILY, Standing, StandingFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS


class PreparesBeforeJoiningViolated(Violation):
    """A member joined without an onJoinPrepare since its last generation."""


class PreparesWithWhatItHadViolated(Violation):
    """onJoinPrepare was called with another membership than the one that ends."""


class OnlyTheLeaderAssignsViolated(Violation):
    """performAssignment was called without a reply that names the member as the leader, or twice for one."""


class _Prepares(StandingFold):
    """Per member: the first JoinGroup of a process that was not called back yet, and what it had to give up."""

    needs = ((RequestSent,), (CallbackEnded, CallbackStarted))
    bookkeeping = frozenset(PROCESS)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            CallbackStarted: self.on_call,
            RequestSent: self.on_sent,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._undecided: dict[str, tuple[RequestSent, Event | None]] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Another process has sent nothing yet."""
        self._undecided.pop(event.member, None)

    def on_call(self, event: CallbackStarted) -> None:
        """Its callbacks are recorded: one that had come before its first JoinGroup would be."""
        if event.member in self._undecided:
            self._look(*self._undecided.pop(event.member))

    def on_sent(self, event: RequestSent) -> None:
        """A JoinGroup comes after onJoinPrepare, in a process whose callbacks are recorded."""
        if event.api != Api.JOIN_GROUP:
            return
        one = self.standings.at(event.member)
        if one.records(CallbackStarted):
            self._look(event, one.unprepared)
        else:
            self._undecided.setdefault(event.member, (event, one.unprepared))

    def _look(self, event: RequestSent, since: Event | None) -> None:
        self.compared = (self.compared or 0) + 1
        if since is not None:
            self.contradiction(
                f"{event.member} joins without an onJoinPrepare",
                (f"{event.member} has something to give up before it joins, or began, at {STEP};", since),
                (f"it sends JoinGroup at {STEP}, and onJoinPrepare did not come back before: contradiction.", event),
            )


class _PreparesWith(CallbackFold):
    def look(self, event: CallbackStarted, one: Standing) -> None:
        """With the generation of a membership that goes on, and with none after it ended."""
        if event.callback != ON_JOIN_PREPARE:
            return
        joined = one.joined
        belongs = joined is not None and one.over is None
        had = (joined.generation, joined.member_id) if joined is not None and belongs else None
        if had is not None and had != (event.generation, event.member_id):
            self.contradiction(
                f"onJoinPrepare of {event.member} names generation {event.generation}, not its own, which is {had[0]}",
                (f"{event.member} was accepted into generation {had[0]} as {had[1]!r} at {STEP};", joined),
                (f"onJoinPrepare is called with {event.generation} and {event.member_id!r} at {STEP}: contradiction.",
                 event),
            )  # fmt: skip
        elif had is None and event.generation != -1:
            self.contradiction(
                f"onJoinPrepare of {event.member} names generation {event.generation}, and it is in none",
                *([(f"the membership of {event.member} was over at {STEP};", one.over)] if one.over else []),
                (f"onJoinPrepare is called with {event.generation} at {STEP}: contradiction.", event),
            )


class _Assigns(CallbackFold):
    """Counts what each accepted reply to JoinGroup was followed by."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        handlers: dict[type[Event], Handler] = {
            RequestAnswered: self.on_answered,
            **dict.fromkeys(PROCESS, self.on_process),
        }
        self.handlers = {**self.handlers, **handlers}
        self._answered: dict[str, RequestAnswered] = {}
        self._assigned: dict[str, CallbackStarted] = {}

    bookkeeping = frozenset({*PROCESS, RequestAnswered})

    def on_process(self, event: MemberEvent) -> None:
        """Another process was answered nothing yet."""
        self._answered.pop(event.member, None)
        self._assigned.pop(event.member, None)

    def on_answered(self, event: RequestAnswered) -> None:
        """The reply that may name the member as the leader."""
        if event.api == Api.JOIN_GROUP and event.error == "NONE":
            self._answered[event.member] = event
            self._assigned.pop(event.member, None)

    def look(self, event: CallbackStarted, one: Standing) -> None:  # noqa: ARG002 - the reply says enough
        """The last reply names the member, and was not assigned for yet."""
        if event.callback != PERFORM_ASSIGNMENT:
            return
        answered = self._answered.get(event.member)
        before = self._assigned.setdefault(event.member, event)
        if answered is None or (answered.leader, answered.generation) != (event.member_id, event.generation):
            reply = [] if answered is None else [
                (f"the leader of generation {answered.generation} is {answered.leader}, as {event.member} was "
                 f"answered at {STEP};", answered)
            ]  # fmt: skip
            self.contradiction(
                f"{event.member} assigns for generation {event.generation} and does not lead it",
                *reply,
                (f"performAssignment is called with {event.member_id!r} as the leader at {STEP}: contradiction.",
                 event),
            )  # fmt: skip
        elif before is not event:
            self.contradiction(
                f"{event.member} assigns twice for generation {event.generation}",
                (f"{event.member} was answered once that it leads, at {STEP};", answered),
                (f"performAssignment was called for it at {STEP},", before),
                (f"and again at {STEP}: contradiction.", event),
            )


PreparesBeforeJoining: Final = Invariant(
    name="prepares_before_joining",
    family=FAMILY,
    claim="before a member sends its first JoinGroup, and the first one after a generation that it completed or lost, "
    "onJoinPrepare is called and comes back",
    source="KIP-795; AbstractCoordinator.needsJoinPrepare",
    premises=(RECORDED, "a call that raised is not repeated"),
    exempted_by=(CallbackEnded,),
    violation=PreparesBeforeJoiningViolated,
    fold=_Prepares,
)
"""Before a member joins again, onJoinPrepare gives up what the old generation granted.

The smallest history that breaks it::

    CallbackStarted(member="m0", callback="onJoinComplete", generation=1)
    CallbackEnded(member="m0", callback="onJoinComplete")
    RequestSent(member="m0", api="JoinGroup", request=2)
"""

PreparesWithWhatItHad: Final = Invariant(
    name="prepares_with_what_it_had",
    family=FAMILY,
    claim="onJoinPrepare is called with the generation and the member id that the member has; after a reset the "
    "generation is -1",
    source="KIP-795; AbstractCoordinator.onJoinPrepare",
    premises=(RECORDED,),
    exempted_by=(MemberJoined, MembershipLost, MemberStarted),
    violation=PreparesWithWhatItHadViolated,
    fold=_PreparesWith,
)
"""onJoinPrepare is called with the membership that the member has, and with generation -1 after a reset.

The smallest history that breaks it::

    MemberJoined(member="m0", generation=1, member_id="a")
    CallbackStarted(member="m0", callback="onJoinPrepare", generation=-1)
"""

OnlyTheLeaderAssigns: Final = Invariant(
    name="only_the_leader_assigns",
    family=FAMILY,
    claim="performAssignment is called once for each reply to JoinGroup that names the member as the leader, and for "
    "no other",
    source="KIP-795; AbstractCoordinator.JoinGroupResponseHandler",
    premises=(RECORDED,),
    exempted_by=(RequestAnswered,),
    violation=OnlyTheLeaderAssignsViolated,
    fold=_Assigns,
)
"""performAssignment is called once for each reply that names the member as the leader.

The smallest history that breaks it::

    RequestAnswered(member="m0", api="JoinGroup", request=0, error="NONE", generation=1, leader="b")
    CallbackStarted(member="m0", callback="performAssignment", generation=1, member_id="a")
"""

CLAIMS: Final = (PreparesBeforeJoining, PreparesWithWhatItHad, OnlyTheLeaderAssigns)
"""In the order in which reports name them."""
