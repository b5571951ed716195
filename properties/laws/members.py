"""Members: partitions that a member may own, give up, commit and claim by its own record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestSent,
    SubscriptionChanged,
)
from rebalance_check.properties.engines import (
    CHECKED,
    Excused,
    Finding,
    Findings,
    OfApis,
    broken,
    form,
)
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.laws.member_commits import LostIsNotCommitted, RevokedIsNotCommitted
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.assignments import Computed
from rebalance_check.properties.views.members import COOPERATIVE, Member, Members
from rebalance_check.properties.views.members import EAGER as EAGER_PROTOCOL

# ---------------------------------------------------------------------------------------------- callbacks


def _assigned_in_turn(event: PartitionsAssigned, members: Members) -> Iterator[Finding]:
    owned = members.of(event.member).owned
    for one in event.partitions:
        before = owned.get(one)
        yield (
            CHECKED
            if before is None
            else _wrong_callback(f"{one} was assigned to {event.member} twice in a row", before, event)
        )


def _given_up_in_turn(event: PartitionsRevoked | PartitionsLost, members: Members) -> Iterator[Finding]:
    member = members.of(event.member)
    verb = "revoked from" if isinstance(event, PartitionsRevoked) else "lost by"
    for one in event.partitions:
        if one in member.owned:
            yield CHECKED
        else:
            before = member.revoked.get(one) or member.lost.get(one)
            yield _wrong_callback(f"{one} was {verb} {event.member}, to which it was not assigned", before, event)


def _callbacks_add_up(event: AssignmentCompleted, members: Members) -> Iterator[Finding]:
    member = members.of(event.member)
    if not member.was_called_back:
        return
    yield CHECKED
    for one in sorted(member.owned.keys() ^ set(event.owned)):
        known = "still assigned by its callbacks" if one in member.owned else "not assigned by any callback"
        owns = "owns" if one in event.owned else "does not own"
        yield _wrong_callback(f"{event.member} {owns} {one}, {known}", member.owned.get(one), event)


def _wrong_callback(headline: str, before: Event | None, event: Event) -> Finding:
    first = "no callback before it names the partition." if before is None else f"the callback before it was at {STEP}."
    return broken(headline, (first, before), (f"at {STEP} {headline}: contradiction.", event))


CallbacksAlternate: Final = Invariant(
    name="callbacks_alternate",
    family="members",
    claim="each partition of a member is assigned, then revoked or lost, in turn, and the member owns the rest",
    source="ConsumerRebalanceListener; ConsumerCoordinator.onJoinPrepare, onJoinComplete",
    premises=(
        "the history holds the member's callbacks from the start of the process on",
        "no callback threw: after an exception Kafka runs onJoinComplete again, with the rest",
        "AssignmentCompleted is held against the callbacks only for members that have had one",
    ),
    exempted_by=(MemberCrashed, MemberLeft, MemberStarted, PartitionsAssigned, PartitionsLost, PartitionsRevoked),
    evidence=Evidence.CONCERNED,
    fold=form(
        {
            PartitionsAssigned: _assigned_in_turn,
            PartitionsRevoked: _given_up_in_turn,
            PartitionsLost: _given_up_in_turn,
            AssignmentCompleted: _callbacks_add_up,
        },
        views=(Members,),
    ),
    breaks="""
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
    """,
    holds="""
        PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
    """,
)


def _empty_handed(event: MemberJoined, members: Members) -> Iterator[Finding]:
    member = members.of(event.member)
    if member.protocol != EAGER_PROTOCOL or not member.has_started:
        return
    yield CHECKED
    for partition, since in sorted(member.owned.items()):
        yield broken(
            f"{event.member} joined generation {event.generation} while it owned {partition}",
            (f"{event.member} is EAGER and owns {partition} since {STEP}.", since),
            (f"it joined generation {event.generation} at {STEP}: contradiction.", event),
        )


EagerOwnsNothingWhileJoining: Final = Invariant(
    name="eager_owns_nothing_while_joining",
    family="members",
    claim="an EAGER member owns nothing when it joins a generation",
    source="ConsumerCoordinator.onJoinPrepare (RebalanceProtocol.EAGER)",
    premises=("the member's MemberStarted says that it is eager",),
    exempted_by=(AssignmentCompleted, MemberStarted, PartitionsLost, PartitionsRevoked),
    evidence=Evidence.CONCERNED,
    fold=form(
        {MemberJoined: _empty_handed},
        views=(Members,),
        needs=((MemberStarted,), (PartitionsAssigned, AssignmentCompleted)),
    ),
    breaks="""
        MemberStarted(member="m0", protocol="eager")
        PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
        MemberJoined(member="m0", generation=2)
    """,
    holds="""
        MemberStarted(member="m0", protocol="eager")
        PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
        MemberJoined(member="m0", generation=2)
    """,
)

# ---------------------------------------------------------------------------------------------- a member's own side


def _as_assigned(event: AssignmentCompleted, computed: Computed) -> Findings:
    """It owns that, or the result of another computation of this round."""
    results = computed.of(event.generation, event.member_id)
    owned = frozenset(event.owned)
    if not results:
        return None
    if any(owned == things for things, _ in results):
        return CHECKED
    things, last = results[-1]
    return broken(
        f"{event.member} owns {_listed(owned)} in generation {event.generation}, assigned is {_listed(things)}",
        (f"{last.member} assigned {_listed(things)} to {event.member} at {STEP}.", last),
        (f"{event.member} completed that generation with {_listed(owned)} at {STEP}: contradiction.", event),
    )


def _listed(things: frozenset[str]) -> str:
    return ", ".join(sorted(things)) or "nothing"


OwnedEqualsAssigned: Final = Invariant(
    name="owned_equals_assigned",
    family="members",
    claim="a member that completes a generation owns exactly the assignment that the leader gave it",
    source="ConsumerCoordinator.onJoinComplete",
    premises=(
        "the history holds the leader's AssignmentComputed; the successor of a static member is not compared",
        "a leader that computes twice for one generation may find either result in effect",
        "an assignment that does not match the subscription changes nothing: such a round is not completed",
        "a consumer group: connectors, tasks and candidates of an election are not compared",
    ),
    exempted_by=(AssignmentComputed,),
    fold=form({AssignmentCompleted: _as_assigned}, views=(Computed,), needs=((AssignmentComputed,),)),
    breaks="""
        AssignmentComputed(member="m0", generation=1, assignments=(("a", ("t-0",)),))
        AssignmentCompleted(member="m0", member_id="a", generation=1, owned=("t-0", "t-1"))
    """,
    holds="""
        AssignmentComputed(member="m0", generation=1, assignments=(("a", ("t-0",)),))
        AssignmentCompleted(member="m0", member_id="a", generation=1, owned=("t-0",))
    """,
)


def _claims_nothing(event: MemberJoined, members: Members) -> Findings:
    reset = members.of(event.member).reset
    if reset is None:
        return None
    claimed = ", ".join(event.owned_partitions)
    return _checked(event, reset, claimed and f"{event.member} claims {claimed} from before it was thrown out")


def _nothing_kept(event: PartitionsAssigned | AssignmentCompleted, members: Members) -> Findings:
    """In its new generation a member owns none of the partitions from before the loss."""
    member = members.of(event.member)
    is_new = isinstance(event, AssignmentCompleted) or (member.reset and event.generation > member.reset.generation)
    if member.reset is None or not is_new:
        return None
    kept = ", ".join(sorted(member.owned))
    headline = f"{event.member} is in generation {event.generation} and never lost {kept}"
    return _checked(event, member.reset, kept and headline)


def _not_as_owner(event: PartitionsRevoked, members: Members) -> Findings:
    """A member revokes as the owner, and this one is none."""
    member = members.of(event.member)
    if member.reset is None:
        return None
    owned = member.owned.keys() & set(event.partitions)
    headline = f"{event.member} revokes {', '.join(event.partitions)}, which it has lost"
    return _checked(event, member.reset, headline if owned else "")


def _given_up_before_joining(event: RequestSent, members: Members) -> Findings:
    members.up_to_date()
    member: Member = members.of(event.member)
    if member.reset is None:
        return None
    owned = ", ".join(sorted(member.owned))
    return _checked(event, member.reset, owned and f"{event.member} joins again and still owns {owned}")


def _checked(event: Event, reset: MembershipLost, headline: str) -> Finding:
    if not headline:
        return CHECKED
    return broken(
        headline,
        (f"{reset.member} learned at {STEP} that it belongs to no generation ({reset.reason}).", reset),
        (f"at {STEP} {headline}: contradiction.", event),
    )


ResetMemberLosesEverything: Final = Invariant(
    name="reset_member_loses_everything",
    family="members",
    claim="a member that learned that it belongs to no generation joins again empty-handed: it lost its partitions",
    source="ConsumerCoordinator.onJoinPrepare, onLeavePrepare; AbstractCoordinator.resetStateAndGeneration",
    premises=(
        "the history tells MembershipLost; a zombie owns on until its application polls, without any limit in time",
        "FENCED_INSTANCE_ID is raised by the first poll, and the next one gives up",
    ),
    exempted_by=(MemberCrashed, MemberJoined, MemberLeft, MemberStarted, PartitionsLost, PartitionsRevoked),
    evidence=Evidence.CONCERNED,
    fold=form(
        {
            MemberJoined: _claims_nothing,
            PartitionsAssigned: _nothing_kept,
            AssignmentCompleted: _nothing_kept,
            PartitionsRevoked: _not_as_owner,
            RequestSent: OfApis(_given_up_before_joining, Api.JOIN_GROUP),
        },
        views=(Members,),
        needs=((MembershipLost,),),
    ),
    breaks="""
        PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
        MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID")
        RequestSent(member="m0", api="JoinGroup", request=1)
    """,
    holds="""
        PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
        MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID")
        PartitionsLost(member="m0", generation=1, partitions=("t-0",))
        RequestSent(member="m0", api="JoinGroup", request=1)
    """,
)


def _kept_until_joined(event: MemberJoined, members: Members) -> Findings:
    """It joined without what it gave up: no assignment had asked for that."""
    member = members.of(event.member)
    early = member.early
    if member.protocol != COOPERATIVE or member.settled is None:
        return None
    if early is None:
        found = Excused(member.excused) if member.excused else CHECKED
        return found if member.settled.owned else None
    gone = ", ".join(early.partitions)
    return broken(
        f"{event.member} gave up {gone} before it joined generation {event.generation}",
        (f"{event.member} is COOPERATIVE, and revoked {gone} at {STEP}, while it was a member and wanted them.", early),
        (f"it joined generation {event.generation} without them at {STEP}: contradiction.", event),
    )


CooperativeKeepsWhatItOwns: Final = Invariant(
    name="cooperative_keeps_what_it_owns",
    family="members",
    claim="before it joins, a COOPERATIVE member that belongs to its generation gives up only unwanted partitions",
    source="KIP-429; ConsumerCoordinator.onJoinPrepare",
    premises=(
        "the member's MemberStarted says that it is cooperative",
        "a changed subscription is recorded (SubscriptionChanged); a member that leaves, or knows that it was thrown "
        "out, gives everything up",
    ),
    exempted_by=(MemberCrashed, MemberLeft, MembershipLost, SubscriptionChanged),
    evidence=Evidence.CONCERNED,
    fold=form(
        {MemberJoined: _kept_until_joined},
        views=(Members,),
        needs=((MemberStarted,), (AssignmentCompleted,)),
    ),
    breaks="""
        MemberStarted(member="m0", protocol="cooperative")
        AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
        MemberJoined(member="m0", generation=2)
    """,
    holds="""
        MemberStarted(member="m0", protocol="cooperative")
        AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
        MemberJoined(member="m0", generation=2)
        PartitionsRevoked(member="m0", generation=2, partitions=("t-0",))
        AssignmentCompleted(member="m0", generation=2, owned=())
        MemberJoined(member="m0", generation=3)
    """,
    excuses="""
        MemberStarted(member="m0", protocol="cooperative")
        SubscriptionChanged(member="m0", topics=("u",))
        AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
        MemberJoined(member="m0", generation=2)
    """,
)

LAWS: Final = (
    CallbacksAlternate, EagerOwnsNothingWhileJoining, LostIsNotCommitted, RevokedIsNotCommitted, OwnedEqualsAssigned,
    ResetMemberLosesEverything, CooperativeKeepsWhatItOwns,
)  # fmt: skip
"""In the order in which reports name them."""
