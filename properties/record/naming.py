"""What a member records of a generation has the member id with which it is in that generation."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ON_JOIN_COMPLETE,
    AssignmentCompleted,
    AssignmentComputed,
    CallbackEnded,
    CallbackStarted,
    CoordinatorFound,
    Event,
    GenerationEvent,
    LookUpAnswered,
    MemberJoined,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    SubscriptionChanged,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import DEPARTED, WAITING, Recent
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold

OF_A_MEMBERSHIP: Final = (
    AssignmentComputed, AssignmentCompleted, PartitionsAssigned, PartitionsRevoked, PartitionsLost, OffsetCommitted,
    CallbackStarted,
)  # fmt: skip
"""What members record of the generation that they are in."""

EAGER_ALONE: Final = frozenset({"range", "roundrobin", "sticky"})
BOTH: Final = frozenset({"cooperative-sticky"})
"""Kafka's assignors, by the rebalance protocols that they support (KIP-429)."""


class EventsNameTheirMembershipViolated(Violation):
    """An event of a generation has another member id than its member joined that generation with."""


class LearnedTopicsAreNewViolated(Violation):
    """A member changed its subscription for an assignment, and wants nothing that it did not want before."""


class RebalanceProtocolIsCommonViolated(Violation):
    """A consumer follows another rebalance protocol than the highest that all its assignors support."""


class _Names(SimulatedFold):
    """With which member ids each process joined each of its last generations, and what it was answered last."""

    bookkeeping = frozenset({LookUpAnswered, RequestAnswered})
    needs = ((MemberJoined,),)

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestAnswered: self.on_answered,
            LookUpAnswered: self.on_looked_up,
            CoordinatorFound: self.on_found,
            MemberJoined: self.on_joined,
            **dict.fromkeys(OF_A_MEMBERSHIP, self.on_event),
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._joined: Recent[tuple[str, int], dict[str, MemberJoined]] = Recent(DEPARTED)
        self._accepted: Recent[str, RequestAnswered] = Recent(DEPARTED)
        self._nodes: Recent[str, LookUpAnswered] = Recent(WAITING)

    def on_answered(self, event: RequestAnswered) -> None:
        """It joins what this says."""
        if event.api == Api.JOIN_GROUP and event.error == "NONE":
            self._accepted[event.member] = event

    def on_looked_up(self, event: LookUpAnswered) -> None:
        """It finds the node that this names."""
        self._nodes[event.member] = event

    def on_found(self, event: CoordinatorFound) -> None:
        """A look-up named the node."""
        answer = self._nodes.get(event.member)
        self.compared = (self.compared or 0) + self.run.is_recorded
        if self.run.is_recorded and (answer is None or answer.node != event.node):
            self.contradiction(
                f"{event.member} finds node {event.node}, and no answer to a look-up named it",
                *([(f"the last look-up of {event.member} is answered at {STEP};", answer)] if answer else []),
                (f"it finds node {event.node} at {STEP}: contradiction.", event),
            )

    def on_joined(self, event: MemberJoined) -> None:
        """It is in that generation with this id; numbers of generations may come again."""
        answer = self._accepted.get(event.member)
        joins = (event.generation, event.protocol)
        if self.run.is_recorded and answer is not None and (answer.generation, answer.protocol) != joins:
            self.contradiction(
                f"{event.member} joins generation {event.generation} of {event.protocol}, and was answered another",
                (f"its JoinGroup is answered generation {answer.generation} of {answer.protocol or 'no protocol'} at "
                 f"{STEP};", answer),
                (f"it joins generation {event.generation} of {event.protocol} at {STEP}: contradiction.", event),
            )  # fmt: skip
        joined = self._joined.get((event.member, event.generation), {})
        self._joined[event.member, event.generation] = {**joined, event.member_id: event}

    def on_event(self, event: GenerationEvent) -> None:
        """It speaks of itself by that id."""
        joined = self._joined.get((event.member, event.generation))
        if joined is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if event.member_id not in joined:
            last, recorded = list(joined.values())[-1], event.member_id or "no member id"
            self.contradiction(
                f"{event.member} is {last.member_id} in generation {event.generation}, and records {event.member_id}",
                (f"{event.member} joined generation {event.generation} as {last.member_id} at {STEP};", last),
                (f"what it records of that generation at {STEP} is of {recorded}: contradiction.", event),
            )  # fmt: skip


class _Learned(SimulatedFold):
    """What each process wants, and whether it applies an assignment."""

    needs = ((SubscriptionChanged,), (CallbackStarted,))
    bookkeeping = frozenset({CallbackStarted, CallbackEnded, MemberStarted})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_started,
            CallbackStarted: self.on_call,
            CallbackEnded: self.on_return,
            SubscriptionChanged: self.on_changed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._wants: Recent[str, MemberStarted | SubscriptionChanged] = Recent(DEPARTED)
        self._applies: dict[str, CallbackStarted] = {}

    def on_started(self, event: MemberStarted) -> None:
        """It wants this from the start."""
        self._wants[event.member] = event
        self._applies.pop(event.member, None)

    def on_call(self, event: CallbackStarted) -> None:
        """It may learn of topics in an assignment."""
        if event.callback == ON_JOIN_COMPLETE:
            self._applies[event.member] = event

    def on_return(self, event: CallbackEnded) -> None:
        """What follows is the will of its application, or what it learns of the cluster."""
        self._applies.pop(event.member, None)

    def on_changed(self, event: SubscriptionChanged) -> None:
        """It wants this from here on."""
        before, applies = self._wants.get(event.member), self._applies.get(event.member)
        self._wants[event.member] = event
        if before is None or applies is None or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        if set(event.topics) <= set(before.topics):
            self.contradiction(
                f"{event.member} learns of no topic, and changes its subscription",
                (f"{event.member} wants {', '.join(before.topics)} since {STEP};", before),
                (f"it applies an assignment at {STEP},", applies),
                (f"and records at {STEP} that it wants {', '.join(event.topics)}: contradiction.", event),
            )


class _Common(SimulatedFold):
    """Looks at how consumers are configured."""

    needs = ((MemberStarted,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberStarted: self.on_started})
        self.compared = 0

    def on_started(self, event: MemberStarted) -> None:
        """Its assignors decide."""
        offered = set(event.assignors)
        if not offered or not offered <= EAGER_ALONE | BOTH or not event.protocol or not self.run.is_recorded:
            return
        self.compared = (self.compared or 0) + 1
        common = "cooperative" if offered <= BOTH else "eager"
        if event.protocol != common:
            self.contradiction(
                f"{event.member} is {event.protocol}, and all its assignors support {common}",
                (f"the assignors of {event.member} are {', '.join(event.assignors)}: the highest protocol that all of "
                 f"them support is {common}, and at {STEP} it starts as {event.protocol}: contradiction.", event),
            )  # fmt: skip


EventsNameTheirMembership: Final = Invariant(
    name="events_name_their_membership",
    family=FAMILY,
    claim="what a member records of a generation has the member id with which it joined that generation, and what it "
    "joins, or finds, is what it was answered",
    source="AbstractCoordinator.Generation",
    premises=(RECORDED,),
    exempted_by=(LookUpAnswered, MemberJoined, RequestAnswered),
    violation=EventsNameTheirMembershipViolated,
    fold=_Names,
)
"""Claims find out by that id which coordinator has the member.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberJoined(member="m0", generation=1, member_id="a")
    OffsetCommitted(member="m0", generation=1, member_id="b", partition="t-0", offset=1, error="NONE")
"""

LearnedTopicsAreNew: Final = Invariant(
    name="learned_topics_are_new",
    family=FAMILY,
    claim="a member that changes its subscription for what it is assigned wants topics that it did not want before",
    source="ConsumerCoordinator.maybeUpdateJoinedSubscription (SubscriptionState.subscribeFromPattern)",
    premises=(RECORDED,),
    exempted_by=(CallbackEnded, MemberStarted, SubscriptionChanged),
    violation=LearnedTopicsAreNewViolated,
    fold=_Learned,
)
"""A change is a cause for a rebalance, and one that changes nothing excuses what needs no excuse.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", topics=("t",))
    CallbackStarted(member="m0", generation=1, callback="onJoinComplete")
    SubscriptionChanged(member="m0", topics=("t",))
"""

RebalanceProtocolIsCommon: Final = Invariant(
    name="rebalance_protocol_is_common",
    family=FAMILY,
    claim="a consumer follows the highest rebalance protocol that all its assignors support",
    source="KIP-429; ConsumerCoordinator (maxProtocol of supportedProtocols)",
    premises=(RECORDED, "assignors other than Kafka's may support anything"),
    violation=RebalanceProtocolIsCommonViolated,
    fold=_Common,
)
"""A consumer that takes its protocol for a lower one gives everything up in each rebalance.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0", protocol="eager", assignors=("cooperative-sticky",))
"""

CLAIMS: Final = (EventsNameTheirMembership, LearnedTopicsAreNew, RebalanceProtocolIsCommon)
"""In the order in which reports name them."""
