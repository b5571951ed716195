"""Planted defects of the group coordinator: `rebalance_check.impl.coordinator`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import Fuzzed, Mutant
from rebalance_check.impl.options import SimulatedProtocol, SimulationOptions

_COOPERATIVE: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE))
_EAGER: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))

COORDINATOR_MUTANTS: Final = [
    Mutant(
        name="sync-accepts-stale-generation",
        what="SyncGroup of an older generation is answered as if it were current",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
    ),
    Mutant(
        name="generation-reused",
        what="a rebalance of a group that became empty starts again with generation 1",
        caught_by="generation_monotonicity",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="generation-not-advanced",
        what="a rebalance that removes no member keeps its generation number",
        caught_by="generation_monotonicity",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="heartbeat-accepts-stale-generation",
        what="a heartbeat of an older generation is answered without an error",
        caught_by="rebalance_completes",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="no-sync-deadline",
        what="a leader that never syncs holds the group in CompletingRebalance for ever",
        caught_by="rebalance_completes",
        where="impl",
        find=_EAGER,
        catalogue_id="no-sync-deadline-in-completing-rebalance",
    ),
    Mutant(
        name="join-keeps-absent-members",
        what="members that did not rejoin in time stay in the new generation",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
    ),
]
