"""What members claim and commit: a generation that they joined, and nothing that they gave up before it."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    GenerationEvent,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsRevoked,
    RunStarted,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.recent import WAITING, Recent


class ClaimsAreOfAJoinedGenerationViolated(Violation):
    """A leader read a claim of a generation that its member has not joined."""


class RevokedIsNotCommittedViolated(Violation):
    """A member committed a partition that it had revoked."""


class _Claims(Fold):
    """The generations that each member id joined."""

    bookkeeping = frozenset({RunStarted, MemberJoined})
    needs = ((RunStarted,), (MemberJoined,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RunStarted: self.on_run,
            MemberJoined: self.on_joined,
            AssignmentComputed: self.on_computed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._all_record = False
        self._joined: Recent[tuple[str, int], MemberJoined] = Recent(WAITING)

    def on_run(self, event: RunStarted) -> None:
        """In a simulated run every member is recorded."""
        self._all_record = event.punctual

    def on_joined(self, event: MemberJoined) -> None:
        """It may claim what it is assigned in this generation, in a later one."""
        if self._all_record:
            self._joined[event.member_id, event.generation] = event

    def on_computed(self, event: AssignmentComputed) -> None:
        """What each member claims is of a generation that it joined, or of none."""
        if not self._all_record or len(self._joined) >= WAITING:
            return
        for member_id, generation in event.owned_generations:
            if generation == NO_GENERATION:
                continue
            self.compared = (self.compared or 0) + 1
            if (member_id, generation) not in self._joined:
                self.contradiction(
                    f"{event.member} reads a claim of {member_id} of generation {generation}, which it never joined",
                    (f"no member {member_id} joined generation {generation} before;", None),
                    (f"yet the leader takes its claim for one of generation {generation} at {STEP}: contradiction.",
                     event),
                )  # fmt: skip


class _Revoked(Fold):
    """Per member: what it revoked and was not assigned since, and the generation that it joined after that."""

    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft, MemberJoined, PartitionsAssigned,
                             AssignmentCompleted, PartitionsRevoked})  # fmt: skip
    needs = ((PartitionsRevoked,), (MemberJoined,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys((MemberStarted, MemberCrashed, MemberLeft), self.on_process),
            MemberJoined: self.on_joined,
            PartitionsAssigned: self.on_assigned,
            AssignmentCompleted: self.on_completed,
            PartitionsRevoked: self.on_revoked,
            OffsetCommitted: self.on_committed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._revoked: dict[str, dict[str, PartitionsRevoked]] = {}
        self._joined: dict[str, tuple[MemberJoined, dict[str, PartitionsRevoked]]] = {}

    def on_process(self, event: MemberEvent) -> None:
        """A new process has revoked nothing."""
        self._revoked.pop(event.member, None)
        self._joined.pop(event.member, None)

    def on_revoked(self, event: PartitionsRevoked) -> None:
        """It commits them no more."""
        self._revoked.setdefault(event.member, {}).update(dict.fromkeys(event.partitions, event))

    def on_joined(self, event: MemberJoined) -> None:
        """What is accepted for this generation was sent after this point."""
        self._joined[event.member] = (event, dict(self._revoked.get(event.member, {})))

    def on_assigned(self, event: PartitionsAssigned) -> None:
        """Assigned anew: it may commit them again."""
        self._regain(event, event.partitions)

    def on_completed(self, event: AssignmentCompleted) -> None:
        """The same."""
        self._regain(event, event.owned)

    def _regain(self, event: GenerationEvent, partitions: tuple[str, ...]) -> None:
        revoked = self._revoked.get(event.member, {})
        for partition in partitions:
            revoked.pop(partition, None)

    def on_committed(self, event: OffsetCommitted) -> None:
        """A commit for a generation that was joined after the revocation is a commit of what is gone."""
        joined, before = self._joined.get(event.member, (None, dict[str, PartitionsRevoked]()))
        if joined is None or joined.generation != event.generation or event.error != "NONE":
            return
        self.compared = (self.compared or 0) + 1
        revoked = self._revoked.get(event.member, {}).get(event.partition)
        if revoked is not None and before.get(event.partition) is revoked:
            self.contradiction(
                f"{event.member} commits {event.partition}, which it revoked before generation {event.generation}",
                (f"{event.member} revoked {event.partition} at {STEP};", revoked),
                (f"it joined generation {event.generation} at {STEP}, and was not assigned it since;", joined),
                (f"yet it commits {event.partition} in that generation at {STEP}: contradiction.", event),
            )


ClaimsAreOfAJoinedGeneration: Final = Invariant(
    name="claims_are_of_a_joined_generation",
    family="agreement",
    claim="a leader takes the claim of a member for one of a generation that this member joined, or of none",
    source="KIP-792; ConsumerProtocol.deserializeSubscription; AbstractStickyAssignor.memberData",
    premises=("the run is simulated: every member is recorded, with the generations that it joined",),
    exempted_by=(MemberJoined,),
    violation=ClaimsAreOfAJoinedGenerationViolated,
    fold=_Claims,
)
"""A leader decides by it whose claim is the newer one.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberJoined(member="m0", generation=2, member_id="a")
    AssignmentComputed(member="m0", generation=2, owned_generations=(("a", 1),))
"""

RevokedIsNotCommitted: Final = Invariant(
    name="revoked_is_not_committed",
    family="fencing",
    claim="a member does not commit a partition that it revoked before it joined its generation, until it is assigned "
    "again",
    source="ConsumerRebalanceListener.onPartitionsRevoked; ConsumerCoordinator (SubscriptionState.allConsumed)",
    premises=(
        "a commit is known to be sent after the revocation when it is accepted in a generation that was joined later",
        "the member commits what it consumed; a commit of other partitions by its application is not recorded",
    ),
    exempted_by=(AssignmentCompleted, MemberCrashed, MemberLeft, MemberStarted, PartitionsAssigned),
    violation=RevokedIsNotCommittedViolated,
    fold=_Revoked,
)
"""A late commit of what another member reads by now takes its offset back.

The smallest history that breaks it::

    PartitionsRevoked(member="m0", generation=1, partitions=("t-0",))
    MemberJoined(member="m0", generation=2)
    OffsetCommitted(member="m0", generation=2, partition="t-0", offset=5, error="NONE")
"""

CLAIMS: Final = (ClaimsAreOfAJoinedGeneration, RevokedIsNotCommitted)
"""In the order in which reports name them."""
