"""How workers take assignments: at the right config offset, with the right configs, and ask for what must follow."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    ConnectorStarted,
    MemberCrashed,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    RejoinRequested,
    RunEnded,
    RunSettled,
    TaskStarted,
    WorkerClaimed,
)
from rebalance_check.properties.connect.worker_fold import CONVERGED, Converged, WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.worker import NO_ERROR, SHOWS_WHAT_RUNS, Worker, connector_of, listed


class StartWaitsForConfigsViolated(Violation):
    """A worker began to start work while its configs were not those of the assignment, or after a failed one."""


class RevocationLeadsToRejoinViolated(Violation):
    """A worker gave work up and did not join again, so that no other worker gets the work."""


class TasksRunTheirConfigsViolated(Violation):
    """A task runs with a configuration that its worker knows to be replaced."""


class ConfiguredWorkRunsViolated(Violation):
    """The group converged, and configured work does not run."""


class _WaitsForConfigs(WorkerFold):
    needs = ((ConnectAssignmentReceived,),)

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {AssignmentAccepted: self.on_accepted})

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """The worker has read exactly as far as the assignment was computed from."""
        received = self.memory.of(event.member).received
        if received is None:
            return
        if received.error != NO_ERROR:
            why = f"that assignment failed with {received.error}"
        elif received.config_offset != event.config_offset:
            why = f"its configs are at offset {event.config_offset}, not {received.config_offset}"
        elif received.generation != event.generation:
            why = f"it does so for generation {event.generation}"
        else:
            return
        self.contradiction(
            f"{event.member} accepted an assignment although {why}",
            (f"{event.member} received the assignment of generation {received.generation} at {STEP}, computed at "
             f"config offset {received.config_offset}.", received),
            (f"it begins to start {listed(event.work)} at {STEP}, and {why}: contradiction.", event),
        )  # fmt: skip


class _Rejoins(WorkerFold):
    """Work that was revoked goes to another worker only in a further round, which its last owner asks for."""

    needs = ((ConnectAssignmentReceived,), (AssignmentAccepted,))
    bookkeeping = frozenset(
        {ConnectAssignmentReceived, RejoinRequested, WorkerClaimed, MembershipLost, MemberCrashed, MemberLeft,
         MemberStarted, AssignmentAccepted}
    )  # fmt: skip

    def __init__(self, invariant: Invariant) -> None:
        ends = (RejoinRequested, WorkerClaimed, MembershipLost, MemberCrashed, MemberLeft, MemberStarted)
        super().__init__(
            invariant,
            {
                **dict.fromkeys(ends, self.on_rejoined),
                ConnectAssignmentReceived: self.on_received,
                AssignmentAccepted: self.on_accepted,
                RunSettled: self.on_end,
                RunEnded: self.on_end,
            },
        )
        self._revoked: dict[str, ConnectAssignmentReceived] = {}
        self._due: dict[str, ConnectAssignmentReceived] = {}

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """What it gives up it must ask others to be given."""
        self._due.pop(event.member, None)
        self._revoked.pop(event.member, None)
        if event.revoked and event.error == NO_ERROR:
            self._revoked[event.member] = event

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """When it has started the rest, the further round is due."""
        received = self._revoked.pop(event.member, None)
        if received is not None:
            self._due[event.member] = received

    def on_rejoined(
        self, event: RejoinRequested | WorkerClaimed | MembershipLost | MemberCrashed | MemberLeft | MemberStarted
    ) -> None:
        """It joins again, or is no member."""
        self._due.pop(event.member, None)
        self._revoked.pop(event.member, None)

    def on_end(self, event: RunSettled | RunEnded) -> None:
        """No further round is in sight."""
        for name in sorted(self._due):
            received = self._due[name]
            self.contradiction(
                f"{name} gave up {listed(received.revoked)} and did not ask for another round",
                (f"{name} received an assignment that revokes {listed(received.revoked)} at {STEP}.", received),
                (f"it started the rest, and had asked for no rebalance by {STEP}: contradiction.", event),
            )
        self._due.clear()


class _TheirConfigs(WorkerFold):
    needs = ((TaskStarted,), (ConfigSnapshotTaken,), (ConnectAssignmentReceived,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, dict.fromkeys(CONVERGED, self.on_converged))

    def on_converged(self, event: Converged) -> None:
        """By now every worker has restarted the tasks whose configs changed."""
        if self.converged():
            for worker in self.each_worker():
                self._judge(worker, event)

    def _judge(self, worker: Worker, event: Converged) -> None:
        snapshot = worker.snapshot
        if snapshot is None:
            return
        configs, applied = dict(snapshot.task_configs), dict(snapshot.applied)
        for work, started in sorted(worker.running.items()):
            if not isinstance(started, TaskStarted) or work not in snapshot.tasks or work in worker.leftovers:
                continue
            wanted = (configs.get(work), applied.get(connector_of(work)))
            if _differ(started.config, wanted[0]) or _differ(started.connector_config, wanted[1]):
                self.contradiction(
                    f"{work} runs on {worker.name} with a configuration that was replaced",
                    (f"{worker.name} started {work} at {STEP}.", started),
                    (f"its snapshot of offset {snapshot.offset}, at {STEP}, has another one for it.", snapshot),
                    (f"{work} still runs with the old one at {STEP}: contradiction.", event),
                )


def _differ(has: str, wanted: str | None) -> bool:
    """Whether both are known and are not the same."""
    return bool(has) and wanted is not None and has != wanted


class _Runs(WorkerFold):
    needs = ((ConnectAssignmentReceived,), (ConfigSnapshotTaken,))

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, dict.fromkeys(CONVERGED, self.on_converged))

    def on_converged(self, event: Converged) -> None:
        """Each connector and task of the newest configs runs, failed, or is paused or stopped on some worker."""
        if not self.converged():
            return
        workers = [worker for worker in self.each_worker() if worker.received is not None]
        snapshots = [worker.snapshot for worker in workers if worker.snapshot is not None]
        if not snapshots:
            return
        newest = max(snapshots, key=lambda snapshot: snapshot.offset)
        present = {work for worker in workers for work in (*worker.running, *worker.failed, *worker.states)}
        missing = [work for work in (*(name for name, _ in newest.connectors), *newest.tasks) if work not in present]
        if missing:
            self.contradiction(
                f"{missing[0]} is configured and runs nowhere",
                (f"{newest.member} saw {missing[0]} in its configs of offset {newest.offset} at {STEP}.", newest),
                (f"the group converged at {STEP}, and no worker runs it: contradiction.", event),
            )


StartWaitsForConfigs: Final = Invariant(
    name="start_waits_for_configs",
    family="connect_work",
    claim="a worker starts what it was assigned only when the assignment has no error and the worker has read the "
    "config topic exactly as far as the leader had",
    source="DistributedHerder.handleRebalanceCompleted",
    violation=StartWaitsForConfigsViolated,
    fold=_WaitsForConfigs,
)
"""The smallest history that breaks it::

    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3, assigned=("c",))
    AssignmentAccepted(member="w0", generation=1, config_offset=2, work=("c",))
"""

RevocationLeadsToRejoin: Final = Invariant(
    name="revocation_leads_to_rejoin",
    family="connect_work",
    claim="a worker from which an assignment without error revokes work asks for one more round when it has accepted "
    "it",
    source="KIP-415; DistributedHerder.handleRebalanceCompleted",
    needs_end=True,
    exempted_by=(MemberCrashed, MemberLeft, MembershipLost, MemberStarted, RejoinRequested, WorkerClaimed),
    violation=RevocationLeadsToRejoinViolated,
    fold=_Rejoins,
)
"""Only then may others have the work. The smallest history that breaks it::

    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3, revoked=("c",))
    AssignmentAccepted(member="w0", generation=1, config_offset=3, work=())
    RunEnded()
"""

TasksRunTheirConfigs: Final = Invariant(
    name="tasks_run_their_configs",
    family="connect_work",
    claim="when the group has converged, each task runs with the configuration that its worker knows, generated from "
    "the connector's",
    source="DistributedHerder.processTaskConfigUpdatesWithIncrementalCooperative; KAFKA-8449, KAFKA-9228",
    premises=(
        "a text is equal where a configuration is equal; an empty one is unknown",
        "all workers are at rest in one generation, without error and delay, and know no newer configs",
    ),
    needs_end=True,
    exempted_by=(*SHOWS_WHAT_RUNS, RejoinRequested, WorkerClaimed),
    violation=TasksRunTheirConfigsViolated,
    fold=_TheirConfigs,
)
"""The smallest history that breaks it::

    TaskStarted(member="w0", generation=1, task="c-0", config="old")
    ConfigSnapshotTaken(member="w0", offset=9, connectors=(("c", "x"),), tasks=("c-0",), task_configs=(("c-0", "new"),))
    ConnectAssignmentReceived(member="w0", generation=2, protocol="compatible", leader="a", leader_url="u",
                              config_offset=9)
    RunSettled()
"""

ConfiguredWorkRuns: Final = Invariant(
    name="configured_work_runs",
    family="connect_work",
    claim="when the group has converged, every configured connector and task runs, failed, or is paused or stopped on "
    "some worker",
    source="KIP-415; DistributedHerder.startWork",
    premises=(
        "all workers are at rest in one generation, without error and delay, and know no newer configs",
        "every worker records what it starts",
    ),
    needs_end=True,
    exempted_by=(ConnectorStarted, RejoinRequested, TaskStarted, WorkerClaimed),
    violation=ConfiguredWorkRunsViolated,
    fold=_Runs,
)
"""Nothing is lost. The smallest history that breaks it::

    ConfigSnapshotTaken(member="w0", offset=9, connectors=(("c", "x"),))
    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=9)
    RunSettled()
"""

CLAIMS: Final = (
    StartWaitsForConfigs,
    RevocationLeadsToRejoin,
    TasksRunTheirConfigs,
    ConfiguredWorkRuns,
)
"""In the order in which reports name them."""
