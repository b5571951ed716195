"""What precedes the start of a task with exactly-once support: its leader fences, and its herder verifies (KIP-618)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigCallbackCalled,
    ConfigReadEnded,
    ConfigSnapshotTaken,
    Event,
    HerderRequestEnded,
    HerderRequestQueued,
    HerderRequestStarted,
    InternalRequestChecked,
    LeaderAnswered,
    LeaderAsked,
    MemberEvent,
    PluginDrawn,
    ProducerInitialised,
    TaskStarted,
    WorkerConfigured,
    WorkStateChanged,
    ZombieFencingEnded,
)
from rebalance_check.properties.connect.asking import DONE
from rebalance_check.properties.connect.away import READ
from rebalance_check.properties.connect.worker import FAILED, connector_of, is_task_of
from rebalance_check.properties.connect.worker_fold import SimulatedWorkerFold
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.processes import PROCESS
from rebalance_check.properties.views.simulated import RECORDED

FENCE: Final = "fence"
VERIFY: Final = "verify task"


class VerifiedTasksStartViolated(Violation):
    """A task with exactly-once support started unverified, or was verified and failed."""


@dataclass(slots=True, eq=False)
class Preparing:
    """What one worker prepares.

    ``asked`` holds the connectors that its leader is to fence, by request, ``queued`` what waits in its herder's queue
    but for requests of others, and ``serves`` the one of these that it serves. ``granted`` is the connector whose
    producers are fenced, and ``refused`` the one that could not be: what the worker does next follows from that.
    ``drawn`` and ``initialised`` are the tasks that are to start, and that have a producer; ``newer`` are the task
    configs that came since, by connector, ``accepted`` the configs of the last assignment, and ``known`` those when
    each task was to start.
    """

    asked: dict[int, str] = field(default_factory=dict)
    queued: dict[int, HerderRequestQueued] = field(default_factory=dict)
    serves: HerderRequestQueued | None = None
    is_asked: bool = False
    granted: str = ""
    refused: str = ""
    read: ConfigReadEnded | None = None
    came: ConfigCallbackCalled | None = None
    drawn: dict[str, PluginDrawn] = field(default_factory=dict)
    initialised: dict[str, ProducerInitialised] = field(default_factory=dict)
    newer: dict[str, ConfigCallbackCalled] = field(default_factory=dict)
    accepted: ConfigSnapshotTaken | None = None
    known: dict[str, ConfigSnapshotTaken | None] = field(default_factory=dict)

    def serves_for(self, operation: str, work: str) -> bool:
        """Whether its herder does that."""
        return self.serves is not None and (self.serves.operation, self.serves.work) == (operation, work)


class _Verified(SimulatedWorkerFold):
    bookkeeping = frozenset({*PROCESS, AssignmentAccepted, ConfigCallbackCalled, ConfigReadEnded, ConfigSnapshotTaken,
                             HerderRequestEnded, HerderRequestQueued, HerderRequestStarted, InternalRequestChecked,
                             LeaderAnswered, LeaderAsked, PluginDrawn, ZombieFencingEnded})  # fmt: skip
    needs = ((WorkerConfigured,), (PluginDrawn,))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(PROCESS, self.on_process),
            InternalRequestChecked: self.on_checked,
            LeaderAsked: self.on_asked,
            LeaderAnswered: self.on_answered,
            HerderRequestQueued: self.on_queued,
            HerderRequestStarted: self.on_serving,
            HerderRequestEnded: self.on_served,
            ZombieFencingEnded: self.on_fenced,
            ConfigReadEnded: self.on_read,
            ConfigSnapshotTaken: self.on_snapshot,
            ConfigCallbackCalled: self.on_callback,
            AssignmentAccepted: self.on_accepted,
            PluginDrawn: self.on_drawn,
            ProducerInitialised: self.on_initialised,
            TaskStarted: self.on_started,
            WorkStateChanged: self.on_changed,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._of: dict[str, Preparing] = {}

    def _look(self, member: str) -> Preparing | None:
        """What a worker prepares that starts tasks so."""
        worker = self.memory.workers.get(member)
        if worker is None or worker.configured is None or not worker.configured.exactly_once:
            return None
        return self._of.setdefault(member, Preparing()) if self.run.is_recorded else None

    def on_process(self, event: MemberEvent) -> None:
        """A new process begins anew."""
        self._of.pop(event.member, None)

    # ------------------------------------------------------------------------------------------------ fencing

    def on_checked(self, event: InternalRequestChecked) -> None:
        """What it queues next is a request of another worker."""
        if (own := self._look(event.member)) is not None:
            own.is_asked = not event.refusal

    def on_asked(self, event: LeaderAsked) -> None:
        """A task is to start."""
        own = self._look(event.member) if event.operation == FENCE else None
        if own is not None:
            own.asked[event.request] = event.connector

    def on_answered(self, event: LeaderAnswered) -> None:
        """The answer decides."""
        own = self._look(event.member)
        connector = None if own is None else own.asked.pop(event.request, None)
        if own is not None:
            is_done = event.answer == DONE
            own.granted, own.refused = (connector or "", "") if is_done else ("", connector or "")

    def on_queued(self, event: HerderRequestQueued) -> None:
        """Its herder is to fence or verify for a task of its own."""
        own = self._look(event.member)
        if own is not None and not own.is_asked and event.operation in {FENCE, VERIFY}:
            own.queued[event.number] = event
        if own is not None:
            own.is_asked = False

    def on_serving(self, event: HerderRequestStarted) -> None:
        """Its herder does nothing else."""
        if (own := self._look(event.member)) is not None:
            own.serves, own.read, own.came = own.queued.pop(event.number, None), None, None
            own.granted = own.refused = ""

    def on_served(self, event: HerderRequestEnded) -> None:
        """What is refused fails the task."""
        if (own := self._look(event.member)) is not None:
            queued = own.queued.pop(event.number, None)
            own.refused = queued.work if queued is not None and event.refused else ""
            own.serves, own.granted = None, ""

    def on_fenced(self, event: ZombieFencingEnded) -> None:
        """The leader has fenced for its own task."""
        own = self._look(event.member)
        if own is not None and own.serves_for(FENCE, event.connector) and event.outcome == READ:
            own.granted = event.connector

    # ------------------------------------------------------------------------------------------------ configs

    def on_read(self, event: ConfigReadEnded) -> None:
        """Its herder knows the newest configs."""
        if (own := self._look(event.member)) is not None:
            own.read = event

    def on_snapshot(self, event: ConfigSnapshotTaken) -> None:
        """Nothing is left to fence where no fencing is pending."""
        own = self._look(event.member)
        if own is None or own.serves is None or own.serves.operation != FENCE:
            return
        if own.read is not None and own.read.outcome == READ and own.serves.work not in event.pending_fencing:
            own.granted = own.serves.work

    def on_callback(self, event: ConfigCallbackCalled) -> None:
        """Task configs came that are newer than those of the tasks that are to start."""
        own = self._look(event.member)
        if own is not None and event.callback == "onTaskConfigUpdate":
            own.newer[event.connector] = event
            if own.serves is not None and event.connector == own.serves.work:
                own.came = event

    # ------------------------------------------------------------------------------------------------ the task

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """The task configs that it starts tasks with are these, or newer ones."""
        own, snapshot = self._look(event.member), self.memory.of(event.member).snapshot
        if own is not None:
            own.accepted = snapshot if snapshot is not None and snapshot.offset == event.config_offset else None

    def on_drawn(self, event: PluginDrawn) -> None:
        """It is to start."""
        own = self._look(event.member)
        if own is not None:
            own.drawn[event.work], own.known[event.work] = event, own.accepted
            own.initialised.pop(event.work, None)

    def on_initialised(self, event: ProducerInitialised) -> None:
        """The producers of its predecessors are fenced just now."""
        own = self._look(event.member) if event.work else None
        if own is None:
            return
        self.compared = (self.compared or 0) + 1
        granted, own.granted = own.granted, ""
        own.initialised[event.work] = event
        own.newer.pop(connector_of(event.work), None)
        if not granted or not is_task_of(event.work, granted):
            self.contradiction(
                f"{event.member} initialises a producer for {event.work}, and no leader has fenced for it",
                (f"{event.member} is to start {event.work} since {STEP};", own.drawn.get(event.work)),
                (f"it initialised a producer at {STEP}, and had no answer just before that the producers of earlier "
                 "tasks are fenced: contradiction.", event),
            )  # fmt: skip

    def on_started(self, event: TaskStarted) -> None:
        """It is verified just now."""
        own = self._look(event.member)
        if own is None:
            return
        self.compared = (self.compared or 0) + 1
        since = own.initialised.pop(event.task, None)
        newer = own.newer.get(connector_of(event.task))
        own.drawn.pop(event.task, None)
        if since is None:
            self._report(event, "which has no producer of its own", None)
        elif not own.serves_for(VERIFY, event.task):
            self._report(event, "which its herder does not verify", since)
        elif own.read is None or own.read.outcome != READ:
            self._report(event, "though it could not read whether its configs are the newest", own.read or since)
        elif newer is not None:
            self._report(event, "for whose connector newer task configs have come", newer)

    def _report(self, event: TaskStarted, why: str, since: Event | None) -> None:
        self.contradiction(
            f"{event.member} starts {event.task}, {why}",
            *([(f"that is so since {STEP};", since)] if since is not None else []),
            (f"{event.member} started {event.task} at {STEP}, {why}: contradiction.", event),
        )

    def on_changed(self, event: WorkStateChanged) -> None:
        """A task that fails before its start was refused, or is not the newest."""
        own = self._look(event.member) if event.state == FAILED else None
        if own is None or event.work not in own.drawn or connector_of(event.work) == event.work:
            return
        self.compared = (self.compared or 0) + 1
        drawn = own.drawn.pop(event.work)
        if not self._may_fail(own, event):
            self.contradiction(
                f"{event.work} fails at {event.member} before its start, and nothing was refused",
                (f"{event.member} is to start {event.work} since {STEP};", drawn),
                (f"it failed at {STEP}, where the producers of earlier tasks are fenced, and its configs the newest: "
                 "contradiction.", event),
            )  # fmt: skip

    def _may_fail(self, own: Preparing, event: WorkStateChanged) -> bool:
        """Whether its leader refused, or its herder found that it is outdated."""
        connector = connector_of(event.work)
        worker = self.memory.of(event.member)
        if worker.received is None or not worker.received.leader_url or own.refused in {connector, event.work}:
            return True
        if own.serves_for(FENCE, connector):
            return own.granted != connector or own.came is not None
        if not own.serves_for(VERIFY, event.work):
            return False
        is_read = own.read is not None and own.read.outcome == READ
        return not is_read or worker.claim is None or event.work not in worker.claim or self._is_newer(own, event)

    def _is_newer(self, own: Preparing, event: WorkStateChanged) -> bool:
        """Whether the configs that were read last have other task configs than those that its worker knew."""
        snapshot, connector = self.memory.of(event.member).snapshot, connector_of(event.work)
        known = own.known.get(event.work)
        if snapshot is None or known is None:
            return True
        return dict(snapshot.generations).get(connector) != dict(known.generations).get(connector)


VerifiedTasksStart: Final = Invariant(
    name="verified_tasks_start",
    family="connect_duties",
    claim="with exactly-once support a task gets its producer just when its leader has fenced those of its "
    "predecessors, and starts just when its herder has then read the config topic to its end, and found no newer task "
    "configs; it fails before its start only where one of these is refused, or the task is assigned no more",
    source="KIP-618; DistributedHerder.fenceZombieSourceTasks, verifyTaskGenerationAndOwnership; "
    "ExactlyOnceWorkerSourceTask.preStart",
    premises=(RECORDED,),
    exempted_by=(*PROCESS, AssignmentAccepted, ConfigCallbackCalled, ConfigReadEnded, ConfigSnapshotTaken,
                 HerderRequestEnded, HerderRequestQueued, HerderRequestStarted, InternalRequestChecked,
                 LeaderAnswered, LeaderAsked, PluginDrawn, ProducerInitialised, ZombieFencingEnded),
    violation=VerifiedTasksStartViolated,
    fold=_Verified,
)  # fmt: skip
"""The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    WorkerConfigured(member="w0", mode="sessioned", exactly_once=True)
    PluginDrawn(member="w0", work="c-0")
    ProducerInitialised(member="w0", transactional_id="connect-c-0", epoch=0, work="c-0")
"""

CLAIMS: Final = (VerifiedTasksStart,)
"""In the order in which reports name them."""
