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
        "closing-member-leaves-against-its-setting",
        "who closes sends LeaveGroup exactly when internal.leave.group.on.close is false",
        "wire_leaves_on_close",
    ),
    _mutant(
        "static-member-leaves",
        "a static member that closes sends LeaveGroup",
        "wire_static_member_stays",
    ),
]
