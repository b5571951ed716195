"""Mutants of Connect workers: what they do with fencing, configs and statuses."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import ClusterMode, SimulatedProtocol, SimulationOptions


def _search(mode: ClusterMode, first: int = 0) -> FuzzSearch:
    options = SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=mode)
    return FuzzSearch(options=options, first=first, last=first + 150)


_ANY: Final = _search(ClusterMode.ANY)
_EXACTLY_ONCE: Final = _search(ClusterMode.EXACTLY_ONCE)


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _ANY) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


WORKER_DUTY_MUTANTS: Final = [
    _mutant(
        "fencing-leaves-the-epoch",
        "fencing a transactional id takes no epoch: the producer that is fenced can write on",
        "producer_epochs_grow",
        _EXACTLY_ONCE,
    ),
    _mutant(
        "cached-status-is-not-written-again",
        "a status store does not write a status that it has read of the same connector or task",
        "last_status_says_what_runs",
    ),
]
"""In the order of the claims that they break."""
