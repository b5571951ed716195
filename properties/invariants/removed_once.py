"""A member goes once: the coordinator removes only members that the group has."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    GenerationStarted,
    IncarnationStarted,
    MemberAdded,
    MemberRemoved,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import IncarnationFold
from rebalance_check.properties.views.recent import DEPARTED, Recent


class OnlyMembersAreRemovedViolated(Violation):
    """The coordinator removed a member that the group did not have."""


class _Removed(IncarnationFold):
    bookkeeping = frozenset({IncarnationStarted, GenerationStarted})
    needs = ((IncarnationStarted, GenerationStarted),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {MemberRemoved: self.on_removed})
        self._before: Recent[tuple[int, str], MemberRemoved] = Recent(DEPARTED)

    def on_removed(self, event: MemberRemoved) -> None:
        """The group has the member until then."""
        group, who = self.incarnations.current, (event.incarnation, event.member_id)
        before = self._before.get(who)
        self._before[who] = event
        if group is not None and not group.was_member:
            self.contradiction(
                f"{event.member_id} is removed ({event.reason}), and is no member",
                *([(f"{event.member_id} was removed ({before.reason}) at {STEP};", before)] if before else []),
                (f"it was removed ({event.reason}) at {STEP}, and had not come since: contradiction.", event),
            )


OnlyMembersAreRemoved: Final = Invariant(
    name="only_members_are_removed",
    family="membership",
    claim="a member is removed once: the group has it until then",
    source="ClassicGroup.remove; GroupMetadataManager.removeMemberAndUpdateClassicGroup",
    premises=("the history holds the coordinator's events; an incarnation is known from its start, or its next "
              "generation",),
    exempted_by=(GenerationStarted, IncarnationStarted, MemberAdded),
    violation=OnlyMembersAreRemovedViolated,
    fold=_Removed,
)  # fmt: skip
"""The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    MemberRemoved(incarnation=0, generation=1, member_id="a", reason="left")
    MemberRemoved(incarnation=0, generation=1, member_id="a", reason="session expired")
"""

CLAIMS: Final = (OnlyMembersAreRemoved,)
"""In the order in which reports name them."""
