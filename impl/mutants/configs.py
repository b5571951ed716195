"""Mutants of the config store: `rebalance_check.impl.connect.config`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions

_STORES: Final = FuzzSearch(
    options=SimulationOptions(protocol=SimulatedProtocol.CONNECT_CONFIG),
    last=100,
)


def _mutant(name: str, what: str, caught_by: str, catalogue_id: str = "") -> Mutant:
    return Mutant(
        name=name,
        what=what,
        caught_by=caught_by,
        where="impl",
        find=_STORES,
        catalogue_id=catalogue_id,
    )


CONFIG_MUTANTS: Final = [
    _mutant(
        "connect-deferred-task-updates-never-dropped",
        "task configs without a commit outlive their connector, and come into force with the next one's (KAFKA-14147)",
        "config_snapshot_follows_reads",
        "connect-deferred-task-updates-never-dropped",
    ),
    _mutant("cleaner-keeps-the-first", "compaction keeps the first record of a key, not the last", "snapshots_agree"),
    _mutant(
        "removal-drops-target-state",
        "a connector's tombstone takes its target state away",
        "config_snapshot_follows_reads",
    ),
    _mutant(
        "leftovers-outlive-their-connector",
        "task configs of a deleted connector wait for the next commit after it is created again (KAFKA-16838)",
        "config_snapshot_follows_reads",
    ),
    _mutant(
        "deferred-outlive-a-commit",
        "a commit that lacks tasks leaves those that it had for the next one",
        "config_snapshot_follows_reads",
    ),
    _mutant(
        "offset-advances-on-bad-json",
        "the offset counts a record whose value is no JSON",
        "config_offset_follows_conversion",
    ),
    _mutant("inconsistent-tasks-listed", "the tasks of an inconsistent connector are listed", "tasks_are_listed_whole"),
    _mutant(
        "commit-counts-its-tasks-only",
        "a commit is complete when it has as many tasks as it counts, whichever they are",
        "listed_tasks_have_configs",
    ),
    _mutant(
        "task-config-in-force-at-once",
        "a task config is in force before its commit",
        "committed_configs_change_at_commits",
    ),
    _mutant(
        "incomplete-commit-applied",
        "a commit that lacks tasks makes the connector's configuration the applied one",
        "incomplete_commit_changes_no_config",
    ),
    _mutant(
        "commit-needs-no-fencing", "a commit leaves no fencing pending (KIP-618)", "fencing_is_pending_after_a_commit"
    ),
    _mutant(
        "generation-ends-with-its-connector",
        "a connector that is created again counts its commits from 0",
        "generation_counts_complete_commits",
    ),
    _mutant(
        "target-tombstone-forgets-default",
        "the tombstone of a target state leaves a configured connector without one",
        "configured_connector_has_target_state",
    ),
    _mutant(
        "removal-keeps-task-count", "a deleted connector keeps its count of tasks", "unknown_connector_has_no_tasks"
    ),
    _mutant("callbacks-before-start", "a store calls back while it starts", "config_callbacks_follow_reads"),
    _mutant(
        "unchanged-target-state-reported",
        "a target state that is no other one is called back",
        "config_callbacks_follow_reads",
    ),
    _mutant(
        "config-applied-when-read",
        "a connector's configuration counts as applied when it is read, before a commit of its tasks",
        "applied_is_current_at_the_commit",
    ),
    _mutant(
        "commit-without-read-back",
        "task configs are committed without being read back first",
        "commit_follows_read_back",
    ),
    _mutant(
        "leader-writes-plainly",
        "where exactly-once support is being prepared, a leader writes with a producer that nothing can fence",
        "fenced_leader_appends_nothing",
    ),
    _mutant(
        "store-starts-with-every-call", "a store starts anew with every call that ends", "config_store_starts_once"
    ),
    _mutant("reader-begins-again", "a reader that reached the end begins anew", "config_reads_in_order"),
    _mutant(
        "readers-return-an-open-record",
        "a reader of committed records returns the first record of an open transaction, too",
        "config_readers_return_the_topic",
    ),
    _mutant(
        "no-reader-sees-what-was-aborted",
        "a reader of all records passes over those that were aborted",
        "config_readers_skip_nothing",
    ),
    _mutant("markers-take-no-offset", "a marker has the offset of the next record", "config_offsets_have_no_gaps"),
    _mutant(
        "transactions-of-the-next-epoch",
        "a leader's producer writes with a higher epoch than it was given",
        "config_epochs_are_given",
    ),
    _mutant(
        "new-producer-leaves-transactions-open",
        "a leader's new producer does not abort what the one before it left open",
        "config_transactions_end",
    ),
    _mutant(
        "compaction-passes-open-transactions",
        "compaction removes what lies behind an open transaction",
        "compaction_keeps_what_is_needed",
    ),
    _mutant(
        "aborted-transactions-are-committed",
        "what a failed transaction, or one of a process that ended, has written is committed",
        "failed_transactions_are_aborted",
    ),
    _mutant("failed-calls-do-not-end", "a call whose step fails neither returns nor throws", "config_calls_end"),
    _mutant(
        "failed-transaction-keeps-privileges",
        "a store whose transaction failed keeps its write privileges",
        "lost_write_privileges_are_claimed_anew",
    ),
    _mutant(
        "restart-requests-say-the-opposite",
        "a request to restart is written with the opposite of each of its options",
        "config_calls_write_their_arguments",
    ),
    _mutant(
        "failed-transactions-are-failed-writes",
        "a store throws for a transaction that failed what it throws for a plain write",
        "config_calls_throw_for_a_reason",
    ),
    _mutant(
        "plain-writes-have-no-limit",
        "a store waits for as long as it takes until its plain write is appended",
        "config_calls_end_in_time",
    ),
]
