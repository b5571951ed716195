"""Mutants of the client coordinators, at least one for each claim about what clients do by themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions

_COOPERATIVE: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE), last=300)


_METADATA: Final = FuzzSearch(
    options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE, faults=(FaultKind.METADATA,))
)


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _COOPERATIVE) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


CLIENT_CLAIM_MUTANTS: Final = [
    _mutant(
        "additions-ignored-by-owners",
        "a COOPERATIVE member that owns partitions takes no others in addition",
        "owned_equals_assigned",
    ),
    _mutant(
        "cooperative-revokes-all-before-joining",
        "a COOPERATIVE member revokes everything before it joins, as if it were EAGER",
        "cooperative_keeps_what_it_owns",
    ),
    _mutant(
        "leader-overlooks-new-partitions",
        "a leader that learns of new partitions does not join again",
        "every_partition_gets_an_owner",
        replace(_METADATA, first=20, last=30),
    ),
    _mutant(
        "lost-partitions-revoked",
        "a member that was thrown out gives its partitions up as if it still owned them",
        "reset_member_loses_everything",
    ),
    _mutant(
        "positions-outlive-ownership",
        "a member goes on committing what it consumed of partitions that it does not own any more",
        "lost_is_not_committed",
    ),
    _mutant(
        "single-revocation-not-worth-a-join",
        "a COOPERATIVE member that revoked one partition does not join again for it",
        "every_partition_gets_an_owner",
    ),
]
