"""While work waits for a delay, no worker gives up what another could have: that would cost two rounds for one."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rebalance_check.model.vocabulary.events import ConnectAssignmentComputed
from rebalance_check.properties.connect.worker import NO_ERROR
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.holdings import EAGER


class DelayPostponesRevocationsViolated(Violation):
    """A leader took work from a worker for the balance while a delay runs."""


class _Postpones(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectAssignmentComputed: self.on_computed})
        self.compared = 0

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """Only what is configured no more, or what two workers claim, is taken during a delay."""
        if event.error != NO_ERROR or event.protocol == EAGER or not event.delay_ms:
            return
        self.compared = (self.compared or 0) + 1
        claimed = Counter(work for _, some in event.claims for work in some)
        for member, some in event.revoked:
            taken = [work for work in some if work in event.configured and claimed[work] == 1]
            if taken:
                self.contradiction(
                    f"{taken[0]} is taken from {member} while a delay of {event.delay_ms} ms runs",
                    (f"{event.member} computed generation {event.generation} at {STEP}, with a delay of "
                     f"{event.delay_ms} ms; {taken[0]} is configured, and {member} alone claims it: contradiction.",
                     event),
                )  # fmt: skip
                return


DelayPostponesRevocations: Final = Invariant(
    name="delay_postpones_revocations",
    family="connect_rounds",
    claim="a round with a delay takes from a worker only what is configured no more, or what another one claims, too",
    source="KIP-415; IncrementalCooperativeAssignor.performTaskAssignment: no revocation while a delayed rebalance is "
    "active",
    violation=DelayPostponesRevocationsViolated,
    fold=_Postpones,
)
"""The smallest history that breaks it::

    ConnectAssignmentComputed(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, configured=("c",), claims=(("a", ("c",)),), revoked=(("a", ("c",)),),
                              delay_ms=9)
"""

CLAIMS: Final = (DelayPostponesRevocations,)
"""In the order in which reports name them."""
