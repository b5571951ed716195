"""A call that asks to be made again waits for something: a consumer for a commit, a worker for work to stop."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ON_JOIN_PREPARE,
    UNFINISHED,
    CallbackEnded,
    Event,
    MemberEvent,
    MemberStarted,
    WorkRevocationEnded,
    WorkRevocationStarted,
)
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.record.serving import FAMILY
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED, SimulatedFold


class RepeatedCallsWaitForSomethingViolated(Violation):
    """A call of a member's user asked to be made again, and there was nothing that it could wait for."""


class _Repeated(SimulatedFold):
    """Per process: its begin, and whether a revocation of it is under way."""

    bookkeeping = frozenset({*PROCESS, WorkRevocationEnded, WorkRevocationStarted})
    needs = ((MemberStarted,), (CallbackEnded,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            WorkRevocationStarted: self.on_revoking,
            WorkRevocationEnded: self.on_revoked,
            CallbackEnded: self.on_return,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._started: dict[str, MemberStarted] = {}
        self._revoking: set[str] = set()

    def on_process(self, event: MemberEvent) -> None:
        """Another process waits for nothing yet."""
        self._revoking.discard(event.member)
        self._started.pop(event.member, None)
        if isinstance(event, MemberStarted) and self.run.is_recorded:
            self._started[event.member] = event

    def on_revoking(self, event: WorkRevocationStarted) -> None:
        """A worker has to stop work, which takes time."""
        self._revoking.add(event.member)

    def on_revoked(self, event: WorkRevocationEnded) -> None:
        """All of it has stopped."""
        self._revoking.discard(event.member)

    def on_return(self, event: CallbackEnded) -> None:
        """A call that is over, or one to be made again."""
        started = self._started.get(event.member)
        if started is None:
            return
        self.compared = (self.compared or 0) + 1
        if event.outcome == UNFINISHED and not self._waits(started, event):
            self.contradiction(
                f"{event.callback} of {event.member} asks to be called again, and waits for nothing",
                (f"{event.member} began at {STEP};", started),
                (f"its {event.callback} comes back at {STEP} and asks to be called again, and neither a revocation nor "
                 "a commit before a join is under way: contradiction.", event),
            )  # fmt: skip

    def _waits(self, started: MemberStarted, event: CallbackEnded) -> bool:
        may_commit = event.callback == ON_JOIN_PREPARE and started.auto_commit_interval_ms > 0
        return may_commit or event.member in self._revoking


RepeatedCallsWaitForSomething: Final = Invariant(
    name="repeated_calls_wait_for_something",
    family=FAMILY,
    claim="a call that asks to be made again is an onJoinPrepare of a consumer that commits by itself, or one of a "
    "Connect worker that waits for work to stop; all others finish or raise",
    source="AbstractCoordinator.joinGroupIfNeeded; ConsumerCoordinator.onJoinPrepare (returns false); "
    "DistributedHerder.RebalanceListener.onRevoked",
    premises=(RECORDED,),
    exempted_by=(MemberStarted, WorkRevocationStarted),
    violation=RepeatedCallsWaitForSomethingViolated,
    fold=_Repeated,
)
"""Claims excuse a member that is to be called again from all that it leaves undone until then.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="m0")
    CallbackEnded(member="m0", callback="onJoinComplete", outcome="unfinished")
"""

CLAIMS: Final = (RepeatedCallsWaitForSomething,)
"""In the order in which reports name them."""
