"""A member that goes, or is replaced (KIP-345), leaves nothing behind that waits for an answer of its own."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    JoinGroupReplied,
    MemberRemoved,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.properties.kinds import Fold, Invariant, Memories
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.waiting import Waiting

REPLACED: Final = "replaced"
"""Why a static member goes whose instance id another process took."""


class RemovedMemberIsAnsweredViolated(Violation):
    """A member was removed, and a request of it goes on waiting."""


class _Removed(Fold):
    needs = ((RequestParked,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberRemoved: self.on_removed})
        self.compared = 0

    def share(self, memories: Memories) -> None:
        """What waits is seen by all folds alike."""
        self.waiting = Waiting.among(memories)
        self.memories = (self.waiting,)

    def on_removed(self, event: MemberRemoved) -> None:
        """No coordinator will answer it any more; Kafka leaves the SyncGroup of a member alone that is not replaced."""
        self.compared = (self.compared or 0) + 1
        kept = self.waiting.left_behind
        if kept is None or (kept.api == Api.SYNC_GROUP and event.reason != REPLACED):
            return
        self.contradiction(
            f"{event.member_id} is removed ({event.reason}), and its {kept.api} goes on waiting",
            (f"the coordinator keeps the {kept.api} of {event.member_id} since {STEP}.", kept),
            (f"{event.member_id} was removed ({event.reason}) at {STEP}, and its {kept.api} had not been answered: "
             "contradiction.", event),
        )  # fmt: skip


RemovedMemberIsAnswered: Final = Invariant(
    name="removed_member_is_answered",
    family="membership",
    claim="a JoinGroup that waits is answered before its member is removed, and a SyncGroup before a static member is "
    "replaced",
    source="GroupMetadataManager.classicGroupLeaveToClassicGroup, removeMemberAndUpdateClassicGroup "
    "(UNKNOWN_MEMBER_ID); KIP-345; ClassicGroup.replaceStaticMember (FENCED_INSTANCE_ID)",
    premises=(
        "the history holds the coordinator's events, with the requests it keeps",
        "a later JoinGroup or SyncGroup of the same member supersedes the one before",
        "Kafka never answers the SyncGroup of a member that leaves, or whose session ends",
    ),
    exempted_by=(JoinGroupReplied, SyncGroupReplied),
    violation=RemovedMemberIsAnsweredViolated,
    fold=_Removed,
)
"""Else a client that is still there waits for an answer that never comes.

The smallest history that breaks it::

    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a")
    MemberRemoved(incarnation=0, generation=0, member_id="a", reason="left")
"""

CLAIMS: Final = (RemovedMemberIsAnswered,)
"""In the order in which reports name them."""
