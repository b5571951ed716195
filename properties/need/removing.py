"""The coordinator removes a member for its silence only where silence shows something: who waits, is silent."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    GenerationStarted,
    IncarnationStarted,
    JoinGroupReplied,
    MemberRemoved,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.properties.kinds import Fold, Invariant, Memories
from rebalance_check.properties.need.causes import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import SESSION_EXPIRED
from rebalance_check.properties.views.recent import GENERATIONS, Recent
from rebalance_check.properties.views.waiting import Waiting


class MemberRemovalHasACauseViolated(Violation):
    """A member was removed for its silence although it waited for an answer."""


class _Removals(Fold):
    """Per incarnation the last generation: who is new may go while its first JoinGroup waits."""

    needs = ((RequestParked,), (GenerationStarted,))
    bookkeeping = frozenset({IncarnationStarted, GenerationStarted})

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                IncarnationStarted: self.on_incarnation,
                GenerationStarted: self.on_generation,
                MemberRemoved: self.on_removed,
            },
        )
        self.compared = 0
        self._last: Recent[int, GenerationStarted] = Recent(GENERATIONS)

    def share(self, memories: Memories) -> None:
        """What waits is seen by all folds alike."""
        self.waiting = Waiting.among(memories)
        self.memories = (self.waiting,)

    def on_incarnation(self, event: IncarnationStarted) -> None:
        """What was before is no concern of it."""
        self._last.pop(event.incarnation, None)

    def on_generation(self, event: GenerationStarted) -> None:
        """Its members are new no more."""
        self._last[event.incarnation] = event

    def on_removed(self, event: MemberRemoved) -> None:
        """A client sends no heartbeat while it waits in JoinGroup, and may be slow to in SyncGroup."""
        last = self._last.get(event.incarnation)
        if event.reason != SESSION_EXPIRED or last is None or event.member_id not in last.members:
            return
        self.compared = (self.compared or 0) + 1
        kept = self.waiting.left_behind or self.waiting.turned_away
        if kept is not None:
            self.contradiction(
                f"{event.member_id} is removed for its silence, and waits for the answer to its {kept.api}",
                (f"{event.member_id} is a member of generation {last.generation}, which began at {STEP};", last),
                (f"the coordinator kept its {kept.api} from {STEP} on;", kept),
                (f"yet its session ended at {STEP}: contradiction.", event),
            )


MemberRemovalHasACause: Final = Invariant(
    name="member_removal_has_a_cause",
    family=FAMILY,
    claim="a member is removed for its silence only for a cause: no JoinGroup or SyncGroup of it waits at the "
    "coordinator, or it is new",
    source="ClassicGroupMember.hasSatisfiedHeartbeat; GroupMetadataManager.expireClassicGroupMemberHeartbeat",
    premises=(
        "the history holds the coordinator's events, with the requests it keeps",
        "a member is new until it has been in a generation of this incarnation",
    ),
    exempted_by=(JoinGroupReplied, SyncGroupReplied),
    violation=MemberRemovalHasACauseViolated,
    fold=_Removals,
)
"""A member is removed for its silence only for a cause: while it waits it may be silent.

The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    RequestParked(incarnation=0, generation=1, api="JoinGroup", request=1, member_id="a")
    MemberRemoved(incarnation=0, generation=1, member_id="a", reason="session expired")
"""

CLAIMS: Final = (MemberRemovalHasACause,)
"""In the order in which reports name them."""
