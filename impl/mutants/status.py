"""Planted defects of the status store: `rebalance_check.impl.status`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import Fuzzed, Mutant
from rebalance_check.impl.options import SimulatedProtocol, SimulationOptions

_STATUS: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.STATUS))

STATUS_MUTANTS: Final = [
    Mutant(
        name="put-safe-ignores-generation",
        what="putSafe overwrites another worker of a higher generation",
        caught_by="safe_status_writes",
        where="impl",
        find=_STATUS,
    ),
    Mutant(
        name="stale-unassigned-read",
        what="an UNASSIGNED of an older generation replaces RUNNING in the cache",
        caught_by="safe_status_writes",
        where="impl",
        find=_STATUS,
        catalogue_id="status-stale-unassigned-overwrites-running",
    ),
    Mutant(
        name="retry-ignores-sequence",
        what="a safe write is retried although a younger write of the same entry was sent",
        caught_by="safe_status_writes",
        where="impl",
        find=_STATUS,
        catalogue_id="status-unguarded-retry-reorders",
    ),
    Mutant(
        name="retry-after-tombstone",
        what="a write is retried after the tombstone of its entry was read",
        caught_by="safe_status_writes",
        where="impl",
        find=_STATUS,
    ),
]
