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
    "commit-without-read-back": (
        Edit(f"{_CONFIG}.writing:put_tasks", "    if tasks:\n        steps.append((ReadToEnd(), root))\n", ""),
    ),
    "leader-writes-plainly": (
        Edit(
            f"{_STORE}._is_transaction",
            "self.exactly_once.transactional",
            "self.exactly_once is ExactlyOnce.ENABLED",
        ),
    ),
    "reader-begins-again": (
        Edit(
            f"{_CONFIG}.channel:ConfigChannel.serve_end",
            "    for number in reached:",
            "    self.position = 0\n    for number in reached:",
        ),
    ),
    "readers-return-an-open-record": (
        Edit(f"{_TOPIC}.read", "if record.offset >= end:", "if record.offset > end:"),
    ),
}  # fmt: skip
"""By name of the mutant."""
