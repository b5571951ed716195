"""The deterministic simulator: one seed in, one history out.

``schedule`` draws the churn of groups, ``status_churn`` and ``config_churn`` that of stores, ``environment`` holds
clock, network, nodes and processes, ``nodes`` coordinate, ``process`` is one member with its two threads,
``group`` builds their applications, ``convergence`` heals and waits; ``status_cluster`` and ``config_cluster`` are
clusters of stores. ``subject`` runs each of them behind the interface that every `Subject` has, and
``simulation`` a seed on it.
"""

from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator.schedule import churn_schedule, drawn_protocol
from rebalance_check.impl.simulator.simulation import simulate, simulate_into
from rebalance_check.impl.simulator.subject import SimulatorSubject

__all__ = [
    "FaultKind",
    "SimulatedProtocol",
    "SimulationOptions",
    "SimulatorSubject",
    "churn_schedule",
    "drawn_protocol",
    "simulate",
    "simulate_into",
]
