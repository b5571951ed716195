"""A task with exactly-once support that must not start ends at once, also one that its worker has asked to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.events import (
    Event,
    LeaderAnswered,
    LeaderAsked,
    MemberEvent,
    RequestSent,
    RunEnded,
    StatusAttempted,
    WorkerConfigured,
)
from rebalance_check.properties.connect.asking import DONE
from rebalance_check.properties.connect.plugins import GRACE_MS
from rebalance_check.properties.connect.statuses import SAFE, work_named
from rebalance_check.properties.connect.verifying import FENCE
from rebalance_check.properties.connect.worker import is_task_of
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.status.stores import item_of
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED


class RefusedTasksEndAtOnceViolated(Violation):
    """The producers of a task's predecessors could not be fenced, and the task did not end."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """A fencing that was asked for, and its refusal."""

    asked: LeaderAsked
    answered: LeaderAnswered


class _Ends(SimulatedWorkerFold):
    """Per worker: what its tasks have asked for, and the task that was refused last and has not ended."""

    bookkeeping = frozenset({*PROCESS, LeaderAsked, LeaderAnswered})
    needs = ((WorkerConfigured,), (LeaderAsked,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            LeaderAsked: self.on_asked,
            LeaderAnswered: self.on_answered,
            StatusAttempted: self.on_attempted,
            RequestSent: self.on_request,
            RunEnded: self.on_run_ended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._asked: dict[tuple[str, int], LeaderAsked] = {}
        self._refused: dict[str, _Refused] = {}

    def on_process(self, event: MemberEvent) -> None:
        """Its tasks are gone with it."""
        self._refused.pop(event.member, None)
        for key in [key for key in self._asked if key[0] == event.member]:
            del self._asked[key]

    def on_asked(self, event: LeaderAsked) -> None:
        """A task is to start, and waits for the answer."""
        if event.operation == FENCE and self.run.is_recorded:
            self._asked[event.member, event.request] = event

    def on_answered(self, event: LeaderAnswered) -> None:
        """A refusal ends the task; its worker has not given it up yet, which waits for longer."""
        self._look(event.member, event)
        asked = self._asked.pop((event.member, event.request), None)
        if asked is not None and event.answer != DONE and event.time_ms < asked.time_ms + GRACE_MS:
            self._refused[event.member] = _Refused(asked, event)

    def on_attempted(self, event: StatusAttempted) -> None:
        """Its worker says that it has ended."""
        worker = self.memory.of_store(event.worker)
        refused = None if worker is None else self._refused.get(worker.name)
        if worker is None or refused is None:
            return
        if event.status in SAFE and is_task_of(work_named(item_of(event.key)), refused.asked.connector):
            self.compared = (self.compared or 0) + 1
            del self._refused[worker.name]
        elif event.time_ms > refused.answered.time_ms:
            self._look(worker.name, event)

    def on_request(self, event: RequestSent) -> None:
        """Time goes on."""
        refused = self._refused.get(event.member)
        if refused is not None and event.time_ms > refused.answered.time_ms:
            self._look(event.member, event)

    def on_run_ended(self, event: RunEnded) -> None:
        """Nothing comes any more."""
        for member in sorted(self._refused):
            self._look(member, event)

    def _look(self, member: str, event: Event) -> None:
        """What was refused has ended by now."""
        refused = self._refused.pop(member, None)
        if refused is not None and self.memory.of(member).store:
            self.contradiction(
                f"a task of {refused.asked.connector} must not start at {member}, and does not end",
                (f"for a task {member} asked its leader to fence the producers of earlier ones at {STEP};",
                 refused.asked),
                (f"the answer at {STEP} was {refused.answered.answer}, with which the task cannot start;",
                 refused.answered),
                (f"by {STEP} {member} had not said that one of {refused.asked.connector}'s tasks is FAILED or "
                 "UNASSIGNED: contradiction.", event),
            )  # fmt: skip


RefusedTasksEndAtOnce: Final = Invariant(
    name="refused_tasks_end_at_once",
    family="connect_work",
    claim="a task with exactly-once support for which its leader does not fence the producers of earlier tasks ends at "
    "once: its worker writes that it is FAILED or, where it has asked it to stop, UNASSIGNED",
    source="KIP-618; ExactlyOnceWorkerSourceTask.preStart, WorkerTask.doRun, onFailure, onShutdown",
    premises=(RECORDED, "the answer comes before a worker gives up waiting for the end of a task that is to stop"),
    exempted_by=(LeaderAnswered, LeaderAsked, *PROCESS),
    violation=RefusedTasksEndAtOnceViolated,
    fold=_Ends,
)
"""Its worker waits for a task that does not end, and its group for the worker. The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="sessioned", store="w0", exactly_once=True)
    LeaderAsked(member="w0", request=0, operation="fence", connector="c", url="u")
    LeaderAnswered(member="w0", request=0, answer=500)
    RequestSent(member="w0", api="Heartbeat", request=9, generation=1, time_ms=1000)
"""

CLAIMS: Final = (RefusedTasksEndAtOnce,)
"""In the order in which reports name them."""
