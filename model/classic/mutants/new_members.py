"""Mutants of the concerns *new members* and *heartbeat during sync* of the classic model."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_JOIN_PHASE: Final = "rebalance_check.model.classic.parts.join_phase"
_BEATS: Final = "rebalance_check.model.classic.concerns.heartbeat_during_sync"
_COORDINATOR: Final = "rebalance_check.model.classic.coordinator"
_MEMBER: Final = "rebalance_check.model.classic.client"

NEW_MEMBER_MUTANTS: Final = (
    ModelMutant(
        name="leave-ignores-pending-id",
        what="the coordinator waits for a pending id until it expires, although a LeaveGroup has returned it",
        edit=Edit(
            _COORDINATOR,
            "    if gone != NIL and has(s.members | s.pending, gone):",
            "    if gone != NIL and has(s.members, gone):",
        ),
        caught_by="returned_id_is_not_waited_for",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=1&crashes=0&leaves=1&initial_delay=off&member_id_required&new_members"
        ),
    ),
    ModelMutant(
        name="expired-new-member-gets-no-reply",
        what="a new member that expires is removed, and its parked JoinGroup is never answered",
        edit=Edit(
            _COORDINATOR,
            "    refuse_join_of_removed(s, m)\n    remove_member(s, m, k)\n    if s.status",
            "    remove_member(s, m, k)\n    if s.status",
        ),
        caught_by="expired_new_member_is_refused",
        bounds=Bounds.from_address("eager?members=1&partitions=1&generations=2&leaves=1&expiries=1&new_members"),
    ),
    ModelMutant(
        name="new-member-stays-new",
        what="a member stays new after its first join phase, and may expire while its request is parked",
        edit=Edit(_JOIN_PHASE, "    s.new_members = 0\n", ""),
        caught_by="new_members_are_parked",
        bounds=Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&new_members"
        ),
    ),
    ModelMutant(
        name="reset-during-sync-is-forgotten",
        what="a member that lost its generation during its SyncGroup becomes stable when that is answered",
        edit=Edit(
            _MEMBER,
            "    if is_reset(me):\n        me.status = MemberStatus.UNJOINED\n",
            "    if is_reset(me) and c.heartbeats_during_sync == 0:\n        me.status = MemberStatus.UNJOINED\n",
        ),
        caught_by="reset_member_takes_no_assignment",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&heartbeats_during_sync=1"
        ),
    ),
    ModelMutant(
        name="heartbeat-during-sync-is-not-fenced",
        what="the coordinator accepts every Heartbeat of a member whose SyncGroup is outstanding",
        edit=Edit(
            _BEATS,
            "    me.heartbeat_reply = HEARTBEAT_ACCEPTED + fence(s, m, me.generation)",
            "    me.heartbeat_reply = HEARTBEAT_ACCEPTED",
        ),
        caught_by="heartbeat_during_sync_is_fenced",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&heartbeats_during_sync=1"
        ),
    ),
)
