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
        "suppressed_iff_newer_cached",
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
        "retries_are_admitted",
    ),
    _mutant(
        "retry-ignores-generation",
        "a write is retried although the store has moved to another generation",
        "retries_are_admitted",
    ),
    _mutant(
        "retry-unchecked",
        "a write that failed retriably is sent again whatever has happened since",
        "retries_are_admitted",
    ),
    _mutant(
        "retry-after-tombstone",
        "a write is retried after the tombstone of its entry was read",
        "retries_are_admitted",
    ),
    _mutant(
        "cascade-skipped",
        "the tombstone of a connector leaves the statuses of its tasks in the cache",
        "cache_follows_reads",
    ),
    _mutant(
        "cache-written-at-send",
        "a write changes the writer's cache at once instead of when it is read back",
        "cache_follows_reads",
    ),
    _mutant(
        "flush-returns-early",
        "flush does not wait for the sends that are in flight",
        "flush_waits",
    ),
    _mutant(
        "equal-generation-suppresses",
        "putSafe yields to another worker's status of its own generation, too",
        "suppressed_iff_newer_cached",
    ),
    _mutant(
        "put-guarded-too",
        "put yields to another worker's status of a higher generation as putSafe does (what KAFKA-12525 turned down)",
        "suppressed_iff_newer_cached",
    ),
    _mutant(
        "hand-over-expected",
        "a reader passes over a RUNNING until it has read the UNASSIGNED of the worker before",
        "cache_follows_reads",
    ),
    _mutant(
        "echo-filter-by-key",
        "a store passes over what others wrote of a key, too, where it means to pass over its own record",
        "readers_converge",
    ),
    _mutant("fatal-failure-retried", "a write that failed for good is sent again", "appends_answer_sends"),
]
