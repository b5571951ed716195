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
    "topic-keys-are-not-read": (
        Edit(f"{_STATUS}.codec:read_key", "if key.startswith(TOPIC_PREFIX):", "if key.startswith(CONNECTOR_PREFIX):"),
    ),
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
    "failed-overrides-all": (
        Edit(
            f"{_WRITING}._may_write",
            "    cached = entry.value",
            "    if value.status is Status.FAILED:\n        return True\n    cached = entry.value",
        ),
    ),
    "topic-tombstones-ignored": (
        Edit(f"{_CACHE}._read_topic", "    self._topics.get(key.connector, {}).pop(key.topic, None)\n", "    pass\n"),
    ),
    "topic-query-ignores-the-connector": (
        Edit(
            f"{_CACHE}.topic",
            "return self._topics.get(key.connector, {}).get(key.topic)",
            "return next((topics[key.topic] for topics in self._topics.values() if key.topic in topics), None)",
        ),
    ),
    "cascade-takes-topics-too": (
        Edit(
            f"{_CACHE}._remove",
            "    for entry in self._tasks.pop(key.connector, {}).values():",
            "    self._topics.pop(key.connector, None)\n    for entry in self._tasks.pop(key.connector, {}).values():",
        ),
    ),
    "tasks-listed-by-prefix": (
        Edit(
            f"{_CACHE}.tasks",
            "entries = self._tasks.get(connector, {})",
            "entries = {number: entry for tasks in self._tasks.values() for number, entry in tasks.items()}",
        ),
    ),
    "only-read-connectors-listed": (
        Edit(
            f"{_CACHE}.connectors",
            "sorted(self._connectors)",
            "sorted(name for name, entry in self._connectors.items() if entry.value is not None)",
        ),
    ),
    "equal-generation-suppresses": (
        Edit(f"{_WRITING}._may_write", "cached.generation <= value.generation", "cached.generation < value.generation"),
    ),
    "destroyed-written-as-value": (
        Edit(
            f"{_WRITING}._serialise",
            "    try:",
            "    if value.status is Status.DESTROYED:\n"
            """        return b'{"state":"DESTROYED","trace":null,"worker_id":"","generation":0}'\n"""
            "    try:",
        ),
    ),
    "fatal-failure-retried": (Edit(f"{_STORE}._failed", '"fatal" if outcome is SendOutcome.FATAL else self', "self"),),
    "failed-write-forgotten": (Edit(f"{_STORE}._failed", "self._retries.append(attempt)", "pass"),),
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
    "retry-writes-current-cache": (
        Edit(
            f"{_STORE}.run_retry",
            "    self._send(attempt)",
            "    if attempt.entry is not None and attempt.entry.value:\n"
            "        written, attempt.value = attempt.value, attempt.entry.value\n"
            "        attempt.data = self._serialise(attempt)\n"
            "        attempt.value = written\n"
            "    self._send(attempt)",
        ),
    ),
    "tombstones-skipped": (
        Edit(
            f"{_STORE}.read",
            "    fold = self.cache.read(",
            "    if value is None:\n        return\n    fold = self.cache.read(",
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
    "topic-statuses-are-read-crosswise": (
        Edit(f"{_STATUS}.codec:read_topic", "TopicValue(name, connector,", "TopicValue(connector, name,"),
    ),
    "status-records-skip-an-offset": (
        Edit(f"{_STATUS}.shared_log:SharedLog.append", "self._ends[partition] += 1", "self._ends[partition] += 2"),
    ),
    "retry-after-tombstone": (Edit(f"{_CACHE}._end", "entry.deleted = True", "pass"),),
    "producer-overtakes-itself": (
        Edit(
            f"{_STATUS}.shared_log:Channel.send",
            "self.waiting.append(InFlight(key, value, attempt, send))",
            "self.waiting.insert(min(1, len(self.waiting)), InFlight(key, value, attempt, send))",
        ),
    ),
}
"""By name of the mutant."""
