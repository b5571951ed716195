"""What a herder answers another worker is true: whether it leads, what it knows of the connector, and what it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigCallEnded,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    Event,
    HerderRequestEnded,
    HerderRequestStarted,
    InternalRequestAnswered,
    InternalRequestChecked,
    MemberEvent,
    WorkerConfigured,
)
from rebalance_check.properties.connect.answering import ASTRAY, NOT_FOUND
from rebalance_check.properties.connect.asking import CONFLICT, DONE
from rebalance_check.properties.connect.plugin_states import STOPPED
from rebalance_check.properties.connect.retrying import WRITE
from rebalance_check.properties.connect.worker import Worker
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED

BAD_REQUEST: Final = 400


class WorkersGetTrueAnswersViolated(Violation):
    """A herder answered another worker what its assignment, its configs or its config store contradict."""


@dataclass(slots=True, eq=False)
class Knowledge:
    """What a herder knows for sure: ``oldest`` and ``newest`` are snapshots between which its own one lies."""

    oldest: ConfigSnapshotTaken | None = None
    newest: ConfigSnapshotTaken | None = None
    settled: AssignmentAccepted | None = None
    call: ConfigCallEnded | None = None

    def both(self, holds: bool, connector: str) -> bool:
        """Whether the connector is configured (or not) in the oldest and in the newest of them."""
        snapshots = (self.oldest, self.newest)
        return all(one is not None and (connector in dict(one.connectors)) is holds for one in snapshots)

    def states(self, connector: str) -> set[str | None]:
        """The target states that it may know."""
        snapshots = (self.oldest, self.newest)
        return {None if one is None else dict(one.target_states).get(connector) for one in snapshots}


class _TrueAnswers(SimulatedWorkerFold):
    """Per worker: what its herder knows, and the requests of other workers that are open."""

    bookkeeping = frozenset({*PROCESS, *ASTRAY, AssignmentAccepted, ConfigCallEnded, ConfigSnapshotTaken,
                             ConnectAssignmentReceived, HerderRequestEnded, HerderRequestStarted,
                             InternalRequestChecked})  # fmt: skip
    needs = ((WorkerConfigured,), (InternalRequestChecked,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            **dict.fromkeys((*ASTRAY, ConnectAssignmentReceived), self.on_astray),
            AssignmentAccepted: self.on_accepted,
            ConfigSnapshotTaken: self.on_snapshot,
            ConfigCallEnded: self.on_call,
            HerderRequestStarted: self.on_serving,
            HerderRequestEnded: self.on_serving,
            InternalRequestChecked: self.on_checked,
            InternalRequestAnswered: self.on_answered,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._of: dict[str, Knowledge] = {}
        self._open: dict[tuple[str, int], InternalRequestChecked] = {}

    def on_process(self, event: MemberEvent) -> None:
        """A new process knows nothing."""
        self._of.pop(event.member, None)
        for key in [key for key in self._open if key[0] == event.member]:
            del self._open[key]

    def on_astray(self, event: MemberEvent) -> None:
        """It may not lead, or lead from now on."""
        self._of.setdefault(event.member, Knowledge()).settled = None

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """Its herder knows the configs of this assignment, and who leads."""
        known, snapshot = self._of.setdefault(event.member, Knowledge()), self.memory.of(event.member).snapshot
        known.settled = event
        is_of_it = snapshot is not None and snapshot.offset == event.config_offset
        known.oldest = known.newest = snapshot if is_of_it else None

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """Its herder may know this one, or still one before; of more than two it may know any."""
        known = self._of.setdefault(event.member, Knowledge())
        if known.newest is not known.oldest:
            known.oldest = None
        known.newest = event

    def on_call(self, event: ConfigCallEnded) -> None:
        """What it answers follows from that."""
        self._of.setdefault(event.member, Knowledge()).call = event

    def on_serving(self, event: MemberEvent) -> None:
        """It has not done anything for the request."""
        self._of.setdefault(event.member, Knowledge()).call = None

    def on_checked(self, event: InternalRequestChecked) -> None:
        """It is queued, unless it is refused at once."""
        if not event.refusal and self.run.is_recorded:
            self._open[event.member, event.request] = event

    def on_answered(self, event: InternalRequestAnswered) -> None:
        """Compared with what it knows now."""
        asked, known = self._open.pop((event.member, event.request), None), self._of.get(event.member)
        if asked is None or known is None:
            return
        self.compared = (self.compared or 0) + 1
        worker = self.memory.of(event.member)
        against = _of_configs(known, asked, event.answer) or _of_calls(known, event.answer)
        if not against and known.settled is not None:
            against = _of_leading(worker, asked, event.answer)
        if against:
            self._report(asked, event, worker, against)

    def _report(
        self, asked: InternalRequestChecked, event: InternalRequestAnswered, worker: Worker, against: str
    ) -> None:
        self.contradiction(
            f"{event.member} answers {event.answer} to a request to {asked.operation} of {asked.connector}, and "
            f"{against}",
            (f"{event.member} was asked to {asked.operation} of {asked.connector} at {STEP};", asked),
            (f"what it has been assigned, and who leads, it knows since {STEP};", worker.received),
            (f"the configs that it read last are those of {STEP};", worker.snapshot),
            (f"it answered {event.answer} at {STEP}, and {against}: contradiction.", event),
        )


def _of_configs(known: Knowledge, asked: InternalRequestChecked, answer: int) -> str:
    """Why its configs contradict the answer; empty where they do not."""
    if answer == NOT_FOUND and known.both(True, asked.connector):
        return f"it knows {asked.connector}"
    if answer == DONE and known.both(False, asked.connector):
        return f"it does not know {asked.connector}"
    if answer == BAD_REQUEST and (asked.operation != WRITE or STOPPED not in {*known.states(asked.connector), None}):
        return f"{asked.connector} is not stopped" if known.oldest is not None else ""
    return ""


def _of_calls(known: Knowledge, answer: int) -> str:
    """Why what its config store did contradicts the answer."""
    if answer == DONE and (known.call is None or known.call.error):
        return "it has written nothing, nor read that nothing is to be done"
    return ""


def _of_leading(worker: Worker, asked: InternalRequestChecked, answer: int) -> str:
    """Why its assignment contradicts the answer; a fencing that new task configs end is a conflict, too."""
    if worker.received is None or not worker.member_id:
        return ""
    if answer == CONFLICT and worker.leads and asked.operation == WRITE:
        return "it leads its group"
    return "it does not lead its group" if answer in {DONE, NOT_FOUND, BAD_REQUEST} and not worker.leads else ""


WorkersGetTrueAnswers: Final = Invariant(
    name="workers_get_true_answers",
    family="connect_duties",
    claim="a herder answers another worker 404 only of a connector that it does not know, 400 only of task configs "
    "of a connector that is stopped, 409 only where it does not lead or new task configs ended a fencing, and 204 only "
    "where none of this is so and its config store did what was asked for",
    source="DistributedHerder.putTaskConfigs, fenceZombieSourceTasks; InternalClusterResource",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, *ASTRAY, AssignmentAccepted, ConfigCallEnded, ConfigSnapshotTaken,
                 ConnectAssignmentReceived, InternalRequestChecked),
    violation=WorkersGetTrueAnswersViolated,
    fold=_TrueAnswers,
)  # fmt: skip
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="eager")
    ConfigCallEnded(member="w0", call=1, method="putTaskConfigs", error="TimeoutException")
    InternalRequestChecked(member="w0", mode="eager", request=0, operation="write task configs", connector="c")
    InternalRequestAnswered(member="w0", request=0, answer=204)
"""

CLAIMS: Final = (WorkersGetTrueAnswers,)
"""In the order in which reports name them."""
