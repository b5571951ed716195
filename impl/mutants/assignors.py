"""Planted defects of the assignors: `rebalance_check.impl.assignors`."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import Fuzzed, Mutant, Told
from rebalance_check.impl.options import SimulatedProtocol, SimulationOptions

_EAGER: Final = Fuzzed(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))
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
        name="range-boundary-given-twice",
        what="the last partition of a range is given to the next member, too",
        caught_by="assignment_is_disjoint",
        where="impl",
        find=_EAGER,
    ),
    Mutant(
        name="claims-of-one-generation-both-honoured",
        what="two members that claim one partition in one generation both keep it",
        caught_by="stories",
        where="impl",
        find=Told(test="tests/impl/test_assignor_properties.py"),
        catalogue_id="sticky-same-generation-multi-claim",
    ),
    Mutant(
        name="lowest-generation-wins",
        what="of two claims that of the older generation wins",
        caught_by="stories",
        where="impl",
        find=Told(test="tests/impl/test_assignor_properties.py"),
        catalogue_id="librdkafka-lowest-generation-wins",
    ),
]
