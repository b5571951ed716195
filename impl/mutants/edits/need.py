"""The edits of the mutants that cost a group work without need."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_COORDINATOR: Final = "rebalance_check.impl.coordinator"
_CLIENT: Final = "rebalance_check.impl.client"
_CONSUMER: Final = f"{_CLIENT}.consumer:ConsumerCoordinator"

NEED_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "repeated-join-rebalances": (
        Edit(
            f"{_COORDINATOR}.join:is_answered_at_once",
            "group.status is GroupStatus.COMPLETING_REBALANCE or (group.status is GroupStatus.STABLE and follows)",
            "group.status is GroupStatus.COMPLETING_REBALANCE",
        ),
    ),
    "static-restart-rebalances": (
        Edit(
            f"{_COORDINATOR}.static:continue_by_status",
            "elif group.select_protocol(shard.choices) == group.protocol_name:",
            "elif group.select_protocol(shard.choices) != group.protocol_name:",
        ),
    ),
    "broken-connection-rejoins": (
        Edit(
            f"{_CLIENT}.core:CoordinatorCore._forget_coordinator",
            "    self._lookup.lost(self._now_ms)",
            "    self._lookup.lost(self._now_ms)\n    self._rejoin_needed = True",
        ),
    ),
    "waiting-member-expires": (
        Edit(
            f"{_COORDINATOR}.heartbeat:on_session_timer",
            "    if member.has_satisfied_heartbeat:\n        return",
            "    if False:\n        return",
        ),
    ),
    "closing-member-loses": (
        Edit(
            f"{_CONSUMER}.on_leave_prepare",
            "if self._generation.reset or self._state is not MemberState.STABLE:",
            "if self._owned:",
        ),
    ),
}
