"""Conformance testing: the model's members drive a coordinator under test, which is held to every predicted reply.

Works with any `Transport`: the coordinator in this process (`rebalance_check.impl.conformance.in_process`), Kafka's own
in virtual time, or a broker on a socket.
"""

from rebalance_check.impl.conformance.answers import Answer, OwnedPartitions
from rebalance_check.impl.conformance.exhaustive import DivergentSchedule, ExhaustiveResult, every_transition
from rebalance_check.impl.conformance.outcome import Divergence, Step, StepOutcome
from rebalance_check.impl.conformance.run import ConformanceRun
from rebalance_check.impl.conformance.steered_transport import SteeredTransport
from rebalance_check.impl.conformance.subject import ConformanceSubject
from rebalance_check.impl.conformance.transport import SIDE_CONNECTION, Transport

__all__ = [
    "SIDE_CONNECTION",
    "Answer",
    "ConformanceRun",
    "ConformanceSubject",
    "Divergence",
    "DivergentSchedule",
    "ExhaustiveResult",
    "OwnedPartitions",
    "SteeredTransport",
    "Step",
    "StepOutcome",
    "Transport",
    "every_transition",
]
