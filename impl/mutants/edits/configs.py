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
    "inconsistent-tasks-listed": (
        Edit(
            f"{_CONFIG}.snapshot:ConfigSnapshot.tasks",
            "0 if self.of_connector(connector).inconsistent else self.task_count(connector)",
            "self.task_count(connector)",
        ),
    ),
    "commit-counts-its-tasks-only": (
        Edit(f"{_READING}:_read_commit", " and all(task in (deferred or {}) for task in range(count))", ""),
    ),
    "task-config-in-force-at-once": (
        Edit(
            f"{_READING}:_read_task",
            "    if config is not None:",
            "    if config is not None:\n"
            "        known = state.of(key.name)\n"
            "        configs = {**known.task_configs, key.task: config}\n"
            "        state.connectors[key.name] = replace(known, task_configs=configs)",
        ),
    ),
    "incomplete-commit-applied": (
        Edit(
            f"{_READING}:_read_commit",
            "replace(known, inconsistent=True)",
            "replace(known, inconsistent=True, applied=known.config)",
        ),
    ),
    "commit-needs-no-fencing": (
        Edit(f"{_READING}:_read_commit", "pending_fencing=True", "pending_fencing=known.pending_fencing"),
    ),
    "generation-ends-with-its-connector": (
        Edit(f"{_READING}:_remove", "config=None, task_count", "config=None, generation=None, task_count"),
    ),
    "target-tombstone-forgets-default": (
        Edit(f"{_READING}:_read_target_state", "None if known.config is None else TargetState.STARTED", "None"),
    ),
    "removal-keeps-task-count": (Edit(f"{_READING}:_remove", "task_count=None, ", ""),),
    "callbacks-before-start": (Edit(f"{_STORE}.read", "if self._started:", "if reading.changes:"),),
    "unchanged-target-state-reported": (
        Edit(f"{_READING}:_read_target_state", " and known.target_state is not target", ""),
    ),
    "config-applied-when-read": (
        Edit(f"{_READING}:_read_connector", "known, config=config, ", "known, config=config, applied=config, "),
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
    "store-starts-with-every-call": (
        Edit(f"{_STORE}.completed", "if not failure and call.plan is writing.START:", "if not failure:"),
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
    "no-reader-sees-what-was-aborted": (
        Edit(f"{_TOPIC}.read", "if not (committed and _is_aborted(record)):", "if not _is_aborted(record):"),
    ),
    "markers-take-no-offset": (
        Edit(f"{_TOPIC}._end", "marker, self.end = self.end, self.end + 1", "marker = self.end"),
    ),
    "transactions-of-the-next-epoch": (
        Edit(
            f"{_CONFIG}.channel:ConfigChannel.append",
            "Transaction(self._epoch or 0)",
            "Transaction((self._epoch or 0) + 1)",
        ),
    ),
    "new-producer-leaves-transactions-open": (
        Edit(f"{_TOPIC}.init_transactions", "self.abort(transaction)", "pass"),
    ),
    "compaction-passes-open-transactions": (
        Edit(
            f"{_TOPIC}.compact",
            "limit = min(self.stable_end, self.end if below is None else below)",
            "limit = self.end if below is None else below",
        ),
    ),
    "aborted-transactions-are-committed": (
        Edit(f"{_TOPIC}.abort", "TransactionState.ABORTED", "TransactionState.COMMITTED"),
    ),
    "failed-calls-do-not-end": (Edit(f"{_STORE}.completed", "self._fail(call, failure)", "pass"),),
    "failed-transaction-keeps-privileges": (
        Edit(f"{_STORE}._drop_privileges", "self._privileged = False", "pass"),
    ),
    "restart-requests-say-the-opposite": (
        Edit(f"{_CONFIG}.values:_bool", "\"true\" if value", "\"true\" if not value"),
    ),
    "failed-transactions-are-failed-writes": (
        Edit(f"{_STORE}._error", "if isinstance(step, Write) and self._is_transaction(step):", "if False:"),
    ),
    "plain-writes-have-no-limit": (
        Edit(
            f"{_STORE}.deadline_of",
            "None if isinstance(step, Write) and self._is_transaction(step) else",
            "None if isinstance(step, Write) else",
        ),
    ),
}  # fmt: skip
"""By name of the mutant."""
