"""Planted defects of the client coordinators: `rebalance_check.impl.client`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import Fuzzed, Mutant
from rebalance_check.impl.options import SimulatedProtocol, SimulationOptions

_CONNECT: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.CONNECT))
_COOPERATIVE: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE))
_EAGER: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))

CLIENT_MUTANTS: Final = [
    Mutant(
        name="eager-keeps-partitions-while-joining",
        what="an EAGER member does not revoke before it joins",
        caught_by="no_double_ownership",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="join-prepare-flag-not-rearmed-after-reset",
        what="a member whose membership was reset rejoins without on_join_prepare: nothing is given up as lost",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
        catalogue_id="join-prepare-flag-not-rearmed-after-reset",
    ),
    Mutant(
        name="revoked-partitions-kept",
        what="a COOPERATIVE member keeps what its new assignment took away",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
    ),
    Mutant(
        name="stale-response-resets-generation",
        what="an error that belongs to an older generation resets the current one",
        caught_by="rebalance_completes",
        where="impl",
        find=_EAGER,
        catalogue_id="stale-response-resets-current-generation",
    ),
    Mutant(
        name="outdated-join-reply-applied",
        what="a JoinGroup reply of an abandoned attempt is applied",
        caught_by="generation_monotonicity",
        where="impl",
        find=_EAGER,
        catalogue_id="outdated-join-response-applied",
    ),
    Mutant(
        name="worker-keeps-tasks-while-joining",
        what="an eager Connect worker does not stop its tasks before it joins",
        caught_by="no_double_ownership",
        where="impl",
        find=_CONNECT,
    ),
]
