"""Ownership: who owns what, and whether anybody else may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    ConnectAssignmentComputed,
    Event,
    GenerationStarted,
    IncarnationStarted,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestSent,
    SubscriptionChanged,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.engines import (
    CHECKED,
    Excused,
    Fact,
    Finding,
    Findings,
    agreement,
    broken,
    form,
    ownership,
)
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.assignments import Computed
from rebalance_check.properties.views.claims import Claims
from rebalance_check.properties.views.holdings import EAGER, EXEMPTS_A_HOLDER, Holder, Holdings, Instances, Rounds
from rebalance_check.properties.views.members import EAGER as EAGER_PROTOCOL
from rebalance_check.properties.views.members import Member, Members
from rebalance_check.properties.views.revocations import Revocations

FAMILY: Final = "ownership"

# ---------------------------------------------------------------------------------------------- no double ownership


def _one_owner(holder: Holder, things: tuple[str, ...], event: Event, holdings: Holdings) -> Iterator[Finding]:
    """Compare what ``holder`` holds with what the other current members hold."""
    if holder.round is None:
        return
    for thing in things:
        exemption = ""
        for other in holdings.in_round.get((holder.round, thing), {}).values():
            if other is not holder:
                exemption = _why_not_current(holder, other, thing, holdings)
                if not exemption:
                    yield _two_owners(holder, other, thing, event)
                    break
        else:
            yield Excused(exemption) if exemption else CHECKED


def _why_not_current(one: Holder, other: Holder, thing: str, holdings: Holdings) -> str:
    """The exemption by which one of the two is no current owner; empty where both are."""
    rounds = holdings.rounds
    assert one.round is not None
    if thing in one.unconfirmed or thing in other.unconfirmed:
        return "is not confirmed by an assignment"
    if not rounds.have_coordinator_events and holdings.instances.share_an_instance_id(one.name, other.name):
        return "took over the instance id"
    if any(rounds.is_removed(one.round[0], holder.member_id) for holder in (one, other)):
        return "was removed by the coordinator"
    return ""


def _two_owners(holder: Holder, other: Holder, thing: str, event: Event) -> Finding:
    generation = holder.round[1] if holder.round else NO_GENERATION
    first, second = sorted((holder.name, other.name))
    if holder.holds[thing] is event:
        last = f"{holder.name} got {thing} in generation {generation} at {STEP}: contradiction."
    else:
        last = f"{holder.name} joined generation {generation} at {STEP} and still holds {thing}: contradiction."
    return broken(
        f"{thing} is owned by {first} and {second} in generation {generation}",
        (f"{other.name} holds {thing} since {STEP}; no revoked, lost or stopped event for it follows.",
         other.holds[thing]),
        (f"{other.name} speaks for generation {generation} since {STEP}.", other.joined),
        (last, event),
    )  # fmt: skip


NoDoubleOwnership: Final = Invariant(
    name="no_double_ownership",
    family=FAMILY,
    claim="within one generation a partition, connector or task has at most one owner",
    source="KIP-429; ConsumerCoordinator.onJoinPrepare, onJoinComplete; DistributedHerder.RebalanceListener",
    premises=(
        "a member is current in the generation it last joined, until it learns that it belongs to none, ends, or the "
        "coordinator's events show its member id removed: such zombies may hold what they held, without violation",
        "generations are distinguished by the coordinator's incarnation; where no event names it, the run had but one",
        "a silent static member that the coordinator keeps in a new generation has not joined it and is not current; "
        "when it joins a later one, what it held meanwhile counts again from its next assignment on",
        "of two processes with one instance id the one that joined last is current, if the coordinator does not tell",
        "a Connect worker that lost its membership, or that a late copy of its JoinGroup put into a generation which "
        "it never joined, may return with what it ran until its next assignment is complete",
        "work that a worker cancelled, or that an eager assignment left out of its claim, is held no longer; what it "
        "ran under an incremental protocol when it joined an eager round counts again from its next assignment on "
        "(KAFKA-13816)",
    ),
    exempted_by=EXEMPTS_A_HOLDER,
    evidence=Evidence.CONCERNED,
    fold=ownership(_one_owner),
    breaks="""
        PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
        PartitionsAssigned(member="m1", generation=1, partitions=("t-0",))
    """,
    holds="""
        PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
        PartitionsAssigned(member="m1", generation=2, partitions=("t-0",))
    """,
    excuses="""
        PartitionsAssigned(member="m0", generation=1, member_id="a", partitions=("t-0",))
        MemberRemoved(incarnation=-1, generation=1, member_id="a", reason="session expired")
        PartitionsAssigned(member="m1", generation=1, member_id="b", partitions=("t-0",))
    """,
)

# ---------------------------------------------------------------------------------------------- one assignment


def _completed(event: AssignmentCompleted, rounds: Rounds, _instances: Instances) -> list[Fact] | None:
    place = rounds.round_of(event)
    if event.generation == NO_GENERATION or rounds.is_removed(place[0], event.member_id):
        return None
    says = f"{event.member} completed generation {event.generation} with {{partition}} at {STEP}"
    return [
        Fact((place, one), event.member, event.member, says.replace("{partition}", one), event) for one in event.owned
    ]


def _was_replaced(first: Fact, other: Fact, rounds: Rounds, instances: Instances) -> str:
    before = first.event
    assert isinstance(before, AssignmentCompleted)
    if rounds.is_removed(rounds.round_of(before)[0], before.member_id):
        return "was removed by the coordinator"
    if instances.share_an_instance_id(first.observer, other.observer):
        return "took over the instance id"
    return ""


def _of_another_member(first: Fact, other: Fact) -> bool:
    return first.observer != other.observer


def _assigned_twice(first: Fact, other: Fact) -> str:
    (_, generation), partition = first.key  # type: ignore[misc] # as `_completed` makes it
    return f"{partition} is assigned to {first.observer} and {other.observer} in generation {generation}"


AssignedOncePerGeneration: Final = Invariant(
    name="assigned_once_per_generation",
    family=FAMILY,
    claim="within one generation a partition is assigned to at most one member, in whichever order they learn of it",
    source="ConsumerPartitionAssignor.assign; ConsumerCoordinator.onJoinComplete",
    premises=(
        "a generation has one assignment, which members complete (AssignmentCompleted): a partition changes hands in a "
        "later generation, or to a process that takes over the instance id",
        "generations are distinguished by the coordinator's incarnation; where no event names it, the run had but one",
        "a member that the coordinator's events show removed is not compared",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(GenerationStarted, IncarnationStarted, MemberRemoved, MemberStarted),
    evidence=Evidence.CONCERNED,
    fold=agreement(
        {AssignmentCompleted: _completed},
        headline=_assigned_twice,
        differ=_of_another_member,
        unless=_was_replaced,
        views=(Rounds, Instances),
        checks_first=True,
    ),
    breaks="""
        AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
        AssignmentCompleted(member="m1", generation=1, owned=("t-0",))
    """,
    holds="""
        AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
        AssignmentCompleted(member="m1", generation=2, owned=("t-0",))
    """,
    excuses="""
        MemberStarted(member="m0", group_instance_id="i")
        MemberStarted(member="m1", group_instance_id="i")
        AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
        AssignmentCompleted(member="m1", generation=1, owned=("t-0",))
    """,
)

# ---------------------------------------------------------------------------------------------- revoked before given on


def _withheld(event: AssignmentComputed, holdings: Holdings, _claims: Claims) -> Iterator[Finding]:
    """What one member claims and does not keep, no other member gets, unless it claims it too."""
    claims = {member: frozenset(things) for member, things in event.owned_partitions}
    kept = {member: frozenset(things) for member, things in event.assignments}
    given_up: dict[str, str] = {}
    for owner, claimed in claims.items():
        given_up.update({thing: owner for thing in claimed - kept.get(owner, frozenset()) if thing not in given_up})
    for receiver, things in event.assignments:
        for thing in things:
            if thing not in given_up:
                continue
            if thing in claims.get(receiver, ()):
                yield Excused("the receiver claims it, too")
            else:
                yield _moved_in_one_round(event, given_up[thing], receiver, thing, holdings)
    if claims:
        yield CHECKED


def _moved_in_one_round(
    event: AssignmentComputed, owner_id: str, receiver_id: str, thing: str, holdings: Holdings
) -> Finding:
    owner, receiver = holdings.name_of(owner_id), holdings.name_of(receiver_id)
    return broken(
        f"{thing} goes from {owner} to {receiver} within generation {event.generation}",
        (f"{owner} claimed {thing} when it joined generation {event.generation}.", event),
        (f"the leader {event.member} gave {thing} to {receiver} in the same round, at {STEP}, before {owner} could "
         f"revoke it: contradiction.", event),
    )  # fmt: skip


def _given_up_before(
    holder: Holder, things: tuple[str, ...], event: Event, holdings: Holdings, claims: Claims
) -> Iterator[Finding]:
    """No other member of this generation may still hold what was granted in it."""
    if holder.round is None or holdings.rounds.is_removed(holder.round[0], holder.member_id):
        return
    for thing in things:
        if thing in holder.holds and holder.holds[thing] is event:
            found: Finding = CHECKED
            for other in claims.who_may_take_part(holder, thing, holdings):
                found = _still_held(holder, other, thing, event, holdings, claims)
                if not isinstance(found, Excused):
                    break
            yield found


def _still_held(  # noqa: PLR0917 - a rule and its views
    holder: Holder, other: Holder, thing: str, event: Event, holdings: Holdings, claims: Claims
) -> Finding:
    if thing in other.unconfirmed:
        return Excused("is not confirmed by an assignment")
    if not holdings.rounds.have_coordinator_events and holdings.instances.share_an_instance_id(other.name, holder.name):
        return Excused("took over the instance id")
    if holder.work_protocol == EAGER and thing in other.ignored_claims():
        return Excused("an eager round ignores claims of an incremental one")
    if not claims.binds(other, holder, thing, holdings):
        return Excused("does not take part in the generation")
    generation = holder.round[1] if holder.round else 0
    return broken(
        f"{thing} is granted to {holder.name} in generation {generation} while {other.name} still holds it",
        (f"{other.name} holds {thing} since {STEP}, and takes part in generation {generation}.", other.holds[thing]),
        (f"{holder.name} got {thing} at {STEP} before {other.name} gave it up: contradiction.", event),
    )


RevokedBeforeReassigned: Final = Invariant(
    name="revoked_before_reassigned",
    family=FAMILY,
    claim="a member's claim is given to another member only in a later round, after the member gave it up",
    source="KIP-429; CooperativeStickyAssignor.adjustAssignment; ConsumerCoordinator.validateCooperativeAssignment",
    premises=(
        "a claim is passed over where the receiver claims the partition too (one of the claims is stale)",
        "a member takes part in a generation when its join reached the leader, and it was not removed since",
        "a worker's claim counts as its leader read it, which may be an old one where a JoinGroup came twice",
        "a member that is silent, removed, or knows that it lost its membership is a zombie and binds no other",
        "an eager round of Connect workers ignores what workers claim and run since an incremental one (KAFKA-13816)",
    ),
    exempted_by=(*EXEMPTS_A_HOLDER, ConnectAssignmentComputed),
    evidence=Evidence.CONCERNED,
    fold=ownership(_given_up_before, also={AssignmentComputed: _withheld}, views=(Claims,)),
    breaks="""
        AssignmentComputed(member="m0", generation=2, owned_partitions=(("m0", ("t-0",)), ("m1", ())),
                           assignments=(("m0", ()), ("m1", ("t-0",))))
    """,
    holds="""
        AssignmentComputed(member="m0", generation=2, owned_partitions=(("m0", ("t-0",)), ("m1", ())),
                           assignments=(("m0", ()), ("m1", ())))
    """,
    excuses="""
        AssignmentComputed(member="m0", generation=2, owned_partitions=(("m0", ("t-0",)), ("m1", ("t-0",))),
                           assignments=(("m0", ()), ("m1", ("t-0",))))
    """,
)

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
    family=FAMILY,
    claim="each partition of a member is assigned, then revoked or lost, in turn, and the member owns the rest",
    source="ConsumerRebalanceListener; ConsumerCoordinator.onJoinPrepare, onJoinComplete",
    premises=(
        "the history holds the member's callbacks from the start of the process on",
        "no callback threw: after an exception Kafka runs onJoinComplete again, with what is left",
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
    family=FAMILY,
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

# ---------------------------------------------------------------------------------------------- commits


def _not_lost(event: OffsetCommitted, members: Members) -> Findings:
    """Accepted in the generation joined after the loss: so it was sent after the loss."""
    members.up_to_date()
    member = members.of(event.member)
    if event.error != "NONE" or not _spoke_for(member.resumed, event.generation):
        return None
    lost = member.lost.get(event.partition)
    if lost is None:
        return CHECKED
    return broken(
        f"{event.member} committed {event.partition} in generation {event.generation} after it was lost",
        (f"{event.member} lost {event.partition} at {STEP}.", lost),
        (f"it joined generation {event.generation} at {STEP} and was not assigned it again.", member.resumed),
        (f"its commit in that generation was accepted at {STEP}: contradiction.", event),
    )


def _spoke_for(event: Event | None, generation: int) -> bool:
    return event is not None and getattr(event, "generation", NO_GENERATION) == generation


LostIsNotCommitted: Final = Invariant(
    name="lost_is_not_committed",
    family=FAMILY,
    claim="a member does not commit a partition after it lost it, until it is assigned again",
    source="ConsumerRebalanceListener.onPartitionsLost; KIP-429",
    premises=(
        "a commit is known to be sent after the loss when it is accepted in a generation that was joined after it",
        "the member commits through its group; a commit by an administrator is not recorded as OffsetCommitted",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(AssignmentCompleted, MemberStarted, PartitionsAssigned),
    evidence=Evidence.CONCERNED,
    fold=form(
        {OffsetCommitted: _not_lost},
        views=(Members,),
        needs=((PartitionsLost,), (MemberJoined, PartitionsAssigned, AssignmentCompleted)),
    ),
    breaks="""
        PartitionsLost(member="m0", generation=-1, partitions=("t-0",))
        MemberJoined(member="m0", generation=3)
        OffsetCommitted(member="m0", generation=3, partition="t-0", offset=5, error="NONE")
    """,
    holds="""
        PartitionsLost(member="m0", generation=-1, partitions=("t-0",))
        MemberJoined(member="m0", generation=3)
        PartitionsAssigned(member="m0", generation=3, partitions=("t-0",))
        OffsetCommitted(member="m0", generation=3, partition="t-0", offset=5, error="NONE")
    """,
)


def _not_revoked(event: OffsetCommitted, members: Members) -> Findings:
    """A commit for a generation that was joined after the revocation is a commit of a partition that is gone."""
    members.up_to_date()
    member = members.of(event.member)
    joined = member.joined
    if joined is None or joined.generation != event.generation or event.error != "NONE":
        return None
    revoked = member.revoked.get(event.partition)
    if revoked is None or member.gone_before_join.get(event.partition) is not revoked:
        return CHECKED
    return broken(
        f"{event.member} commits {event.partition}, which it revoked before generation {event.generation}",
        (f"{event.member} revoked {event.partition} at {STEP};", revoked),
        (f"it joined generation {event.generation} at {STEP}, and was not assigned it since;", joined),
        (f"yet it commits {event.partition} in that generation at {STEP}: contradiction.", event),
    )


RevokedIsNotCommitted: Final = Invariant(
    name="revoked_is_not_committed",
    family=FAMILY,
    claim="a member does not commit a partition that it revoked before it joined its generation, until it is assigned "
    "again",
    source="ConsumerRebalanceListener.onPartitionsRevoked; ConsumerCoordinator (SubscriptionState.allConsumed)",
    premises=(
        "a commit is known to be sent after the revocation when it is accepted in a generation that was joined later",
        "the member commits what it consumed; a commit of other partitions by its application is not recorded",
    ),
    exempted_by=(AssignmentCompleted, MemberCrashed, MemberLeft, MemberStarted, PartitionsAssigned),
    evidence=Evidence.CONCERNED,
    fold=form({OffsetCommitted: _not_revoked}, views=(Members,), needs=((PartitionsRevoked,), (MemberJoined,))),
    breaks="""
        PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
        MemberJoined(member="m0", generation=2)
        OffsetCommitted(member="m0", generation=2, partition="t-0", offset=5, error="NONE")
    """,
    holds="""
        PartitionsRevoked(member="m0", generation=1, partitions=("t-1",))
        MemberJoined(member="m0", generation=2)
        OffsetCommitted(member="m0", generation=2, partition="t-0", offset=5, error="NONE")
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
    family=FAMILY,
    claim="a member that completes a generation owns exactly what the leader assigned it",
    source="ConsumerCoordinator.onJoinComplete",
    premises=(
        "the history holds the leader's AssignmentComputed; the successor of a static member is not compared",
        "a leader that computes twice for one generation may find either result in effect",
        "an assignment that does not match the subscription changes nothing: such a round is not completed",
        "a consumer group: what Connect workers and candidates of an election run is not compared",
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
    """In its new generation a member has nothing left of what it owned before the loss."""
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
    if event.api != Api.JOIN_GROUP:
        return None
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
    family=FAMILY,
    claim="a member that learned that it belongs to no generation joins again empty-handed, having lost what it owned",
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
            RequestSent: _given_up_before_joining,
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


def _kept_until_joined(event: MemberJoined, revocations: Revocations) -> Findings:
    """It joined without what it gave up: no assignment had asked for that."""
    before = revocations.at_join
    if before is None or not before.is_settled:
        return None
    early = before.early
    if early is None:
        if not before.owns_some:
            return None
        return Excused(before.excused) if before.excused else CHECKED
    gone = ", ".join(early.partitions)
    return broken(
        f"{event.member} gave up {gone} before it joined generation {event.generation}",
        (f"{event.member} is COOPERATIVE, and revoked {gone} at {STEP}, while it was a member and wanted them.", early),
        (f"it joined generation {event.generation} without them at {STEP}: contradiction.", event),
    )


CooperativeKeepsWhatItOwns: Final = Invariant(
    name="cooperative_keeps_what_it_owns",
    family=FAMILY,
    claim="before it joins, a COOPERATIVE member that belongs to its generation gives up only what it does not want",
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
        views=(Revocations,),
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
    NoDoubleOwnership,
    AssignedOncePerGeneration,
    RevokedBeforeReassigned,
    CallbacksAlternate,
    EagerOwnsNothingWhileJoining,
    LostIsNotCommitted,
    RevokedIsNotCommitted,
    OwnedEqualsAssigned,
    ResetMemberLosesEverything,
    CooperativeKeepsWhatItOwns,
)
"""In the order in which reports name them."""
