"""Mutants of the status store: `rebalance_check.impl.connect.status`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions

_STATUS: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.STATUS))


def _mutant(name: str, what: str, caught_by: str, catalogue_id: str = "") -> Mutant:
    return Mutant(
        name=name,
        what=what,
        caught_by=f"safe_status_writes.{caught_by}",
        where="impl",
        find=_STATUS,
        catalogue_id=catalogue_id,
    )


STATUS_MUTANTS: Final = [
    _mutant(
        "put-safe-ignores-generation",
        "putSafe overwrites another worker's status of a higher generation",
        "explained_overwrite",
    ),
    _mutant(
        "failed-overrides-all",
        "a FAILED that is written with putSafe replaces whatever status is cached",
        "overwrite_fits_a_race",
    ),
    _mutant(
        "stale-unassigned-read",
        "a late UNASSIGNED replaces a RUNNING of its own or a later generation in the cache",
        "stale_unassigned_ignored",
        "status-stale-unassigned-overwrites-running",
    ),
    _mutant(
        "retry-ignores-sequence",
        "a safe write is retried although a younger write of the same entry was admitted",
        "no_self_reordering",
    ),
    _mutant(
        "retry-ignores-generation",
        "a write is retried although the store has moved to another generation",
        "retries_are_admitted",
    ),
    _mutant(
        "topic-keys-are-not-read",
        "a store takes the keys of topics for malformed ones",
        "sent_records_are_understood",
    ),
    _mutant(
        "retry-unchecked",
        "a write that failed retriably is sent again whatever has happened since",
        "retries_are_admitted",
    ),
    _mutant(
        "retry-after-tombstone",
        "a write is retried after the tombstone of its entry was read",
        "no_resurrection_by_retry",
    ),
    _mutant(
        "retry-writes-current-cache",
        "a retry sends the status that is cached by then instead of the bytes of its first send",
        "retries_repeat_the_bytes",
    ),
    _mutant(
        "cascade-skipped",
        "the tombstone of a connector leaves the statuses of its tasks in the cache",
        "cache_follows_reads",
    ),
    _mutant(
        "topic-tombstones-ignored",
        "the tombstone of a topic's status leaves the topic in the cache",
        "topics_follow_reads",
    ),
    _mutant(
        "topic-query-ignores-the-connector",
        "a store that is asked whether a connector uses a topic answers for any connector",
        "topics_follow_reads",
    ),
    _mutant(
        "cascade-takes-topics-too",
        "the tombstone of a connector removes the statuses of its topics from the cache, too",
        "topics_follow_reads",
    ),
    _mutant(
        "tasks-listed-by-prefix",
        "the tasks of all connectors are listed as those of each",
        "lists_follow_reads",
    ),
    _mutant(
        "only-read-connectors-listed",
        "connectors of which only a write of the worker itself is known are not listed",
        "lists_follow_reads",
    ),
    _mutant(
        "cache-written-at-send",
        "a write changes the writer's cache at once instead of when it is read back",
        "cache_follows_reads",
    ),
    _mutant(
        "destroyed-written-as-value",
        "DESTROYED is written as a value instead of a tombstone",
        "retries_repeat_the_bytes",
    ),
    _mutant(
        "flush-returns-early",
        "flush does not wait for the sends that are in flight",
        "flush_waits",
    ),
    _mutant(
        "equal-generation-suppresses",
        "putSafe yields to another worker's status of its own generation, too",
        "suppression_was_read",
    ),
    _mutant(
        "put-guarded-too",
        "put yields to another worker's status of a higher generation as putSafe does (what KAFKA-12525 turned down)",
        "suppressed_iff_newer_cached",
    ),
    _mutant(
        "hand-over-expected",
        "a reader passes over a RUNNING until it has read the UNASSIGNED of the worker before",
        "quiescent_safety",
    ),
    _mutant(
        "echo-filter-by-key",
        "a store passes over what others wrote of a key, too, where it means to pass over its own record",
        "readers_converge",
    ),
    _mutant("fatal-failure-retried", "a write that failed for good is sent again", "appends_answer_sends"),
    _mutant(
        "failed-write-forgotten", "a write that failed retriably is neither sent again nor given up", "writes_settle"
    ),
    _mutant("tombstones-skipped", "the reader passes tombstones over", "reads_in_order"),
    _mutant(
        "producer-overtakes-itself",
        "the producer has several requests in flight, and a younger one may be appended first",
        "log_keeps_send_order",
    ),
    _mutant(
        "topic-statuses-are-read-crosswise",
        "a reader takes the topic that a status names for its connector, and the connector for the topic",
        "reads_say_what_was_sent",
    ),
    _mutant(
        "status-records-skip-an-offset",
        "each record of the status topic leaves an offset out",
        "offsets_have_no_gaps",
    ),
]
