"""While work waits for a delay, no worker gives up what another could have: that would cost two rounds for one."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentComputed,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
)
from rebalance_check.properties.connect.worker import NO_ERROR
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold, WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.holdings import EAGER
from rebalance_check.properties.views.simulated import SIMULATED


class DelayPostponesRevocationsViolated(Violation):
    """A leader took work from a worker for the balance while a delay runs."""


class DelaysRunOutViolated(Violation):
    """A leader prolonged a delay that runs."""


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


class _RunsOut(SimulatedWorkerFold):
    """Per process: the last round that it computed with a delay."""

    bookkeeping = frozenset({MemberStarted, MemberCrashed, MemberLeft})

    def __init__(self, invariant: Invariant) -> None:
        gone: dict[type[Event], Handler] = dict.fromkeys((MemberStarted, MemberCrashed, MemberLeft), self.on_gone)
        super().__init__(invariant, {**gone, ConnectAssignmentComputed: self.on_computed})
        self.compared = 0
        self._delayed: dict[str, ConnectAssignmentComputed] = {}

    def on_gone(self, event: MemberEvent) -> None:
        """Its assignor remembers nothing."""
        self._delayed.pop(event.member, None)

    def on_computed(self, event: ConnectAssignmentComputed) -> None:
        """A round while a delay runs waits for the rest of it."""
        if event.error != NO_ERROR or event.protocol == EAGER or not self.run.is_simulated:
            return
        before = self._delayed.pop(event.member, None)
        if event.delay_ms:
            self._delayed[event.member] = event
        if before is None or not event.delay_ms:
            return
        ends_ms = before.time_ms + before.delay_ms
        if event.time_ms >= ends_ms:
            return
        self.compared = (self.compared or 0) + 1
        if event.time_ms + event.delay_ms > ends_ms:
            self.contradiction(
                f"a delay of {event.member} ends {event.time_ms + event.delay_ms - ends_ms} ms later than it was to",
                (f"{event.member} computed a round at {STEP}, with a delay of {before.delay_ms} ms;", before),
                (f"the next one, at {STEP}, has a delay of {event.delay_ms} ms, and not the rest: contradiction.",
                 event),
            )  # fmt: skip


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

DelaysRunOut: Final = Invariant(
    name="delays_run_out",
    family="connect_rounds",
    claim="a round that a leader computes while its delay runs waits for the rest of the delay at most",
    source="KIP-415; IncrementalCooperativeAssignor.handleLostAssignments, calculateDelay",
    premises=(SIMULATED, "the same process computed both rounds, one after the other"),
    exempted_by=(MemberStarted, MemberCrashed, MemberLeft),
    violation=DelaysRunOutViolated,
    fold=_RunsOut,
)
"""Else a group that rebalances again and again never gives lost work to another worker.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    ConnectAssignmentComputed(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, delay_ms=9000)
    ConnectAssignmentComputed(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=2, delay_ms=9000, time_ms=1000)
"""

CLAIMS: Final = (DelayPostponesRevocations, DelaysRunOut)
"""In the order in which reports name them."""
