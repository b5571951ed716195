"""Mutants of the config store: its fold, its snapshot, its writes, and the log under it."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_CONFIG: Final = "rebalance_check.impl.connect.config"
_READING: Final = f"{_CONFIG}.reading"
_TOPIC: Final = f"{_CONFIG}.shared_log:SharedConfigLog"
_STORE: Final = f"{_CONFIG}.store:ConfigStore"

CONFIG_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "connect-deferred-task-updates-never-dropped": (
        Edit(f"{_READING}:_remove", "    state.deferred.pop(connector, None)\n", ""),
    ),
    "cleaner-keeps-the-first": (
        Edit(
            f"{_CONFIG}.compaction:compacted",
            "for record in cleaned}",
            "for record in reversed(cleaned)}",
        ),
    ),
    "removal-drops-target-state": (
        Edit(f"{_READING}:_remove", "config=None, task_count", "config=None, target_state=None, task_count"),
    ),
    "leftovers-outlive-their-connector": (
        Edit(
            f"{_READING}:_read_commit",
            "        _remove(state, key.name)\n        return ()",
            "        return ()",
        ),
    ),
    "deferred-outlive-a-commit": (Edit(f"{_READING}:_read_commit", "state.deferred[key.name] = {}", "pass"),),
    "offset-advances-on-bad-json": (
        Edit(
            f"{_READING}:read_record",
            "        return Reading(False)",
            "        state.offset = offset + 1\n        return Reading(False)",
        ),
    ),
}  # fmt: skip
"""By name of the mutant."""
