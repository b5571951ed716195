"""Lockstep: a coordinator under test is driven by the client side of the model, and held to every answer it predicts.

Works with whatever stands behind a `Transport`: the coordinator in this process (`rebalance_check.impl.reference`), or
a broker on a socket.
"""

from rebalance_check.impl.lockstep.answers import Answer, Claim
from rebalance_check.impl.lockstep.exhaust import Conformance, Divergence, every_transition
from rebalance_check.impl.lockstep.lockstep import Lockstep
from rebalance_check.impl.lockstep.outcome import Difference, Outcome, Step
from rebalance_check.impl.lockstep.subject import LockstepSubject
from rebalance_check.impl.lockstep.transport import STRAY, FailingTransport, Observation, Transport

__all__ = [
    "STRAY",
    "Answer",
    "Claim",
    "Conformance",
    "Difference",
    "Divergence",
    "FailingTransport",
    "Lockstep",
    "LockstepSubject",
    "Observation",
    "Outcome",
    "Step",
    "Transport",
    "every_transition",
]
