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
        "config_snapshot_follows_reads",
    ),
]
