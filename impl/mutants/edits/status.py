"""Mutants of the status store: its checks, its retries, its cache, and the producer it writes with."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_STATUS: Final = "rebalance_check.impl.connect.status"
_STORE: Final = f"{_STATUS}.store:StatusStore"
_WRITING: Final = f"{_STATUS}.writing:StatusWriting"
_CACHE: Final = f"{_STATUS}.cache:StatusCache"

_STALE: Final = "    if self._is_stale(entity, status):"

STATUS_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "put-guarded-too": (Edit(f"{_WRITING}.admit", "if safe and not self._check(", "if not self._check("),),
    "cache-written-at-send": (
        Edit(
            f"{_WRITING}.admit",
            "    return attempt",
            "    if value.status is not Status.DESTROYED:\n        attempt.entry.value = value\n    return attempt",
        ),
    ),
    "put-safe-ignores-generation": (
        Edit(f"{_WRITING}._may_write", "    cached = entry.value", "    return True\n    cached = entry.value"),
    ),
    "equal-generation-suppresses": (
        Edit(f"{_WRITING}._may_write", "cached.generation <= value.generation", "cached.generation < value.generation"),
    ),
    "fatal-failure-retried": (Edit(f"{_STORE}._failed", '"fatal" if outcome is SendOutcome.FATAL else self', "self"),),
    "retry-unchecked": (
        Edit(f"{_STORE}._against_this_write", "    if entry is None or", '    return ""\n    if entry is None or'),
    ),
    "retry-ignores-generation": (
        Edit(
            f"{_STORE}._against_this_write",
            '    if value.generation != self.generation:\n        return "other generation"\n',
            "",
        ),
    ),
    "retry-ignores-sequence": (
        Edit(
            f"{_STORE}._against_this_write",
            '    if attempt.safe and entry.sequence != attempt.sequence:\n        return "superseded"\n',
            "",
        ),
    ),
    "flush-returns-early": (Edit(f"{_STORE}.flush", "set(self._in_flight)", "set()"),),
    "stale-unassigned-read": (
        Edit(f"{_CACHE}._is_stale", "    cached = self.get(key)", "    return False\n    cached = self.get(key)"),
    ),
    "hand-over-expected": (
        Edit(
            f"{_CACHE}.read",
            _STALE,
            "    cached = self.get(entity)\n"
            "    runs = cached is not None and cached.status is status.status is Status.RUNNING\n"
            "    if runs and cached.worker_id != status.worker_id:\n"
            '        return Fold(entity, status, ignored="out of turn")\n'
            f"{_STALE}",
        ),
    ),
    "echo-filter-by-key": (
        Edit(
            f"{_CACHE}.read",
            _STALE,
            "    if self.entry(entity).sequence:\n"
            '        return Fold(entity, status, ignored="echo of an own write")\n'
            f"{_STALE}",
        ),
    ),
    "cascade-skipped": (
        Edit(
            f"{_CACHE}._remove",
            "    for entry in self._tasks.pop(key.connector, {}).values():\n        self._end(entry)\n",
            "",
        ),
    ),
    "retry-after-tombstone": (Edit(f"{_CACHE}._end", "entry.deleted = True", "pass"),),
}
"""By name of the mutant."""
