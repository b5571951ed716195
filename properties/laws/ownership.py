"""Ownership: each thing has one owner, and is given on only after that one gave it up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    GenerationStarted,
    IncarnationStarted,
    MemberRemoved,
    MemberStarted,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.engines import (
    CHECKED,
    Excused,
    Fact,
    Finding,
    agreement,
    broken,
    form,
    ownership,
)
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.holdings import (
    EXEMPTS_A_HOLDER,
    Holder,
    Holdings,
    Instances,
    Round,
    Rounds,
)

# ---------------------------------------------------------------------------------------------- no double ownership


def _one_owner(holder: Holder, things: tuple[str, ...], event: Event, holdings: Holdings) -> Iterator[Finding]:
    """Compare the things of ``holder`` with those of the other current members."""
    if holder.round is None:
        return
    for thing in things:
        exemption = ""
        for other in holdings.in_round[holder.round, thing].values():
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
    family="ownership",
    claim="within one generation a partition has at most one owner",
    source="KIP-429; ConsumerCoordinator.onJoinPrepare, onJoinComplete",
    premises=(
        "a member is current in the generation it last joined, until it learns that it belongs to none, ends, or the "
        "coordinator's events show its member id removed: such zombies may go on holding, without violation",
        "generations are distinguished by the coordinator's incarnation; where no event names it, the run had but one",
        "a silent static member that the coordinator keeps in a new generation has not joined it and is not current; "
        "when it joins a later one, the things that it held meanwhile count again from its next assignment on",
        "so do the things of members when the log loses its tail, with which it may lose the removal of a zombie",
        "of two processes with one instance id the one that joined last is current, if the coordinator does not tell",
        "a member that a late copy of its JoinGroup put into a generation which it never joined may return with its "
        "earlier things until its next assignment is complete",
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


class _Share(NamedTuple):
    """A partition in a round: it has one owner."""

    round: Round
    partition: str


def _completed(event: AssignmentCompleted, rounds: Rounds, _instances: Instances) -> list[Fact] | Excused | None:
    place = rounds.round_of(event)
    if event.generation == NO_GENERATION or rounds.is_removed(place[0], event.member_id):
        return None
    if place[0] == UNKNOWN_INCARNATION and rounds.incarnations > 1:
        return Excused("the coordinator failed over, and the client cannot tell when")
    says = f"{event.member} completed generation {event.generation} with {{partition}} at {STEP}"
    me = event.member
    return [Fact(_Share(place, one), me, me, says.replace("{partition}", one), event) for one in event.owned]


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
    assert isinstance(first.key, _Share)
    partition, (_, generation) = first.key.partition, first.key.round
    return f"{partition} is assigned to {first.observer} and {other.observer} in generation {generation}"


AssignedOncePerGeneration: Final = Invariant(
    name="assigned_once_per_generation",
    family="ownership",
    claim="within one generation a partition is assigned to at most one member, in whichever order they learn of it",
    source="ConsumerPartitionAssignor.assign; ConsumerCoordinator.onJoinComplete",
    premises=(
        "a generation has one assignment, which members complete (AssignmentCompleted): a partition changes hands in a "
        "later generation, or to a process that takes over the instance id",
        "generations are distinguished by the coordinator's incarnation; where no event names it, the run had but one",
        "a member that the coordinator's events show removed is not compared, nor, after a failover, are clients that "
        "cannot tell the incarnation",
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


def _withheld(event: AssignmentComputed, holdings: Holdings) -> Iterator[Finding]:
    """A partition that one member claims and does not keep goes to no other member, unless that claims it too."""
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


RevokedBeforeReassigned: Final = Invariant(
    name="revoked_before_reassigned",
    family="ownership",
    claim="a member's claim is given to another member only in a later round, after the member gave it up",
    source="KIP-429; CooperativeStickyAssignor.adjustAssignment; ConsumerCoordinator.validateCooperativeAssignment",
    premises=("a claim is passed over where the receiver claims the partition too (one of the claims is stale)",),
    evidence=Evidence.PRESENCE,
    fold=form({AssignmentComputed: _withheld}, views=(Holdings,)),
    breaks="""
        AssignmentComputed(member="m0", generation=2, owned_partitions=(("m0", ("t-0",)), ("m1", ())),
                           assignments=(("m0", ()), ("m1", ("t-0",))))
    """,
    holds="""
        AssignmentComputed(member="m0", generation=2, owned_partitions=(("m0", ("t-0",)), ("m1", ())),
                           assignments=(("m0", ("t-0",)), ("m1", ())))
    """,
    excuses="""
        AssignmentComputed(member="m0", generation=2, owned_partitions=(("m0", ("t-0",)), ("m1", ("t-0",))),
                           assignments=(("m0", ()), ("m1", ("t-0",))))
    """,
)

LAWS: Final = (NoDoubleOwnership, AssignedOncePerGeneration, RevokedBeforeReassigned)
"""In the order in which reports name them."""
