"""ConformanceRun: a coordinator under test is driven by the client side of the model, and held to every answer it predicts.

Works with whatever stands behind a `Transport`: the coordinator in this process (`rebalance_check.impl.conformance.in_process`), or
a broker on a socket.
"""

from rebalance_check.impl.conformance.answers import Answer, Claim
from rebalance_check.impl.conformance.exhaustive import DivergentSchedule, ExhaustiveResult, every_transition
from rebalance_check.impl.conformance.outcome import Divergence, Outcome, Step
from rebalance_check.impl.conformance.run import ConformanceRun
from rebalance_check.impl.conformance.steered_transport import SteeredTransport
from rebalance_check.impl.conformance.subject import ConformanceSubject
from rebalance_check.impl.conformance.transport import STRAY, Transport

__all__ = [
    "STRAY",
    "Answer",
    "Claim",
    "ConformanceRun",
    "ConformanceSubject",
    "Divergence",
    "DivergentSchedule",
    "ExhaustiveResult",
    "Outcome",
    "SteeredTransport",
    "Step",
    "Transport",
    "every_transition",
]
