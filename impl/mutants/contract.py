"""Mutants that break the contract of a coordinator with the code that uses it: callbacks, requests and their times."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions

_EAGER: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.EAGER))


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _EAGER) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


CONTRACT_MUTANTS: Final = [
    _mutant(
        "unknown-member-joins-after-a-backoff",
        "a member whose JoinGroup is answered UNKNOWN_MEMBER_ID waits before it joins as a new one",
        "refused_join_joins_again",
    ),
    _mutant(
        "closing-member-leaves-against-its-setting",
        "who closes sends LeaveGroup exactly when internal.leave.group.on.close is false",
        "who_leaves_says_so",
    ),
    _mutant(
        "static-member-leaves",
        "a static member that closes sends LeaveGroup",
        "who_leaves_says_so",
    ),
]
