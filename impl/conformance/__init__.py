"""ConformanceRun: a coordinator under test is driven by the client side of the model, and held to every answer it predicts.

Works with whatever stands behind a `Transport`: the coordinator in this process (`rebalance_check.impl.conformance.in_process`), or
a broker on a socket.
"""

from rebalance_check.impl.conformance.answers import Answer, Claim
from rebalance_check.impl.conformance.exhaustive import Conformance, DivergentPath, every_transition
from rebalance_check.impl.conformance.outcome import Divergence, Outcome, Step
from rebalance_check.impl.conformance.run import ConformanceRun
from rebalance_check.impl.conformance.subject import ConformanceSubject
from rebalance_check.impl.conformance.transport import STRAY, FailingTransport, Observation, Transport

__all__ = [
    "STRAY",
    "Answer",
    "Claim",
    "Conformance",
    "ConformanceRun",
    "ConformanceSubject",
    "Divergence",
    "DivergentPath",
    "FailingTransport",
    "Observation",
    "Outcome",
    "Step",
    "Transport",
    "every_transition",
]
