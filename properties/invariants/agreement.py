"""Agreement: one leader and one protocol per generation, and an assignment that is a function and complete."""

from __future__ import annotations

from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    AssignmentComputed,
    Event,
    GenerationStarted,
    IncarnationStarted,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    RunEnded,
    TaskStarted,
)
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Fold, Handler, Invariant, Memories
from rebalance_check.properties.verdict import STEP, Because, Violation
from rebalance_check.properties.views.holdings import Holdings, Instances, Round, Rounds
from rebalance_check.properties.views.recent import GENERATIONS, Recent

OWNERLESS: Final = " has no owner"
"""How a run says what this claim is about; anything else that is pending explains why something has no owner."""


class OneLeaderViolated(Violation):
    """Two members learned that they lead one generation."""


class OneProtocolViolated(Violation):
    """Two members learned different protocols for one generation."""


class AssignmentIsDisjointViolated(Violation):
    """A computed assignment gives one partition to two members."""


class AssignmentIsCompleteViolated(Violation):
    """At the end a partition has no owner although members are there to own it."""


LeaderEvent: TypeAlias = MemberJoined | AssignmentComputed
"""What shows who leads a generation, and by which protocol: clients that do not tell when they join may tell that they
compute its assignment."""


class _Agreement(Fold):
    """Per generation: the first member that learned them, to compare the others with."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberJoined: self.on_joined, AssignmentComputed: self.on_joined})
        self._first: Recent[Round, LeaderEvent] = Recent(GENERATIONS)

    def share(self, memories: Memories) -> None:
        """Who was removed, and which processes share an instance id, all folds of a group know together."""
        self.memories = self._rounds, self._instances = Rounds.among(memories), Instances.among(memories)

    def on_joined(self, event: LeaderEvent) -> None:
        """A member learned who leads, and by which protocol."""
        if not self.tells(event):
            return
        place = self._rounds.round_of(event)
        first = self._first.get(place)
        if self._rounds.is_removed(place[0], event.member_id):
            return  # an answer that was on its way when another process took the slot
        if first is None or self._rounds.is_removed(place[0], first.member_id):
            self._first[place] = event
        elif self.differs(first, event):
            self.violated(
                self.headline(first, event),
                [
                    Because(f"{first.member} {self.learned(first)} in generation {first.generation} at {STEP}.", first),
                    Because(f"{event.member} {self.learned(event)} in the same generation at {STEP}: contradiction.",
                            event),
                ],
                [first, event],
            )  # fmt: skip

    def tells(self, event: LeaderEvent) -> bool:
        """Whether this says anything about the claim: the member that computes the assignment learned that it leads."""
        return isinstance(event, AssignmentComputed) or event.leader

    def differs(self, first: LeaderEvent, event: LeaderEvent) -> bool:
        """Whether the two cannot both be right."""
        if first.member == event.member:
            return False
        return self._rounds.have_coordinator_events or not self._instances.share_an_instance_id(
            first.member, event.member
        )

    def learned(self, event: LeaderEvent) -> str:
        """What the member learned, in words."""
        return "computed the assignment" if isinstance(event, AssignmentComputed) else "learned that it leads"

    def headline(self, first: LeaderEvent, event: LeaderEvent) -> str:
        """The contradiction in one line."""
        return f"{first.member} and {event.member} both lead generation {event.generation}"


class _Protocol(_Agreement):
    def tells(self, event: LeaderEvent) -> bool:
        return bool(event.protocol)

    def differs(self, first: LeaderEvent, event: LeaderEvent) -> bool:
        return first.protocol != event.protocol

    def learned(self, event: LeaderEvent) -> str:
        return f"learned the protocol {event.protocol}"

    def headline(self, first: LeaderEvent, event: LeaderEvent) -> str:
        return (
            f"generation {event.generation} runs {first.protocol} at {first.member} and {event.protocol} at "
            f"{event.member}"
        )


class _Disjoint(Fold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {AssignmentComputed: self.on_computed})

    def on_computed(self, event: AssignmentComputed) -> None:
        """Each partition goes to at most one member."""
        receivers: dict[str, str] = {}
        for member, things in event.assignments:
            for thing in things:
                other = receivers.setdefault(thing, member)
                if other != member:
                    headline = f"{thing} goes to {other} and {member} in generation {event.generation}"
                    reason = Because(f"the leader {event.member} gave {thing} to both at {STEP}: contradiction.", event)
                    self.violated(headline, [reason], [event])


class _Complete(Fold):
    """The last computed assignment, and who holds what when the run ends with nothing pending."""

    bookkeeping = frozenset({AssignmentComputed, GenerationStarted})

    needs = ((AssignmentComputed,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            AssignmentComputed: self.on_computed,
            GenerationStarted: self.on_generation,
            RunEnded: self.on_ended,
        }
        super().__init__(invariant, handlers)
        self._computed: AssignmentComputed | None = None
        self._started: GenerationStarted | None = None

    def share(self, memories: Memories) -> None:
        """Who holds what all folds of a group know together."""
        self._holdings = Holdings.among(memories)
        self._rounds = self._holdings.rounds
        self.memories = (self._rounds, self._holdings.instances, self._holdings)

    def on_computed(self, event: AssignmentComputed) -> None:
        """The newest generation's assignment counts."""
        if self._computed is None or self._rounds.round_of(event) >= self._rounds.round_of(self._computed):
            self._computed = event

    def on_generation(self, event: GenerationStarted) -> None:
        """A newer generation starts."""
        self._started = event

    def on_ended(self, event: RunEnded) -> None:
        """Whatever the last round assigned or withheld is owned, if the group is at rest and anybody is in it."""
        computed = self._computed
        if computed is None or event.pending is None or any(not why.endswith(OWNERLESS) for why in event.pending):
            return
        place = self._rounds.round_of(computed)
        if self._started is not None and (self._started.incarnation, self._started.generation) > place > (0, 0):
            return
        present = {holder.member_id for holder in self._holdings.members.values() if holder.round == place}
        if not present or any(" " in thing for holder in self._holdings.members.values() for thing in holder.holds):
            return
        self._compare(computed, event)

    def _compare(self, computed: AssignmentComputed, ended: RunEnded) -> None:
        assigned = {thing for _, things in computed.assignments for thing in things}
        claimed = {thing for _, things in computed.owned_partitions for thing in things}
        for thing in sorted(assigned | claimed):
            if not self._holdings.holders.get(thing):
                verb = "assigned" if thing in assigned else "withheld"
                self._report(thing, verb, computed, ended)

    def _report(self, thing: str, verb: str, computed: AssignmentComputed, ended: Event) -> None:
        self.violated(
            f"{thing} has no owner at the end of the run",
            [
                Because(f"{thing} was {verb} in generation {computed.generation} at {STEP}, the last one.", computed),
                Because(
                    f"the run ended with nothing else pending at {STEP}, and nobody owns it: contradiction.", ended
                ),
            ],
            [computed, ended],
        )


OneLeader: Final = Invariant(
    name="one_leader",
    family="agreement",
    claim="at most one member learns that it leads a generation",
    source="GroupMetadataManager.completeClassicGroupJoin; ClassicGroup.maybeElectNewJoinedLeader",
    premises=(
        "a leader whose member id the coordinator removed or replaced does not count (static membership)",
        "of two processes with one instance id the one that joined last leads, if the coordinator does not tell",
    ),
    relies_on=frozenset({Feature.GENERATIONS, Feature.LEADER}),
    exempted_by=(
        GenerationStarted,
        IncarnationStarted,
        MemberStarted,
    ),
    violation=OneLeaderViolated,
    fold=_Agreement,
)
"""At most one member learns that it leads a generation.

Source: ``GroupMetadataManager.completeClassicGroupJoin``.

The smallest history that breaks it::

    MemberJoined(member="m0", generation=1, leader=True)
    MemberJoined(member="m1", generation=1, leader=True)
"""

OneProtocol: Final = Invariant(
    name="one_protocol",
    family="agreement",
    claim="all members of a generation learn the same protocol",
    source="ClassicGroup.selectProtocol; KIP-559",
    premises=("members that learn no protocol say nothing",),
    relies_on=frozenset({Feature.GENERATIONS}),
    exempted_by=(
        GenerationStarted,
        IncarnationStarted,
    ),
    violation=OneProtocolViolated,
    fold=_Protocol,
)
"""All members of a generation learn the same protocol.

Source: ``ClassicGroup.selectProtocol``.

The smallest history that breaks it::

    MemberJoined(member="m0", generation=1, protocol="range")
    MemberJoined(member="m1", generation=1, protocol="roundrobin")
"""

AssignmentIsDisjoint: Final = Invariant(
    name="assignment_is_disjoint",
    family="agreement",
    claim="a computed assignment gives each partition, connector or task to at most one member",
    source="ConsumerPartitionAssignor.assign; ConnectAssignor.performAssignment",
    premises=("the leader lists each member once",),
    violation=AssignmentIsDisjointViolated,
    fold=_Disjoint,
)
"""A computed assignment gives each partition, connector or task to at most one member.

Source: ``ConsumerPartitionAssignor`` (the broker never looks into assignments).

The smallest history that breaks it::

    AssignmentComputed(member="m0", generation=1, assignments=(("a", ("t-0",)), ("b", ("t-0",))))
"""

AssignmentIsComplete: Final = Invariant(
    name="assignment_is_complete",
    family="agreement",
    claim="when the group is at rest, every partition that was assigned or withheld last has an owner",
    source="KIP-429 (the follow-up rebalance); AbstractStickyAssignor",
    premises=(
        "the run ended in an orderly way with nothing else pending, and a member of the last generation is alive",
        "no topic was deleted or unsubscribed in the last round",
        "a consumer group: what Connect workers run is not compared",
    ),
    exempted_by=(
        MemberCrashed,
        MemberLeft,
        MembershipLost,
        TaskStarted,
    ),
    violation=AssignmentIsCompleteViolated,
    fold=_Complete,
    needs_end=True,
)
"""When the group is at rest, every partition that was assigned or withheld in the last generation has an owner.

Source: KIP-429: a withheld partition is handed out by the follow-up rebalance.

The smallest history that breaks it::

    AssignmentComputed(member="m0", generation=1, assignments=(("m0", ("t-0",)),))
    AssignmentCompleted(member="m0", generation=1, owned=())
    RunEnded(pending=())
"""

CLAIMS: Final = (OneLeader, OneProtocol, AssignmentIsDisjoint, AssignmentIsComplete)
"""In the order in which reports name them."""
