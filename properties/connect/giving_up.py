"""What workers give up: what runs is claimed, and what is revoked has stopped."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    RunEnded,
    TaskStarted,
    WorkerClaimed,
    WorkRevocationEnded,
    WorkRevocationStarted,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.worker import SHOWS_WHAT_RUNS, listed


class RunningWorkIsClaimedViolated(Violation):
    """A worker runs work that it does not claim, so that another may get it."""


class RevokedWorkHasStoppedViolated(Violation):
    """A worker went on to its next assignment while revoked work was running."""


class _Claimed(WorkerFold):
    bookkeeping = frozenset({RunEnded})
    needs = ((ConnectAssignmentReceived,), (ConnectorStarted, TaskStarted))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            WorkerClaimed: self.look,
            AssignmentAccepted: self.look,
            RunEnded: self.on_ended,
        }
        super().__init__(invariant, handlers)

    def on_ended(self, event: RunEnded) -> None:
        """What the run names as running beyond a claim was left by an eager round."""
        for name, work in event.unclaimed:
            worker = self.memory.of(name)
            if worker.received is not None and work not in worker.leftovers:
                self.contradiction(
                    f"{name} runs {work} to the end and does not claim it",
                    (f"{name} received its last assignment, which is none of an eager round that left {work} running, "
                     f"at {STEP}.", worker.received),
                    (f"{work} still runs there at {STEP}: contradiction.", event),
                )  # fmt: skip

    def look(self, event: WorkerClaimed | AssignmentAccepted) -> None:
        """All that runs is in the claim, but for what an eager round left."""
        worker = self.memory.of(event.member)
        if worker.received is None:
            return
        unclaimed = sorted(set(worker.running) - set(worker.claim or ()) - set(worker.leftovers))
        if unclaimed:
            self.contradiction(
                f"{event.member} runs {unclaimed[0]} and does not claim it",
                (f"{event.member} runs {unclaimed[0]} since {STEP}.", worker.running[unclaimed[0]]),
                (f"the assignments up to {STEP} leave it a claim to {listed(worker.claim or ())}.", worker.received),
                (f"{unclaimed[0]} still runs at {STEP}: contradiction.", event),
            )


class _HasStopped(WorkerFold):
    """Revoked work has stopped, or was cancelled, when ``onRevoked`` returns, and that is before ``onAssigned``."""

    needs = ((ConnectorStarted, TaskStarted),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {WorkRevocationEnded: self.on_ended, ConnectAssignmentReceived: self.on_received})

    def on_ended(self, event: WorkRevocationEnded) -> None:
        """Nothing of it runs."""
        self._judge(event, event.work, "the revocation is over")

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """What the assignment revokes was stopped before."""
        self._judge(event, event.revoked, "its assignment revokes it")

    def _judge(self, event: WorkRevocationEnded | ConnectAssignmentReceived, work: tuple[str, ...], why: str) -> None:
        worker = self.memory.of(event.member)
        running = worker.running
        left = sorted(set(work) & set(running) - set(worker.leftovers))
        if left:
            self.contradiction(
                f"{event.member} still runs {left[0]}, which was revoked",
                (f"{event.member} runs {left[0]} since {STEP}.", running[left[0]]),
                (f"{why} at {STEP}, and {left[0]} runs: contradiction.", event),
            )


RunningWorkIsClaimed: Final = Invariant(
    name="running_work_is_claimed",
    family="connect_work",
    claim="whenever a worker joins, or accepts an assignment, and when a run ends, it claims all that it runs",
    source="KIP-415; WorkerCoordinator.onJoinComplete, DistributedHerder.RebalanceListener.onRevoked",
    premises=(
        "what it ran under an incremental protocol when an eager assignment came may go on (KAFKA-13816)",
        "a run names in RunEnded what workers run beyond their claims",
    ),
    exempted_by=(*SHOWS_WHAT_RUNS, ConnectAssignmentReceived, WorkRevocationStarted),
    violation=RunningWorkIsClaimedViolated,
    fold=_Claimed,
)
"""The smallest history that breaks it::

    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3, assigned=())
    TaskStarted(member="w0", generation=1, task="c-0")
    WorkerClaimed(member="w0", generation=1, url="u", config_offset=3, claim=())
"""


RevokedWorkHasStopped: Final = Invariant(
    name="revoked_work_has_stopped",
    family="connect_work",
    claim="when a worker has done with a revocation, and before it takes the assignment that revokes, the revoked work "
    "has stopped or was cancelled",
    source="KIP-415; DistributedHerder.RebalanceListener.onRevoked; KAFKA-10763",
    exempted_by=SHOWS_WHAT_RUNS,
    violation=RevokedWorkHasStoppedViolated,
    fold=_HasStopped,
)
"""The smallest history that breaks it::

    TaskStarted(member="w0", generation=1, task="c-0")
    ConnectAssignmentReceived(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3, revoked=("c-0",))
"""


CLAIMS: Final = (RunningWorkIsClaimed, RevokedWorkHasStopped)
"""In the order in which reports name them."""
