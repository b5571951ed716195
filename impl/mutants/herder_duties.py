"""Mutants of what a herder does of itself: it applies what it read, verifies tasks, reads on, and answers others."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.runtime.options import ClusterMode, FaultKind, SimulatedProtocol, SimulationOptions

_CONNECT: Final = FuzzSearch(options=SimulationOptions(protocol=SimulatedProtocol.CONNECT), first=0, last=300)
_EXACTLY_ONCE: Final = FuzzSearch(
    options=SimulationOptions(protocol=SimulatedProtocol.CONNECT, mode=ClusterMode.EXACTLY_ONCE), first=0, last=300
)
_OUTAGES: Final = FuzzSearch(
    options=SimulationOptions(protocol=SimulatedProtocol.CONNECT, faults=(FaultKind.CONFIG_OUTAGE,)),
)


def _mutant(name: str, what: str, caught_by: str, find: FuzzSearch = _CONNECT) -> Mutant:
    return Mutant(name=name, what=what, caught_by=caught_by, where="impl", find=find)


HERDER_DUTY_MUTANTS: Final = [
    _mutant(
        "target-states-wait-for-other-news",
        "a herder applies a target state that it has read when it reads of connectors or task configs, too",
        "read_changes_are_applied",
    ),
    _mutant(
        "verification-is-not-read",
        "a herder lets a task start whether or not its task configs are the newest, or could be read",
        "verified_tasks_start",
        _EXACTLY_ONCE,
    ),
    _mutant(
        "unread-configs-are-joined-with",
        "a herder that could not read the config topic for an assignment joins again before it has read it",
        "unread_configs_are_read_first",
    ),
    _mutant(
        "unread-worker-stays-in-its-group",
        "a worker that could not read the config topic in time stays in its group",
        "unread_configs_are_read_first",
        _OUTAGES,
    ),
    _mutant(
        "incremental-worker-stops-all",
        "an incremental worker stops all that it claims before it joins",
        "rounds_have_a_reason",
    ),
    _mutant(
        "paused-work-is-started",
        "a herder starts work as if each connector were to run",
        "only_started_work_runs",
    ),
    _mutant(
        "follower-says-that-it-wrote",
        "a worker that does not lead answers 204 to another worker, and does nothing",
        "workers_get_true_answers",
    ),
]
"""In the order of the claims that they break."""
