"""A member goes once, and goes when it leaves: the coordinator removes only members that the group has."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    GenerationStarted,
    IncarnationStarted,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
)
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import ACCEPTED, IncarnationFold
from rebalance_check.properties.views.recent import DEPARTED, Recent


class OnlyMembersAreRemovedViolated(Violation):
    """The coordinator removed a member that the group did not have."""


class LeavingMembersAreRemovedViolated(Violation):
    """The coordinator accepted the LeaveGroup of a member, and the group still has it."""


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


class _Left(IncarnationFold):
    needs = ((LeaveGroupReplied,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {LeaveGroupReplied: self.on_left})

    def on_left(self, event: LeaveGroupReplied) -> None:
        """Of a batch the event names the first entry; another instance id than that of the member is refused there."""
        group = self.incarnations.current
        instance = None if group is None else group.members.get(event.member_id)
        if event.error == ACCEPTED and instance is not None and event.instance_id in {"", instance}:
            self.contradiction(
                f"{event.member_id} has left, and is a member",
                (f"the coordinator accepted the LeaveGroup of {event.member_id} at {STEP}, and had not removed it: "
                 "contradiction.", event),
            )  # fmt: skip


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

LeavingMembersAreRemoved: Final = Invariant(
    name="leaving_members_are_removed",
    family="membership",
    claim="when a LeaveGroup is accepted, the member that it names first is no member any more",
    source="GroupMetadataManager.classicGroupLeave, removeMemberAndUpdateClassicGroup",
    premises=("the history holds the coordinator's events; an incarnation is known from its start, or its next "
              "generation", "a LeaveGroup that names an instance id of another member is refused in its entry alone"),
    exempted_by=(MemberRemoved,),
    violation=LeavingMembersAreRemovedViolated,
    fold=_Left,
)  # fmt: skip
"""A member that has left, and that the coordinator keeps, holds its partitions until its session ends.

The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    LeaveGroupReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a")
"""

CLAIMS: Final = (OnlyMembersAreRemoved, LeavingMembersAreRemoved)
"""In the order in which reports name them."""
