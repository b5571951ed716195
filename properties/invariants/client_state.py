"""What a client may do on its own side of the protocol: what it keeps and gives up, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    MemberCrashed,
    MemberEvent,
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
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.kinds import Fold, Handler, Invariant, Memories, Memory
from rebalance_check.properties.verdict import STEP, Violation

COOPERATIVE: Final = "cooperative"
OF_TASKS: Final = frozenset({"default", "compatible", "sessioned", "v0"})
"""The protocols of Connect, and of Schema Registry's election: what they assign are tasks, which
the history shows when they run."""

KEPT_ROUNDS: Final = 64
"""How many computed assignments are remembered: a member that completes an older one is not compared."""


class CooperativeKeepsWhatItOwnsViolated(Violation):
    """A COOPERATIVE member gave partitions up before it joined, although it still wanted them."""


class OwnedEqualsAssignedViolated(Violation):
    """A member owns something else than the leader assigned it."""


class ResetMemberLosesEverythingViolated(Violation):
    """A member that knew that it belongs to no generation joined again with partitions, or revoked them as an owner."""


@dataclass(slots=True)
class _Revocations:
    """What a COOPERATIVE member gave up: ``early`` before it joined, ``late`` when it completed."""

    is_settled: bool = False
    topics: frozenset[str] | None = None
    lost: bool = False
    early: PartitionsRevoked | None = None


class _CooperativeMembers(Memory):
    """Per COOPERATIVE member: whether it is between two rounds, and what it gave up there.

    ``early`` is what the member whose join is at hand had given up before it.
    """

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_started,
            MemberCrashed: self.on_gone,
            MemberLeft: self.on_gone,
            MembershipLost: self.on_lost,
            SubscriptionChanged: self.on_subscription,
            RequestSent: self.on_sent,
            MemberJoined: self.on_joined,
            PartitionsRevoked: self.on_revoked,
            AssignmentCompleted: self.on_completed,
        }
        super().__init__(handlers)
        self.members: dict[str, _Revocations] = {}
        self.early: PartitionsRevoked | None = None

    def on_started(self, event: MemberStarted) -> None:
        """Only members that say that they are COOPERATIVE are watched."""
        self.members.pop(event.member, None)
        if event.protocol.lower() == COOPERATIVE:
            self.members[event.member] = _Revocations()

    def on_gone(self, event: MemberEvent) -> None:
        """A member that leaves gives everything up."""
        self.members.pop(event.member, None)

    def on_lost(self, event: MembershipLost) -> None:
        """A member that belongs to no generation loses everything; one that leaves without a word gave it up before."""
        given_up = self.members.get(event.member)
        if given_up is not None:
            given_up.lost, given_up.early = True, None

    def on_subscription(self, event: SubscriptionChanged) -> None:
        """What it wants from now on."""
        given_up = self.members.get(event.member)
        if given_up is not None:
            given_up.topics = frozenset(event.topics)

    def on_sent(self, event: RequestSent) -> None:
        """A LeaveGroup explains that it gave up everything."""
        given_up = self.members.get(event.member)
        if given_up is not None and event.api == Api.LEAVE_GROUP:
            given_up.early = None

    def on_joined(self, event: MemberJoined) -> None:
        """The round begins; what was given up before it is over and done with."""
        given_up = self.members.get(event.member)
        self.early = given_up.early if given_up is not None else None
        if given_up is not None:
            given_up.is_settled, given_up.lost, given_up.early = False, False, None

    def on_revoked(self, event: PartitionsRevoked) -> None:
        """Between two rounds, only what it does not want any more."""
        given_up = self.members.get(event.member)
        if given_up is None or not given_up.is_settled or given_up.lost:
            return
        if any(self._is_wanted(given_up, partition) for partition in event.partitions):
            given_up.early = event

    @staticmethod
    def _is_wanted(given_up: _Revocations, partition: str) -> bool:
        return given_up.topics is None or topic_of(partition) in given_up.topics

    def on_completed(self, event: AssignmentCompleted) -> None:
        """The round is complete."""
        given_up = self.members.get(event.member)
        if given_up is not None:
            given_up.is_settled = True


class _CooperativeFold(Fold):
    """A fold that looks at the COOPERATIVE members."""

    memory: _CooperativeMembers

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same members."""
        self.memory = _CooperativeMembers.among(memories)
        self.memories = (self.memory,)


class _Keeps(_CooperativeFold):
    needs = (
        (MemberStarted,),
        (AssignmentCompleted,),
        (PartitionsRevoked,),
    )

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberJoined: self.on_joined})

    def on_joined(self, event: MemberJoined) -> None:
        """It joined without what it gave up: no assignment had asked for that."""
        early = self.memory.early
        if early is not None:
            self.contradiction(
                f"{event.member} gave up {', '.join(early.partitions)} before it joined generation {event.generation}",
                (f"{event.member} is COOPERATIVE, and revoked {', '.join(early.partitions)} at {STEP}, while it was a "
                 f"member and wanted them.", early),
                (f"it joined generation {event.generation} without them at {STEP}: contradiction.", event),
            )  # fmt: skip


class _Owned(Fold):
    """The assignments that leaders computed for a member id in a generation; a leader may compute one twice."""

    bookkeeping = frozenset({AssignmentComputed})

    needs = ((AssignmentComputed,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {AssignmentComputed: self.on_computed, AssignmentCompleted: self.on_completed})
        self._computed: dict[tuple[int, str], list[tuple[frozenset[str], AssignmentComputed]]] = {}

    def on_computed(self, event: AssignmentComputed) -> None:
        """What everybody is to own."""
        if event.protocol in OF_TASKS:
            return
        for member, things in event.assignments:
            self._computed.setdefault((event.generation, member), []).append((frozenset(things), event))
        while len(self._computed) > KEPT_ROUNDS:
            del self._computed[next(iter(self._computed))]

    def on_completed(self, event: AssignmentCompleted) -> None:
        """It owns that, or what another computation of this round says."""
        computed = self._computed.get((event.generation, event.member_id), ())
        owned = frozenset(event.owned)
        if computed and not any(owned == things for things, _ in computed):
            things, last = computed[-1]
            self.contradiction(
                f"{event.member} owns {_listed(owned)} in generation {event.generation}, assigned is {_listed(things)}",
                (f"{last.member} assigned {_listed(things)} to {event.member} at {STEP}.", last),
                (f"{event.member} completed that generation with {_listed(owned)} at {STEP}: contradiction.", event),
            )


def _listed(things: frozenset[str]) -> str:
    return ", ".join(sorted(things)) or "nothing"


class _Reset(Fold):
    """Per member: what it owns, and the loss of its membership that it has not answered with a join yet."""

    bookkeeping = frozenset({MemberCrashed, MemberLeft, MemberStarted, MembershipLost, PartitionsLost})

    needs = ((MembershipLost,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                MemberStarted: self.on_gone,
                MemberCrashed: self.on_gone,
                MemberLeft: self.on_gone,
                MembershipLost: self.on_lost_membership,
                MemberJoined: self.on_joined,
                PartitionsAssigned: self.on_assigned,
                AssignmentCompleted: self.on_completed,
                PartitionsRevoked: self.on_revoked,
                PartitionsLost: self.on_lost,
                RequestSent: self.on_sent,
            },
        )
        self._owned: dict[str, set[str]] = {}
        self._reset: dict[str, MembershipLost] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """A new process owns nothing."""
        self._owned.pop(event.member, None)
        self._reset.pop(event.member, None)

    def on_lost_membership(self, event: MembershipLost) -> None:
        """From here on it owns nothing by right."""
        self._reset[event.member] = event

    def on_joined(self, event: MemberJoined) -> None:
        """It belongs to a generation again, and claimed nothing that it had lost."""
        reset = self._reset.pop(event.member, None)
        if reset is not None and event.owned_partitions:
            self._report(
                f"{event.member} claims {', '.join(event.owned_partitions)} from before it was thrown out", reset, event
            )

    def on_assigned(self, event: PartitionsAssigned) -> None:
        """It owns them; in another generation it belongs to that one, also where a client does not show its joins."""
        reset = self._reset.get(event.member)
        if reset is not None and event.generation > reset.generation:
            del self._reset[event.member]
            self._kept(reset, event)
        self._owned.setdefault(event.member, set()).update(event.partitions)

    def on_completed(self, event: AssignmentCompleted) -> None:
        """It owns exactly these, in a generation."""
        reset = self._reset.pop(event.member, None)
        if reset is not None:
            self._kept(reset, event)
        self._owned[event.member] = set(event.owned)

    def on_revoked(self, event: PartitionsRevoked) -> None:
        """Revoked is what a member gives up as its owner, and this one is none."""
        reset = self._reset.get(event.member)
        if reset is not None and self._owned.get(event.member, set()).intersection(event.partitions):
            self._report(f"{event.member} revokes {', '.join(event.partitions)}, which it has lost", reset, event)
        self._owned.get(event.member, set()).difference_update(event.partitions)

    def on_lost(self, event: PartitionsLost) -> None:
        """The application was notified of exactly this."""
        self._owned.get(event.member, set()).difference_update(event.partitions)

    def on_sent(self, event: RequestSent) -> None:
        """Everything is given up before the member joins again."""
        reset = self._reset.get(event.member)
        owned = self._owned.get(event.member)
        if reset is not None and owned and event.api == Api.JOIN_GROUP:
            self._report(f"{event.member} joins again and still owns {', '.join(sorted(owned))}", reset, event)

    def _kept(self, reset: MembershipLost, event: PartitionsAssigned | AssignmentCompleted) -> None:
        """In its new generation a member has nothing left of what it owned before the loss."""
        if kept := self._owned.get(event.member):
            self._report(
                f"{event.member} is in generation {event.generation} and never lost {', '.join(sorted(kept))}",
                reset,
                event,
            )

    def _report(self, headline: str, reset: MembershipLost, event: Event) -> None:
        self.contradiction(
            headline,
            (f"{reset.member} learned at {STEP} that it belongs to no generation ({reset.reason}).", reset),
            (f"at {STEP} {headline}: contradiction.", event),
        )


_COOPERATIVE: Final = "the member's MemberStarted says that it is cooperative"

CooperativeKeepsWhatItOwns: Final = Invariant(
    name="cooperative_keeps_what_it_owns",
    family="clients",
    claim="before it joins, a COOPERATIVE member that belongs to its generation gives up only what it does not want",
    source="KIP-429; ConsumerCoordinator.onJoinPrepare",
    premises=(
        _COOPERATIVE,
        "a changed subscription is recorded (SubscriptionChanged); a member that leaves, or knows that it was thrown "
        "out, gives everything up",
    ),
    exempted_by=(
        MemberCrashed,
        MemberLeft,
        MembershipLost,
        SubscriptionChanged,
    ),
    violation=CooperativeKeepsWhatItOwnsViolated,
    fold=_Keeps,
)
"""Before it joins, a COOPERATIVE member that belongs to its generation gives up only what it does not want any more.

The smallest history that breaks it::

    MemberStarted(member="m0", protocol="cooperative")
    AssignmentCompleted(member="m0", generation=1, owned=("t-0",))
    PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
    MemberJoined(member="m0", generation=2)
"""

OwnedEqualsAssigned: Final = Invariant(
    name="owned_equals_assigned",
    family="clients",
    claim="a member that completes a generation owns exactly what the leader assigned it",
    source="ConsumerCoordinator.onJoinComplete",
    premises=(
        "the history holds the leader's AssignmentComputed; the successor of a static member is not compared",
        "a leader that computes twice for one generation may find either result in effect",
        "an assignment that does not match the subscription changes nothing: such a round is not completed",
        "a consumer group: what Connect workers and candidates of an election run is not compared",
    ),
    exempted_by=(AssignmentComputed,),
    violation=OwnedEqualsAssignedViolated,
    fold=_Owned,
)
"""A member that completes a generation owns exactly what the leader assigned it.

The smallest history that breaks it::

    AssignmentComputed(member="m0", generation=1, assignments=(("a", ("t-0",)),))
    AssignmentCompleted(member="m0", member_id="a", generation=1, owned=("t-0", "t-1"))
"""


ResetMemberLosesEverything: Final = Invariant(
    name="reset_member_loses_everything",
    family="clients",
    claim="a member that learned that it belongs to no generation joins again empty-handed, having lost what it owned",
    source="ConsumerCoordinator.onJoinPrepare, onLeavePrepare; AbstractCoordinator.resetStateAndGeneration",
    premises=(
        "the history tells MembershipLost; a zombie owns on until its application polls, without any limit in time",
        "FENCED_INSTANCE_ID is raised by the first poll, and the next one gives up",
    ),
    exempted_by=(
        MemberCrashed,
        MemberJoined,
        MemberLeft,
        MemberStarted,
        PartitionsLost,
        PartitionsRevoked,
    ),
    violation=ResetMemberLosesEverythingViolated,
    fold=_Reset,
)
"""A member that learned that it belongs to no generation joins again empty-handed: what it owned is lost, not revoked.

The smallest history that breaks it::

    PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
    MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID")
    RequestSent(member="m0", api="JoinGroup", request=1)
"""

CLAIMS: Final = (CooperativeKeepsWhatItOwns, OwnedEqualsAssigned, ResetMemberLosesEverything)
"""In the order in which reports name them."""
