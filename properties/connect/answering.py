"""What a worker answers an operator is true: whether it leads, and whether it knows and has what it was asked for."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    CoordinatorLost,
    Event,
    HerderAnswered,
    HerderAsked,
    MemberEvent,
    MembershipLost,
    RejoinRequested,
    WorkerClaimed,
    WorkerConfigured,
    WorkerStopRequested,
)
from rebalance_check.properties.connect.asking import CONFLICT, DONE
from rebalance_check.properties.connect.worker import Worker
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.status.stores import Stores
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.simulated import SIMULATED, Run

NOT_FOUND: Final = 404
"""The HTTP status of a connector that is not there."""

FORBIDDEN: Final = 403
"""The HTTP status of what the worker's own configuration excludes."""

FAILED: Final = 500
"""The HTTP status of a write that failed, and of all that a worker is asked that stops."""

OF_CONFIGURED: Final = frozenset({"pause", "resume", "delete", "stop", "restart"})
"""What can be asked of a connector that is configured alone."""

OF_LEADERS: Final = frozenset({"configure", "delete", "stop", "restart"})
"""What the leader alone does."""

OF_OPERATIONS: Final[dict[str, frozenset[int]]] = {
    "configure": frozenset({DONE, CONFLICT, FAILED}),
    "delete": frozenset({DONE, NOT_FOUND, CONFLICT, FAILED}),
    "stop": frozenset({DONE, NOT_FOUND, CONFLICT, FAILED}),
    "restart": frozenset({DONE, NOT_FOUND, CONFLICT, FAILED}),
    "pause": frozenset({DONE, NOT_FOUND, FAILED}),
    "resume": frozenset({DONE, NOT_FOUND, FAILED}),
    "restart work": frozenset({DONE, CONFLICT, FAILED}),
    "reset topics": frozenset({DONE, FORBIDDEN}),
}
"""The answers that an operation has: who configures a connector makes it, so that none is missing."""

ASTRAY: Final[tuple[type[Event], ...]] = (RejoinRequested, WorkerClaimed, MembershipLost, CoordinatorLost)
"""After these a worker may not know that it leads, until it has accepted an assignment."""


class OperatorsGetTrueAnswersViolated(Violation):
    """A worker answered an operator what its configs, its statuses or its assignment contradict."""


class _Answers(WorkerFold):
    """Per worker: connectors that its herder surely knows, all that it may know, whether it is settled, or stops."""

    run: Run
    stores: Stores
    needs = ((HerderAsked,), (WorkerConfigured,))
    bookkeeping = frozenset({*PROCESS, *ASTRAY, HerderAsked, AssignmentAccepted, ConfigSnapshotTaken,
                             ConnectAssignmentReceived, WorkerStopRequested})  # fmt: skip

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_gone),
            **dict.fromkeys(ASTRAY, self.on_astray),
            AssignmentAccepted: self.on_accepted,
            ConfigSnapshotTaken: self.on_snapshot,
            ConnectAssignmentReceived: self.on_received,
            WorkerStopRequested: self.on_stopping,
            HerderAsked: self.on_asked,
            HerderAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._known: dict[str, set[str]] = {}
        self._seen: dict[str, set[str]] = {}
        self._settled: dict[str, AssignmentAccepted] = {}
        self._rounds: dict[str, int] = {}
        self._stopping: set[str] = set()
        self._asked: Recent[int, tuple[HerderAsked, int, bool]] = Recent(WAITING)

    def share(self, memories: Memories) -> None:
        """What each store has read of statuses, and whether the run is simulated, too."""
        super().share(memories)
        self.run, self.stores = Run.among(memories), Stores.among(memories)
        self.memories = (*self.memories, self.run, self.stores)

    def on_gone(self, event: MemberEvent) -> None:
        """A new process knows nothing."""
        for known in (self._known, self._seen, self._settled):
            known.pop(event.member, None)
        self._stopping.discard(event.member)

    def on_astray(self, event: MemberEvent) -> None:
        """It may not lead."""
        self._settled.pop(event.member, None)

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """Its herder knows the configs of this assignment, and no others."""
        snapshot = self.memory.of(event.member).snapshot
        is_of_it = snapshot is not None and snapshot.offset == event.config_offset
        self._known[event.member] = {name for name, _ in snapshot.connectors} if snapshot and is_of_it else set()
        if is_of_it:
            self._seen[event.member] = set(self._known[event.member])
        self._settled[event.member] = event

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """Its herder may know this one, or still the one before."""
        names = {name for name, _ in event.connectors}
        self._known.get(event.member, set()).intersection_update(names)
        self._seen.setdefault(event.member, set()).update(names)

    def on_received(self, event: ConnectAssignmentReceived) -> None:
        """Another one may lead from here on."""
        self._rounds[event.member] = self._rounds.get(event.member, 0) + 1

    def on_stopping(self, event: WorkerStopRequested) -> None:
        """It refuses all that waits."""
        self._stopping.add(event.member)

    def on_asked(self, event: HerderAsked) -> None:
        """In the midst of a round it is open who leads."""
        rounds, is_settled = self._rounds.get(event.member, 0), event.member in self._settled
        self._asked[event.request] = (event, rounds, is_settled)

    def on_answered(self, event: HerderAnswered) -> None:
        """Compared with what it knows now."""
        asked, rounds, was_settled = self._asked.get(event.request) or (None, 0, False)
        if asked is None or not self.run.is_simulated or event.member not in self._seen:
            return
        self.compared = (self.compared or 0) + 1
        worker = self.memory.of(event.member)
        stays = was_settled and event.member in self._settled and rounds == self._rounds.get(event.member, 0)
        against = _of_operation(asked, event.answer) or self._of_configs(worker, asked, event.answer)
        if not against and asked.operation in OF_LEADERS and stays:
            against = _of_leading(worker, event.answer)
        if not against and asked.operation == "restart work":
            against = _of_work(worker, asked.work, event.answer)
        if against:
            self._report(asked, event, against)

    def _of_configs(self, worker: Worker, asked: HerderAsked, answer: int) -> str:
        """Why its configs, and its statuses, contradict the answer; empty where they do not."""
        if asked.operation not in OF_CONFIGURED:
            return ""
        store = self.stores.stores.get(worker.store)
        cached = None if store is None else store.value(("connector", asked.work))
        is_restart = asked.operation == "restart"
        is_refused = answer == CONFLICT and asked.operation in OF_LEADERS
        if asked.work not in self._seen[worker.name] and answer != NOT_FOUND and not is_refused:
            return "" if answer == FAILED and worker.name in self._stopping else f"it does not know {asked.work}"
        if answer == DONE and is_restart and store is not None and cached is None:
            return f"it knows no status of {asked.work}"
        is_known = asked.work in self._known.get(worker.name, set()) and (cached is not None or not is_restart)
        return f"it knows {asked.work}" if answer == NOT_FOUND and is_known else ""

    def _report(self, asked: HerderAsked, event: HerderAnswered, against: str) -> None:
        worker = self.memory.of(event.member)
        self.contradiction(
            f"{event.member} answers {event.answer} to a request to {asked.operation} {asked.work}, and {against}",
            (f"{event.member} was asked to {asked.operation} {asked.work} at {STEP};", asked),
            (f"what it has been assigned, and who leads, it knows since {STEP};", worker.received),
            (f"the configs that its store read last are those of {STEP};", worker.snapshot),
            (f"it answered {event.answer} at {STEP}, and {against}: contradiction.", event),
        )


def _of_operation(asked: HerderAsked, answer: int) -> str:
    said = OF_OPERATIONS.get(asked.operation)
    return "" if said is None or answer in said else f"none to {asked.operation} has this answer"


def _of_leading(worker: Worker, answer: int) -> str:
    if worker.received is None or not worker.member_id:
        return ""
    if answer == CONFLICT and worker.leads:
        return "it leads its group"
    return "it does not lead its group" if answer == DONE and not worker.leads else ""


def _of_work(worker: Worker, work: str, answer: int) -> str:
    if worker.claim is None or worker.accepted is None:
        return ""
    if answer == CONFLICT and work in worker.claim:
        return f"it was assigned {work}"
    return f"it was not assigned {work}" if answer == DONE and work not in worker.claim else ""


OperatorsGetTrueAnswers: Final = Invariant(
    name="operators_get_true_answers",
    family="connect_duties",
    claim="a worker that is asked to delete, pause, resume, stop or restart a connector answers 404 just where it does "
    "not know it, and to restart one of which it knows no status; 409 only where it does not lead, and of the restart "
    "of one piece of work where it was not assigned that; 204 only where none of this is so; 500 of an unknown "
    "connector only when it stops; and nothing else",
    source="DistributedHerder.putConnectorConfig, deleteConnectorConfig, stopConnector, restartConnectorAndTasks, "
    "restartTask; ConnectorsResource, ConnectExceptionMapper (NotFoundException, NotLeaderException)",
    premises=(
        SIMULATED,
        "the worker surely knows the connector, by all its snapshots since it accepted its assignment, or by none",
        "it was settled in one assignment from the request to the answer, where it is asked whether it leads",
    ),
    exempted_by=(
        *PROCESS,
        *ASTRAY,
        AssignmentAccepted,
        ConfigSnapshotTaken,
        ConnectAssignmentReceived,
        HerderAsked,
        WorkerStopRequested,
    ),
    violation=OperatorsGetTrueAnswersViolated,
    fold=_Answers,
)
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    ConfigSnapshotTaken(member="w0", offset=3)
    HerderAsked(member="w0", request=0, operation="pause", work="c")
    HerderAnswered(member="w0", request=0, answer=204)
"""

CLAIMS: Final = (OperatorsGetTrueAnswers,)
"""In the order in which reports name them."""
