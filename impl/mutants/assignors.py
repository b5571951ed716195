"""Planted defects of the assignors: `rebalance_check.impl.assignors`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import Fuzzed, Mutant
from rebalance_check.impl.options import SimulatedProtocol, SimulationOptions

_COOPERATIVE: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE))

ASSIGNOR_MUTANTS: Final = [
    Mutant(
        name="cooperative-leader-does-not-withhold",
        what="the leader gives a claimed partition to its next owner in the same round",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
    ),
    Mutant(
        name="claims-of-one-generation-both-honoured",
        what="two claims of one partition in one generation are both honoured",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
        catalogue_id="sticky-same-generation-multi-claim",
    ),
    Mutant(
        name="lowest-generation-wins",
        what="of two claims the one of the older generation wins",
        caught_by="no_double_ownership",
        where="impl",
        find=_COOPERATIVE,
        catalogue_id="librdkafka-lowest-generation-wins",
    ),
]
