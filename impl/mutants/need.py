"""Mutants that cost a group work without need: a rebalance, a join or a loss that nothing asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions

_COOPERATIVE: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.COOPERATIVE))
_EAGER: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _EAGER) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


NEED_MUTANTS: Final = [
    _mutant(
        "repeated-join-rebalances",
        "a follower that joins a Stable group again with the same metadata starts a rebalance",
        "rebalance_has_a_cause",
        find=replace(_EAGER, first=40, last=50),
    ),
    _mutant(
        "static-restart-rebalances",
        "a static member that comes back to a Stable group starts a rebalance, as if it were new",
        "rebalance_has_a_cause",
        find=replace(_EAGER, first=30, last=40),
    ),
    _mutant(
        "broken-connection-rejoins",
        "a member that lost contact with its coordinator joins again, though its membership goes on",
        "wire_no_needless_join",
    ),
    _mutant(
        "waiting-member-expires",
        "the session of a member ends while its SyncGroup or JoinGroup waits",
        "member_removal_has_a_cause",
    ),
    _mutant(
        "closing-member-loses",
        "a settled member that closes loses what it owns, and commits none of it, instead of revoking it",
        "membership_ends_for_a_reason",
    ),
]
