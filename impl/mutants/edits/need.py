"""The edits of the mutants that cost a group work without need."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_COORDINATOR: Final = "rebalance_check.impl.coordinator"

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
}
