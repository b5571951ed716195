"""No double ownership: within one generation, a partition, connector or task has at most one owner."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    GenerationStarted,
    IncarnationStarted,
    MemberRemoved,
    MemberStarted,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Fold, Invariant, Memories
from rebalance_check.properties.verdict import STEP, Because, Violation
from rebalance_check.properties.views.holdings import EXEMPTS_A_HOLDER, GrantFold, Holder, Instances, Round, Rounds
from rebalance_check.properties.views.recent import GENERATIONS, Recent


class AssignedOncePerGenerationViolated(Violation):
    """Two members were assigned the same partition in the same generation."""


class NoDoubleOwnershipViolated(Violation):
    """Two current members hold the same partition, connector or task."""


class _Ownership(GrantFold):
    """Looks at each thing when a member comes to hold it, or joins a generation while holding it.

    A member is *current* in the generation of its last MemberJoined, PartitionsAssigned or AssignmentCompleted, until
    it learns that it belongs to none (MembershipLost), ends, or is seen removed by the coordinator.
    """

    def look(self, holder: Holder, things: tuple[str, ...], event: Event) -> None:
        """Compare what ``holder`` holds with what the other current members hold: the first that holds it, too."""
        if holder.round is None:
            return
        for thing in things:
            holders = self.holdings.in_round.get((holder.round, thing), {})
            if len(holders) > 1:
                others = (other for other in holders.values() if other is not holder)
                clash = next((other for other in others if self._clash(holder, other, thing)), None)
                if clash is not None:
                    self._report(holder, clash, thing, event)

    def _clash(self, one: Holder, other: Holder, thing: str) -> bool:
        return (
            one.round is not None
            and one.round == other.round
            and not (thing in one.unconfirmed or thing in other.unconfirmed)
            and (
                self.rounds.have_coordinator_events
                or not self.holdings.instances.share_an_instance_id(one.name, other.name)
            )
            and not any(self.rounds.is_removed(one.round[0], holder.member_id) for holder in (one, other))
        )

    def _report(self, holder: Holder, other: Holder, thing: str, event: Event) -> None:
        generation = holder.round[1] if holder.round else NO_GENERATION
        first, second = sorted((holder.name, other.name))
        reasons = [
            Because(f"{other.name} holds {thing} since {STEP}; no revoked, lost or stopped event for it follows.",
                    other.holds[thing]),
            Because(f"{other.name} speaks for generation {generation} since {STEP}.", other.joined),
            self._contradiction(holder, thing, generation, event),
        ]  # fmt: skip
        concerned = [other.holds[thing], *([other.joined] if other.joined else []), holder.holds[thing], event]
        self.violated(
            f"{thing} is owned by {first} and {second} in generation {generation}",
            reasons,
            list(dict.fromkeys(concerned)),
        )

    def _contradiction(self, holder: Holder, thing: str, generation: int, event: Event) -> Because:
        if holder.holds[thing] is event:
            return Because(f"{holder.name} got {thing} in generation {generation} at {STEP}: contradiction.", event)
        return Because(
            f"{holder.name} joined generation {generation} at {STEP} and still holds {thing}: contradiction.", event
        )


NoDoubleOwnership: Final = Invariant(
    name="no_double_ownership",
    family="ownership",
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
    violation=NoDoubleOwnershipViolated,
    fold=_Ownership,
)
"""Within one generation a partition, connector or task has at most one owner.

Source: KIP-429 (cooperative rebalancing), ``ConsumerCoordinator`` and Connect's ``DistributedHerder``. Works on the
events of clients alone; the coordinator's events sharpen it. The windows in which two processes may legally hold one
partition all end in different generations or concern a member that is not current:

- removed on session expiry, sync timeout or rebalance timeout, until its next heartbeat or commit is answered;
- a silent static member kept in a new generation, still running on its old assignment;
- a coordinator that answers heartbeats while it loads, or that has been replaced and does not know it;
- a record committed but never propagated, then loaded after a failover: a new incarnation.

The smallest history that breaks it::

    PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
    PartitionsAssigned(member="m1", generation=1, partitions=("t-0",))
"""


class _Assigned(Fold):
    """Per generation: which member completed it with each partition, and at which event."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {AssignmentCompleted: self.on_completed})
        self._first: Recent[Round, dict[str, AssignmentCompleted]] = Recent(GENERATIONS)

    def share(self, memories: Memories) -> None:
        """Who was removed, and which processes share an instance id, all folds of a group know together."""
        self.memories = self._rounds, self._instances = Rounds.among(memories), Instances.among(memories)

    def on_completed(self, event: AssignmentCompleted) -> None:
        """These partitions are what it has in the generation."""
        place = self._rounds.round_of(event)
        if event.generation == NO_GENERATION or self._rounds.is_removed(place[0], event.member_id):
            return
        first = self._first.get(place)
        if first is None:
            first = self._first[place] = {}
        for partition in event.owned:
            before = first.get(partition)
            if before is None or before.member == event.member or self._is_replaced(place, before, event):
                first[partition] = event
            else:
                self._report(partition, before, event)

    def _is_replaced(self, place: Round, before: AssignmentCompleted, event: AssignmentCompleted) -> bool:
        return self._rounds.is_removed(place[0], before.member_id) or self._instances.share_an_instance_id(
            before.member, event.member
        )

    def _report(self, partition: str, before: AssignmentCompleted, event: AssignmentCompleted) -> None:
        self.contradiction(
            f"{partition} is assigned to {before.member} and {event.member} in generation {event.generation}",
            (f"{before.member} completed generation {event.generation} with {partition} at {STEP}.", before),
            (f"{event.member} completed the same generation with it at {STEP}: contradiction.", event),
        )


AssignedOncePerGeneration: Final = Invariant(
    name="assigned_once_per_generation",
    family="agreement",
    claim="within one generation a partition is assigned to at most one member, in whatever order they learn of it",
    source="ConsumerPartitionAssignor.assign; ConsumerCoordinator.onJoinComplete",
    premises=(
        "a generation has one assignment, which members complete (AssignmentCompleted): a partition changes hands in a "
        "later generation, or to a process that takes over the instance id",
        "generations are distinguished by the coordinator's incarnation; where no event names it, the run had but one",
        "a member that the coordinator's events show removed is not compared",
    ),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(GenerationStarted, IncarnationStarted, MemberRemoved, MemberStarted),
    violation=AssignedOncePerGenerationViolated,
    fold=_Assigned,
)
"""Within one generation a partition is assigned to at most one member, in whatever order the members learn of it.

Histories of several processes are in no certain order: whether one member had given a partition up when the other got
it, only clocks tell. That both were assigned it in one generation, no order excuses.

Source: a generation has one assignment, which its leader computes.

The smallest history that breaks it::

    AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
    PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
    AssignmentCompleted(member="m1", generation=1, owned=("t-0",))
"""

CLAIMS: Final = (NoDoubleOwnership, AssignedOncePerGeneration)
"""In the order in which reports name them."""
