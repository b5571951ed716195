"""A static member that is replaced (KIP-345) leaves nothing behind that waits."""

from __future__ import annotations

from typing import Final

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


class ReplacedMemberIsAnsweredViolated(Violation):
    """A static member was replaced, and a request of it goes on waiting."""


class _Replaced(Fold):
    needs = ((RequestParked,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberRemoved: self.on_removed})
        self.compared = 0

    def share(self, memories: Memories) -> None:
        """What waits is seen by all folds alike."""
        self.waiting = Waiting.among(memories)
        self.memories = (self.waiting,)

    def on_removed(self, event: MemberRemoved) -> None:
        """No coordinator will answer it any more."""
        if event.reason != REPLACED:
            return
        self.compared = (self.compared or 0) + 1
        kept = self.waiting.left_behind
        if kept is not None:
            self.contradiction(
                f"{event.member_id} is replaced, and its {kept.api} goes on waiting",
                (f"the coordinator keeps the {kept.api} of {event.member_id} since {STEP}.", kept),
                (f"{event.member_id} was replaced at {STEP}, and its {kept.api} had not been answered: contradiction.",
                 event),
            )  # fmt: skip


ReplacedMemberIsAnswered: Final = Invariant(
    name="replaced_member_is_answered",
    family="membership",
    claim="a JoinGroup or SyncGroup of a static member that waits is answered before the member is replaced",
    source="KIP-345; ClassicGroup.replaceStaticMember (FENCED_INSTANCE_ID)",
    premises=("the history holds the coordinator's events, with the requests it keeps",),
    exempted_by=(JoinGroupReplied, SyncGroupReplied),
    violation=ReplacedMemberIsAnsweredViolated,
    fold=_Replaced,
)
"""Else its client waits for an answer that never comes.

The smallest history that breaks it::

    RequestParked(incarnation=0, generation=0, api="JoinGroup", request=1, member_id="a")
    MemberRemoved(incarnation=0, generation=0, member_id="a", reason="replaced")
"""

CLAIMS: Final = (ReplacedMemberIsAnswered,)
"""In the order in which reports name them."""
