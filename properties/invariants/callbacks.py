"""The callback contract: assigned, then revoked or lost, and an EAGER member joins with empty hands."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    GenerationEvent,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
)
from rebalance_check.properties.kinds import Fold, Invariant
from rebalance_check.properties.verdict import STEP, Because, Violation
from rebalance_check.properties.views.recent import DEPARTED, Recent


class CallbacksAlternateViolated(Violation):
    """A partition was assigned twice without being given up, or given up without being assigned."""


class EagerOwnsNothingWhileJoiningViolated(Violation):
    """An EAGER member joined a generation while it still owned partitions."""


class _Callbacks(Fold):
    """Per member: each partition that is assigned, and the event since when."""

    bookkeeping = frozenset({MemberCrashed, MemberLeft, MemberStarted})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                MemberStarted: self.on_gone,
                MemberCrashed: self.on_ended,
                MemberLeft: self.on_ended,
                PartitionsAssigned: self.on_assigned,
                PartitionsRevoked: self.on_given_up,
                PartitionsLost: self.on_given_up,
                AssignmentCompleted: self.on_completed,
            },
        )
        self._owned: dict[str, dict[str, Event]] = {}
        self._ended: Recent[str, None] = Recent(DEPARTED)
        self._before: dict[str, dict[str, Event]] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """A new process has been assigned nothing."""
        self._owned[event.member] = {}

    def on_ended(self, event: MemberEvent) -> None:
        """A process that ended owns nothing."""
        self._owned.pop(event.member, None)
        self._before.pop(event.member, None)
        self._ended[event.member] = None

    def on_assigned(self, event: PartitionsAssigned) -> None:
        """Only what is not assigned can be assigned."""
        owned = self._owned.setdefault(event.member, {})
        for partition in event.partitions:
            if partition in owned:
                self._report(f"{partition} was assigned to {event.member} twice in a row", owned[partition], event)
            owned[partition] = event

    def on_given_up(self, event: PartitionsRevoked | PartitionsLost) -> None:
        """Only what is assigned can be revoked or lost."""
        owned = self._owned.setdefault(event.member, {})
        for partition in event.partitions:
            if owned.pop(partition, None) is None:
                verb = "revoked from" if isinstance(event, PartitionsRevoked) else "lost by"
                before = self._before.get(event.member, {}).get(partition)
                self._report(f"{partition} was {verb} {event.member}, to which it was not assigned", before, event)
            self._before.setdefault(event.member, {})[partition] = event

    def on_completed(self, event: AssignmentCompleted) -> None:
        """What the callbacks add up to is what the member owns."""
        owned = self._owned.get(event.member, {} if event.member in self._ended else None)
        if owned is None or owned.keys() == set(event.owned):
            return
        for partition in sorted(owned.keys() ^ set(event.owned)):
            known = "still assigned by its callbacks" if partition in owned else "not assigned by any callback"
            owns = "owns" if partition in event.owned else "does not own"
            self._report(f"{event.member} {owns} {partition}, {known}", owned.get(partition), event)
        self._owned[event.member] = dict.fromkeys(event.owned, event)

    def _report(self, headline: str, before: Event | None, event: GenerationEvent) -> None:
        first = Because(f"the callback before it was at {STEP}.", before)
        last = Because(f"at {STEP} {headline}: contradiction.", event)
        if before is None:
            self.violated(headline, [Because("no callback before it names the partition."), last], [event])
        else:
            self.violated(headline, [first, last], [before, event])


class _EagerBarrier(Fold):
    """Per EAGER member: what it owns when it joins."""

    bookkeeping = frozenset({AssignmentCompleted, MemberStarted, PartitionsAssigned, PartitionsLost, PartitionsRevoked})

    needs = (
        (MemberStarted,),
        (PartitionsAssigned, AssignmentCompleted),
    )

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                MemberStarted: self.on_started,
                MemberJoined: self.on_joined,
                PartitionsAssigned: self.on_assigned,
                PartitionsRevoked: self.on_given_up,
                PartitionsLost: self.on_given_up,
                AssignmentCompleted: self.on_completed,
            },
        )
        self._owned: dict[str, dict[str, Event]] = {}

    def on_started(self, event: MemberStarted) -> None:
        """Only a member that says it is EAGER is watched, from its start."""
        self._owned.pop(event.member, None)
        if event.protocol.lower() == "eager":
            self._owned[event.member] = {}

    def on_assigned(self, event: PartitionsAssigned) -> None:
        """It owns them."""
        if event.member in self._owned:
            self._owned[event.member].update(dict.fromkeys(event.partitions, event))

    def on_given_up(self, event: PartitionsRevoked | PartitionsLost) -> None:
        """It owns them no more."""
        for partition in event.partitions:
            self._owned.get(event.member, {}).pop(partition, None)

    def on_completed(self, event: AssignmentCompleted) -> None:
        """It owns exactly these; whatever it owned is silently replaced."""
        if event.member in self._owned:
            self._owned[event.member] = dict.fromkeys(event.owned, event)

    def on_joined(self, event: MemberJoined) -> None:
        """The barrier: all is given up before JoinGroup is sent, so nothing is owned when it is answered."""
        for partition, since in sorted(self._owned.get(event.member, {}).items()):
            self.violated(
                f"{event.member} joined generation {event.generation} while it owned {partition}",
                [
                    Because(f"{event.member} is EAGER and owns {partition} since {STEP}.", since),
                    Because(f"it joined generation {event.generation} at {STEP}: contradiction.", event),
                ],
                [since, event],
            )


CallbacksAlternate: Final = Invariant(
    name="callbacks_alternate",
    family="callbacks",
    claim="each partition of a member is assigned, then revoked or lost, in turn, and what is left is what it owns",
    source="ConsumerRebalanceListener; ConsumerCoordinator.onJoinPrepare, onJoinComplete",
    premises=(
        "the history holds the member's callbacks from the start of the process on",
        "no callback threw: after an exception Kafka runs onJoinComplete again, with what is left",
        "AssignmentCompleted is held against the callbacks only for members that have had one",
    ),
    exempted_by=(
        MemberCrashed,
        MemberLeft,
        MemberStarted,
        PartitionsAssigned,
        PartitionsLost,
        PartitionsRevoked,
    ),
    violation=CallbacksAlternateViolated,
    fold=_Callbacks,
)
"""Each partition of a member is assigned, then revoked or lost, in turn; what is assigned is what the member owns.

Source: the contract of ``ConsumerRebalanceListener``.

The smallest history that breaks it::

    PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
"""

EagerOwnsNothingWhileJoining: Final = Invariant(
    name="eager_owns_nothing_while_joining",
    family="callbacks",
    claim="an EAGER member owns nothing when it joins a generation",
    source="ConsumerCoordinator.onJoinPrepare (RebalanceProtocol.EAGER)",
    premises=("the member's MemberStarted says that it is eager",),
    exempted_by=(
        AssignmentCompleted,
        MemberStarted,
        PartitionsLost,
        PartitionsRevoked,
    ),
    violation=EagerOwnsNothingWhileJoiningViolated,
    fold=_EagerBarrier,
)
"""An EAGER member gives up all that it owns before it sends JoinGroup, so it owns nothing when the join is answered.

Source: ``ConsumerCoordinator.onJoinPrepare``.

The smallest history that breaks it::

    MemberStarted(member="m0", protocol="eager")
    PartitionsAssigned(member="m0", generation=1, partitions=("t-0",))
    MemberJoined(member="m0", generation=2)
"""

CLAIMS: Final = (CallbacksAlternate, EagerOwnsNothingWhileJoining)
"""In the order in which reports name them."""
