"""What a coordinator answers fits what it recorded of itself: an incarnation that runs, and the generation it is in."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorElected,
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupDeleted,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberRemoved,
    MemberStarted,
    NodeChanged,
    OffsetCommitReplied,
    ReplyEvent,
    RequestParked,
    RequestSent,
    SyncGroupReplied,
)
from rebalance_check.properties.invariants.denied import LOAD_FAILED, PAUSED
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

FAMILY: Final = "record"

REPLIES: Final = (JoinGroupReplied, SyncGroupReplied, HeartbeatReplied, LeaveGroupReplied, OffsetCommitReplied)
"""The answers that a coordinator records."""

Begun = IncarnationStarted | GenerationStarted
"""What says which generation a group is in."""


class AnswersFitTheRecordViolated(Violation):
    """A coordinator answered for an incarnation or a generation that it had not recorded so."""


class RepliesRepeatTheirRequestsViolated(Violation):
    """The record of a reply says another thing about its request than the record of the request."""


class _Serving(SimulatedFold):
    """The incarnations that run, and how the last generation of each began."""

    bookkeeping = frozenset({GroupDeleted, IncarnationEnded, MemberRemoved, NodeChanged})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            IncarnationStarted: self.on_incarnation,
            IncarnationEnded: self.on_ended,
            GroupDeleted: self.on_deleted,
            GenerationStarted: self.on_generation,
            MemberRemoved: self.on_removed,
            CoordinatorElected: self.on_elected,
            NodeChanged: self.on_node,
            RequestParked: self.on_served,
            **dict.fromkeys(REPLIES, self.on_served),
            JoinGroupReplied: self.on_join,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._runs: dict[int, IncarnationStarted] = {}
        self._ended: Recent[int, IncarnationEnded] = Recent(GENERATIONS)
        self._generation: Recent[int, Begun] = Recent(GENERATIONS)
        self._replaced: Recent[str, MemberRemoved] = Recent(WAITING)
        self._is_shaken = False

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """It has a leader and a protocol where it has members. The one before may have been read anew in its place."""
        if not self.run.is_recorded:
            return
        self._runs = {} if self._is_shaken else {event.incarnation: event}
        self._begin(event)

    def on_ended(self, event: IncarnationEnded) -> None:
        """It answers no more; one that was deposed may, until it ends once more."""
        self._runs.pop(event.incarnation, None)
        if event.deposed:
            self._ended.pop(event.incarnation, None)
        else:
            self._ended[event.incarnation] = event

    def on_deleted(self, event: GroupDeleted) -> None:
        """A group that is deleted begins anew with its next JoinGroup."""
        self._runs.pop(event.incarnation, None)

    def on_generation(self, event: GenerationStarted) -> None:
        """Its leader and its protocol are known."""
        if self.run.is_recorded:
            self._begin(event)

    def on_node(self, event: NodeChanged) -> None:
        """One that was paused, or could not read its log, may begin an incarnation when another takes its place.

        Who reads its log while it serves forgets the group; a log that it takes for empty begins no incarnation.
        """
        self._is_shaken = self._is_shaken or event.change in {PAUSED, LOAD_FAILED}
        if event.change == LOAD_FAILED:
            self._runs = {}

    def on_elected(self, event: CoordinatorElected) -> None:
        """Who coordinated the group until now has ended, or was deposed."""
        runs, self._runs = self._runs, {}
        if not self.run.is_recorded:
            return
        for before in runs.values():
            self.contradiction(
                f"node {event.node} takes over, and no end of incarnation {before.incarnation} is recorded",
                (f"incarnation {before.incarnation} began at {STEP};", before),
                (f"node {event.node} coordinates the group from {STEP} on, and no end of that incarnation is recorded: "
                 "contradiction.", event),
            )  # fmt: skip

    def on_removed(self, event: MemberRemoved) -> None:
        """Who comes back under another id leads under that."""
        if event.reason == "replaced":
            self._replaced[event.member_id] = event

    def _begin(self, event: Begun) -> None:
        self._generation[event.incarnation] = event
        self.compared = (self.compared or 0) + 1
        timeouts_ms = (
            (event.session_timeout_ms, event.rebalance_timeout_ms) if isinstance(event, IncarnationStarted) else ()
        )
        if timeouts_ms and (min(timeouts_ms) < 0 or bool(max(timeouts_ms)) != bool(event.members)):
            self.contradiction(
                f"incarnation {event.incarnation} begins with {len(event.members)} members, and with other timeouts",
                (f"it has the timeouts {' and '.join(map(str, timeouts_ms))} ms at {STEP}, and {len(event.members)} "
                 "members, of which they are the longest: contradiction.", event),
            )  # fmt: skip
        missing = [what for what in ("leader", "protocol") if event.members and not getattr(event, what)]
        if missing:
            self.contradiction(
                f"generation {event.generation} has members, and no {missing[0]} is recorded",
                (f"generation {event.generation} with {', '.join(event.members)} began at {STEP}, and the record names "
                 f"no {missing[0]}: contradiction.", event),
            )  # fmt: skip

    def on_served(self, event: RequestParked | ReplyEvent) -> None:
        """Its incarnation began, and has not ended."""
        if event.incarnation < 0 or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        ended = self._ended.get(event.incarnation)
        if event.incarnation not in self._generation:
            self.contradiction(
                f"incarnation {event.incarnation} answers, and no begin of it is recorded",
                (f"a request is taken or answered by incarnation {event.incarnation} at {STEP}, of which no begin is "
                 "recorded: contradiction.", event),
            )  # fmt: skip
        elif ended is not None:
            self.contradiction(
                f"incarnation {event.incarnation} answers after its end",
                (f"incarnation {event.incarnation} ended at {STEP};", ended),
                (f"it takes or answers a request at {STEP}: contradiction.", event),
            )

    def on_join(self, event: JoinGroupReplied) -> None:
        """A member learns the generation that began last, its leader and its protocol."""
        self.on_served(event)
        begun = self._generation.get(event.incarnation)
        if begun is None or event.error != ACCEPTED or not self.run.is_recorded:
            return
        answered = (event.reply_generation, event.protocol, event.leader)
        recorded = (begun.generation, begun.protocol, begun.leader)
        if begun.leader in self._replaced:
            answered, recorded = (*answered[:2], ""), (*recorded[:2], "")
        if not event.assigned_member_id:
            self.contradiction(
                "a JoinGroup is accepted, and its member learns no member id",
                (f"a JoinGroup of {event.member_id or 'a new member'} is accepted at {STEP}, and the answer names no "
                 "member id: contradiction.", event),
            )  # fmt: skip
        if answered != recorded:
            self.contradiction(
                f"{event.assigned_member_id} is answered {_spelt(*answered)}, and {_spelt(*recorded)} is recorded",
                (f"{_spelt(*recorded)} began at {STEP};", begun),
                (f"{event.assigned_member_id} is answered {_spelt(*answered)} at {STEP}: contradiction.", event),
            )


def _spelt(generation: int, protocol: str, leader: str) -> str:
    return f"generation {generation} of {protocol or 'no protocol'}" + (f", led by {leader}" if leader else "")


class _Repeats(SimulatedFold):
    """The requests that a coordinator keeps, and what members sent for the protocols that they list."""

    bookkeeping = frozenset({MemberStarted, RequestSent})
    needs = ((RequestParked,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_started,
            RequestSent: self.on_sent,
            RequestParked: self.on_parked,
            **dict.fromkeys(REPLIES, self.on_replied),
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._timeouts_ms: set[tuple[int, int]] = set()
        self._sent: Recent[tuple[str, tuple[str, ...]], RequestSent] = Recent(WAITING)
        self._parked: Recent[int, RequestParked] = Recent(WAITING)

    def on_started(self, event: MemberStarted) -> None:
        """It asks for these timeouts."""
        self._timeouts_ms.add((event.rebalance_timeout_ms, event.session_timeout_ms))

    def on_sent(self, event: RequestSent) -> None:
        """A member lists these protocols, each with metadata."""
        if event.api == Api.JOIN_GROUP:
            self._sent[event.metadata, event.protocols] = event

    def on_parked(self, event: RequestParked) -> None:
        """It says this of itself; a JoinGroup has the protocols and metadata that a member sent."""
        self._parked[event.request] = event
        if event.api != Api.JOIN_GROUP or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if (event.metadata, event.protocols) not in self._sent:
            self.contradiction(
                f"a JoinGroup of {event.member_id} has arrived, and no member sent it",
                (f"a JoinGroup that lists {', '.join(event.protocols) or 'no protocol'} is kept for {event.member_id} "
                 f"at {STEP}, and no member recorded that it sent one with these protocols and their metadata: "
                 "contradiction.", event),
            )  # fmt: skip
        if self._timeouts_ms and (event.rebalance_timeout_ms, event.session_timeout_ms) not in self._timeouts_ms:
            timeouts = f"{event.rebalance_timeout_ms} and {event.session_timeout_ms} ms"
            self.contradiction(
                f"a JoinGroup of {event.member_id} asks for {timeouts}, and no member is configured so",
                (f"a JoinGroup of {event.member_id} with the timeouts {timeouts} is kept at {STEP}, and no member "
                 "started with these: contradiction.", event),
            )  # fmt: skip

    def on_replied(self, event: ReplyEvent) -> None:
        """And that, when it is answered."""
        parked = self._parked.pop(event.request, None)
        if parked is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        before, now = _says(parked, event), _says(event, parked)
        if before != now:
            self.contradiction(
                f"request {event.request} of {parked.member_id} is recorded in two ways",
                (f"it came at {STEP} ({before});", parked),
                (f"it was answered at {STEP} ({now}): contradiction.", event),
            )


def _says(event: CoordinatorEvent, other: CoordinatorEvent) -> str:
    """What both records say of a request; an id that the request did not have stands in the first alone."""
    join = isinstance(event, JoinGroupReplied) or getattr(event, "api", "") == Api.JOIN_GROUP
    has_id = all(getattr(each, "member_id", "") for each in (event, other))
    known = {"protocols": join, "member_id": has_id}
    fields = ("instance_id", "request_generation", *(field for field, is_known in known.items() if is_known))
    return ", ".join(f"{name} {getattr(event, name)!r}" for name in fields)


AnswersFitTheRecord: Final = Invariant(
    name="answers_fit_the_record",
    family=FAMILY,
    claim="what a coordinator answers is of an incarnation that it recorded from its begin, before its end, and each "
    "JoinGroup that it accepts has the generation, leader and protocol that it recorded",
    source="ClassicGroup.initNextGeneration; GroupMetadataManager.onLoaded, onUnloaded",
    premises=(
        RECORDED,
        "a node that was paused, or could not read its log, may begin an incarnation while another is elected",
        "a node that could not read its log while it served may have forgotten the group",
    ),
    exempted_by=(GenerationStarted, GroupDeleted, IncarnationEnded, IncarnationStarted, MemberRemoved, NodeChanged),
    violation=AnswersFitTheRecordViolated,
    fold=_Serving,
)
"""A history that lacks how a coordinator or a generation began is judged blindly.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    IncarnationStarted(incarnation=0, generation=0, status="Empty")
    JoinGroupReplied(incarnation=0, generation=1, request=1, error="NONE", reply_generation=1, assigned_member_id="a",
                     leader="a", protocol="range")
"""

RepliesRepeatTheirRequests: Final = Invariant(
    name="replies_repeat_their_requests",
    family=FAMILY,
    claim="a coordinator records of a request the same when it keeps it as when it answers it: who sent it, for which "
    "generation, and the protocols that it lists, which a member recorded with the same metadata when it sent it, and "
    "the timeouts of a member",
    source="JoinGroupRequest.json, SyncGroupRequest.json: a request is one",
    premises=(RECORDED,),
    exempted_by=(RequestSent,),
    violation=RepliesRepeatTheirRequestsViolated,
    fold=_Repeats,
)
"""Claims look at the one or at the other.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    RequestSent(member="m0", api="JoinGroup", request=1, protocols=("range",))
    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a", protocols=("range",))
    JoinGroupReplied(incarnation=0, generation=1, request=1, error="NONE", assigned_member_id="a")
"""

CLAIMS: Final = (AnswersFitTheRecord, RepliesRepeatTheirRequests)
"""In the order in which reports name them."""
