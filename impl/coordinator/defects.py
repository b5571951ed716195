"""Planted bugs of the coordinator, each switched on by its name and read at exactly one place."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.errors import RebalanceCheckError

DEFECTS: Final[dict[str, str]] = {
    "stale_generation_accepted_in_sync": "SyncGroup does not compare the generation",
    "generation_not_bumped": "a completed join phase keeps the old generation",
    "unknown_member_accepted": "Heartbeat of a member that was removed is answered NONE",
    "heartbeat_not_fenced": "Heartbeat does not compare the generation",
    "commit_not_fenced": "OffsetCommit compares neither member nor generation",
    "join_completes_before_all_joined": "the join phase ends as soon as one member has joined",
    "sync_answered_before_leader": "a follower's SyncGroup is answered from memory before the leader's has arrived",
    "no_sync_deadline": "nothing removes a member that owes its SyncGroup (KAFKA-12890)",
    "leave_does_not_complete_join": "a leave during the join phase does not look whether all others have joined (KoP)",
    "leave_without_rebalance": "a leave from a Stable group starts no rebalance (Iggy)",
    "heartbeat_refused_while_preparing": "a heartbeat answered REBALANCE_IN_PROGRESS does not prolong the session",
    "expiry_without_rebalance": "a session that expires in a Stable group starts no rebalance",
    "parked_member_expires": "a member waiting in JoinGroup or SyncGroup is removed when its session runs out",
    "static_rejoin_keeps_old_member_id": "a restarted static member shares the id of its predecessor (KAFKA-8500)",
    "static_join_in_completing_gets_empty": "a static restart in CompletingRebalance starts no rebalance (KAFKA-9801)",
    "new_member_never_times_out": "a new member parked in JoinGroup is never given up (KAFKA-9232)",
    "stale_assignment_kept": "members that the leader forgot keep the assignment of an earlier generation",
}
"""Every planted bug: its name and what goes wrong."""


def checked(names: frozenset[str]) -> frozenset[str]:
    """The same names; `RebalanceCheckError` when one of them is no defect of the coordinator."""
    unknown = sorted(names - DEFECTS.keys())
    if unknown:
        raise RebalanceCheckError(f"{unknown[0]!r} is no defect of the coordinator: choose from {', '.join(DEFECTS)}")
    return names
