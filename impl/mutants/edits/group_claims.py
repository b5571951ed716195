"""The edits of the mutants of coordinators and consumers in the style of random edits."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_COORDINATOR: Final = "rebalance_check.impl.coordinator"
_CLIENT: Final = "rebalance_check.impl.client"
_CONNECT: Final = "rebalance_check.impl.connect"

GROUP_CLAIM_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "loading-coordinator-refuses-heartbeats": (
        Edit(
            f"{_COORDINATOR}.validation:refusal",
            "if phase is Phase.LOADING and isinstance(request, HeartbeatRequest):",
            "if phase is Phase.ACTIVE and isinstance(request, HeartbeatRequest):",
        ),
    ),
    "commits-end-with-the-join-phase": (
        Edit(
            f"{_COORDINATOR}.offsets:refusal",
            "group.status is GroupStatus.COMPLETING_REBALANCE and",
            "group.status is GroupStatus.PREPARING_REBALANCE and",
        ),
    ),
    "returning-followers-skip": (
        Edit(
            f"{_COORDINATOR}.static:answer_without_rebalance",
            "leads = group.leader == member.member_id",
            "leads = group.leader != member.member_id",
        ),
    ),
    "positions-outlive-the-partition": (
        Edit(
            f"{_CLIENT}.consumer:ConsumerCoordinator._forget_positions",
            "self._positions = {tp: offset for tp, offset in self._positions.items() if tp in self._owned}",
            "pass",
        ),
    ),
    "commits-prolong-no-session-in-a-join-phase": (
        Edit(
            f"{_COORDINATOR}.offsets:offset_commit",
            "{GroupStatus.STABLE, GroupStatus.PREPARING_REBALANCE}",
            "{GroupStatus.STABLE}",
        ),
    ),
    "loaded-members-have-no-session": (
        Edit(
            f"{_COORDINATOR}.failover:resume",
            "shard.arm_session(group, member_id, group.members[member_id].session_timeout_ms)",
            "pass",
        ),
    ),
    "sticky-looks-at-no-subscriptions": (
        Edit(
            "rebalance_check.impl.assignors.sticky:StickyFamily._assign",
            "if len({frozenset(one.topics) for one in subscriptions.values()}) == 1:",
            "if subscriptions:",
        ),
    ),
    "unknown-instance-is-fenced": (
        Edit(
            f"{_COORDINATOR}.group:Group.validate_member",
            "if holder is None:\n            return Error.UNKNOWN_MEMBER_ID\n        if holder",
            "if holder is None:\n            return Error.FENCED_INSTANCE_ID\n        if holder",
        ),
    ),
}
