"""A worker announces by statuses what it starts."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConnectAssignmentReceived,
    ConnectorStarted,
    Event,
    MemberCrashed,
    MemberLeft,
    MemberStarted,
    RejoinRequested,
    StatusAttempted,
    TaskStarted,
    WorkerClaimed,
    WorkerConfigured,
    WorkStateChanged,
)
from rebalance_check.properties.connect.statuses import work_named
from rebalance_check.properties.connect.worker import SHOWS_WHAT_RUNS, Started, work_of
from rebalance_check.properties.connect.worker_fold import CONVERGED, Converged, WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.stores import item_of
from rebalance_check.properties.verdict import STEP, Violation


class StartsAreAnnouncedViolated(Violation):
    """A worker runs work and never wrote a status for it."""


class _Starts(WorkerFold):
    needs = ((WorkerConfigured,), (ConnectorStarted, TaskStarted), (ConnectAssignmentReceived,))
    bookkeeping = frozenset(
        {ConnectorStarted, TaskStarted, StatusAttempted, WorkStateChanged, MemberStarted, MemberCrashed, MemberLeft}
    )

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(
            invariant,
            {
                ConnectorStarted: self.on_started,
                TaskStarted: self.on_started,
                WorkStateChanged: self.on_state,
                StatusAttempted: self.on_attempted,
                **dict.fromkeys(CONVERGED, self.on_converged),
                **dict.fromkeys((MemberStarted, MemberCrashed, MemberLeft), self.on_gone),
            },
        )
        self._silent: dict[tuple[str, str], Event] = {}

    def on_started(self, event: Started) -> None:
        """RUNNING is due, or PAUSED where it was started so."""
        if self.memory.of(event.member).store:
            self._silent[event.member, work_of(event)] = event

    def on_state(self, event: WorkStateChanged) -> None:
        """Its new state is due."""
        if self.memory.of(event.member).store:
            self._silent[event.member, event.work] = event

    def on_attempted(self, event: StatusAttempted) -> None:
        """The announcement."""
        worker = self.memory.of_store(event.worker)
        if worker is not None:
            self._silent.pop((worker.name, work_named(item_of(event.key))), None)

    def on_gone(self, event: MemberStarted | MemberCrashed | MemberLeft) -> None:
        """The worker ended."""
        for name, work in [key for key in self._silent if key[0] == event.member]:
            del self._silent[name, work]

    def on_converged(self, event: Converged) -> None:
        """By now all that runs or failed was announced."""
        if not self.converged():
            return
        for (name, work), since in sorted(self._silent.items(), key=lambda each: each[0]):
            worker = self.memory.of(name)
            if work in worker.running or work in worker.failed:
                self.contradiction(
                    f"{name} wrote no status of {work} since it changed",
                    (f"{work} changed at {name} at {STEP}.", since),
                    (f"no status of it was written up to {STEP}, when the group had converged: contradiction.", event),
                )


StartsAreAnnounced: Final = Invariant(
    name="starts_are_announced",
    family="connect_statuses",
    claim="when the group has converged, a worker has written a status of all that it runs, since it changed last",
    source="WorkerTask.onStartup, WorkerConnector.onStartup, onPause, onFailure",
    premises=("all workers are at rest in one generation, without error and delay, and know no newer configs",),
    needs_end=True,
    exempted_by=(*SHOWS_WHAT_RUNS, RejoinRequested, StatusAttempted, WorkerClaimed),
    violation=StartsAreAnnouncedViolated,
    fold=_Starts,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", store="w0")
    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=9, assigned=("c-0",))
    TaskStarted(member="w0", generation=1, task="c-0")
    RunSettled()
"""


CLAIMS: Final = (StartsAreAnnounced,)
"""In the order in which reports name them."""
