"""A member commits nothing that it gave up before it joined."""

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
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsRevoked,
)
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation


class RevokedIsNotCommittedViolated(Violation):
    """A member committed a partition that it had revoked."""


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

CLAIMS: Final = (RevokedIsNotCommitted,)
"""In the order in which reports name them."""
