"""What workers run: each connector and task once, started when it was accepted."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConnectAssignmentReceived,
    ConnectorStarted,
    CoordinatorLost,
    IncarnationStarted,
    LogTailLost,
    MemberJoined,
    MemberPaused,
    MemberRemoved,
    MembershipLost,
    TaskStarted,
    WorkerConfigured,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.worker import SHOWS_WHAT_RUNS, Started, Worker, listed, work_of


class WorkRunsOnceViolated(Violation):
    """A connector or task runs on two workers."""


class OnlyAcceptedWorkStartsViolated(Violation):
    """A worker started work that no assignment gave it, or before it accepted the assignment."""


class _Once(WorkerFold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectorStarted: self.on_started, TaskStarted: self.on_started})

    def on_started(self, event: Started) -> None:
        """No other worker runs it, but for workers that were removed unawares, and what an eager round left."""
        work = work_of(event)
        worker = self.memory.of(event.member)
        if work in worker.outdated:
            return
        for name, other in self.memory.runners[work].items():
            overtaken = other.received is not None and self.memory.is_behind(worker, other.received.generation)
            excused = overtaken or worker.ignores(other) or self._is_excused(other, work, event)
            if name != event.member and not excused:
                self._report(other, work, event)
                return

    def _is_excused(self, other: Worker, work: str, event: Started) -> bool:
        """Whether the other worker is one of those that do not know what others run."""
        behind = self.memory.is_behind(other, event.generation)
        return behind or work in other.outdated or work in other.leftovers

    def _report(self, other: Worker, work: str, event: Started) -> None:
        first, second = sorted((other.name, event.member))
        self.contradiction(
            f"{work} runs on {first} and {second}",
            (f"{other.name} runs {work} since {STEP}; it has not stopped it since.", other.running[work]),
            (f"{event.member} started {work} at {STEP}: contradiction.", event),
        )


class _OnlyAccepted(WorkerFold):
    needs = ((ConnectAssignmentReceived,), (WorkerConfigured,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {ConnectorStarted: self.on_started, TaskStarted: self.on_started})

    def on_started(self, event: Started) -> None:
        """Accepted with some assignment, and not revoked since; a restart is of accepted work."""
        worker, work = self.memory.of(event.member), work_of(event)
        if worker.received is None or worker.configured is None or work in worker.admitted:
            return
        self.contradiction(
            f"{event.member} started {work}, which it has not accepted",
            (f"{event.member} received its last assignment, to {listed(worker.received.assigned)}, at {STEP}; since "
             f"it gave {work} up last, it has accepted no assignment with it.", worker.received),
            (f"it started {work} at {STEP}: contradiction.", event),
        )  # fmt: skip


WorkRunsOnce: Final = Invariant(
    name="work_runs_once",
    family="connect_work",
    claim="a connector or task runs on one worker at a time",
    source="KIP-415; DistributedHerder.startWork, RebalanceListener.onRevoked",
    premises=(
        "what a worker cancelled may still run; it is not counted",
        "a worker that learned that it is no member, or that the coordinator's events show removed, may run what it "
        "ran until its next assignment; without these events, so may one that was paused or lost its coordinator, and "
        "all where a log lost its end",
        "a herder notices that its membership ended when it polls: until it joins again it restarts work that it "
        "accepted and did not give up, as a new configuration or a restart request wants (KAFKA-16056)",
        "so may a worker that these events show in a later generation than it has joined: its JoinGroup came twice, "
        "or it was paused and reads the assignment of an older one late",
        "an eager assignment is made whatever workers run since an incremental one, and one that gets it in place of "
        "its claim may go on with the rest (KAFKA-13816); where assignments are not recorded, that is a violation",
    ),
    exempted_by=(
        *SHOWS_WHAT_RUNS,
        AssignmentAccepted,
        ConnectAssignmentReceived,
        CoordinatorLost,
        IncarnationStarted,
        LogTailLost,
        MemberJoined,
        MemberPaused,
        MemberRemoved,
        MembershipLost,
    ),
    violation=WorkRunsOnceViolated,
    fold=_Once,
)
"""Whatever the generation. The smallest history that breaks it::

    TaskStarted(member="w0", generation=1, task="c-0")
    TaskStarted(member="w1", generation=2, task="c-0")
"""

OnlyAcceptedWorkStarts: Final = Invariant(
    name="only_accepted_work_starts",
    family="connect_work",
    claim="a worker starts only what it accepted with an assignment and has not given up since",
    source="DistributedHerder.startWork; KAFKA-16056",
    premises=("a worker that records its settings records which assignments it accepts",),
    exempted_by=(AssignmentAccepted,),
    violation=OnlyAcceptedWorkStartsViolated,
    fold=_OnlyAccepted,
)
"""Between assignment and acceptance a worker claims what it does not run. The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible")
    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3, assigned=("c",))
    ConnectorStarted(member="w0", generation=1, connector="c")
"""


CLAIMS: Final = (WorkRunsOnce, OnlyAcceptedWorkStarts)
"""In the order in which reports name them."""
