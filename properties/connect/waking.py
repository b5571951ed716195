"""A herder that waits for nothing acts as soon as it is asked to: by an operator, or by what it read of the configs."""

from __future__ import annotations

from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    AssignmentAccepted,
    ConfigAppended,
    ConfigCallbackCalled,
    ConfigSnapshotTaken,
    CoordinatorLost,
    Event,
    HerderAnswered,
    HerderAsked,
    HerderRequestStarted,
    InternalRequestChecked,
    MemberEvent,
    MembershipLost,
    MemberStarted,
    RejoinRequested,
    RequestAnswered,
    RequestSent,
    SessionKeyWritten,
    TaskConfigsGenerated,
    WorkerConfigured,
)
from rebalance_check.properties.connect.awaited import GOES_ON, OF_STATUSES, OfStatuses
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.contract.pace import SLACK_MS, Paces
from rebalance_check.properties.kinds import Handler, Invariant, Memories
from rebalance_check.properties.status.stores import process_of
from rebalance_check.properties.verdict import STEP, Violation

LONGEST_WRITE_MS: Final = 5_000
"""How long a record that a worker sends is on its way to the config topic at most, in ms."""

STOPPING: Final = 500
"""The status of an answer to a request that was not served, as the worker stops, or could not be written."""

WAKE: Final = frozenset({"onConnectorConfigUpdate", "onConnectorConfigRemove", "onConnectorTargetStateChange"})
"""The callbacks of the config store after which each worker looks at the configs anew."""

WRITES: Final = ("connector-", "target-state-", "restart-connector-")
"""How keys of records begin that an operator's request about a connector has a worker write."""

Wakes: TypeAlias = HerderAsked | ConfigCallbackCalled


class IdleHerderActsAtOnceViolated(Violation):
    """A worker that waited for nothing did later what it was asked for, or what it had read asked for."""


class _Wakes(WorkerFold):
    """Per worker: what woke it, where nothing has happened in it since but heartbeats; and what it is known to do.

    That is how many requests of operators are open, whether it takes part in a round that is over (``_settled``), and
    whether it may write something that no operator asked for (``_writes``).
    """

    paces: Paces
    bookkeeping = frozenset({*GOES_ON, *OF_STATUSES, HerderAsked, ConfigCallbackCalled, WorkerConfigured,
                             ApplicationBusy, RequestSent, RequestAnswered, SessionKeyWritten,
                             TaskConfigsGenerated})  # fmt: skip
    needs = ((WorkerConfigured,), (HerderAsked, ConfigCallbackCalled))

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            **dict.fromkeys(GOES_ON, self.on_other),
            **dict.fromkeys(OF_STATUSES, self.on_status),
            MemberStarted: self.on_process,
            WorkerConfigured: self.on_process,
            AssignmentAccepted: self.on_accepted,
            CoordinatorLost: self.on_astray,
            MembershipLost: self.on_astray,
            InternalRequestChecked: self.on_writing,
            SessionKeyWritten: self.on_writing,
            TaskConfigsGenerated: self.on_writing,
            RequestSent: self.on_request,
            RequestAnswered: self.on_request,
            HerderAsked: self.on_asked,
            ConfigCallbackCalled: self.on_callback,
            HerderRequestStarted: self.on_started,
            HerderAnswered: self.on_answered,
            ConfigAppended: self.on_appended,
            ConfigSnapshotTaken: self.on_looked,
            RejoinRequested: self.on_rejoining,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._woken: dict[str, Wakes] = {}
        self._open: dict[str, int] = {}
        self._settled: set[str] = set()
        self._writes: set[str] = set()

    def share(self, memories: Memories) -> None:
        """What keeps its threads from acting, too."""
        super().share(memories)
        self.paces = Paces.among(memories)
        self.memories = (*self.memories, self.paces.run, self.paces)

    def on_other(self, event: MemberEvent) -> None:
        """Its herder may have waited for that."""
        self._woken.pop(event.member, None)

    def on_status(self, event: OfStatuses) -> None:
        """Its herder may have waited for that."""
        self._woken.pop(process_of(event.worker), None)

    def on_process(self, event: MemberEvent) -> None:
        """A new process serves no request."""
        self.on_astray(event)
        self._open.pop(event.member, None)
        self._writes.discard(event.member)

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """Its round is over."""
        self.on_other(event)
        self._settled.add(event.member)
        self._writes.discard(event.member)

    def on_astray(self, event: MemberEvent) -> None:
        """It may wait between two attempts to join."""
        self.on_other(event)
        self._settled.discard(event.member)

    def on_writing(self, event: MemberEvent) -> None:
        """Its herder may wait for a record that it sent, and that is lost."""
        self.on_other(event)
        self._writes.add(event.member)

    def on_request(self, event: RequestSent | RequestAnswered) -> None:
        """Heartbeats go on while a herder waits."""
        if event.api != Api.HEARTBEAT or (isinstance(event, RequestAnswered) and event.error != "NONE"):
            self._woken.pop(event.member, None)
            self._settled.discard(event.member)

    def on_asked(self, event: HerderAsked) -> None:
        """It is served after all that were asked before."""
        self._open[event.member] = self._open.get(event.member, 0) + 1
        self._woken.pop(event.member, None)
        if self._open[event.member] == 1:
            self._wake(event)

    def on_callback(self, event: ConfigCallbackCalled) -> None:
        """It looks at its configs anew."""
        self._woken.pop(event.member, None)
        if event.callback in WAKE and not self._open.get(event.member):
            self._wake(event)

    def _wake(self, event: Wakes) -> None:
        if event.member in self._settled and event.member not in self._writes:
            self._woken[event.member] = event

    def on_started(self, event: HerderRequestStarted) -> None:
        """It was asked, and begins with that."""
        woken = self._woken.get(event.member)
        if isinstance(woken, HerderAsked):
            self._look(woken, event, SLACK_MS)

    def on_answered(self, event: HerderAnswered) -> None:
        """It was asked, and has done or refused it."""
        self._open[event.member] = max(self._open.get(event.member, 0) - 1, 0)
        self._writes.discard(event.member)
        woken = self._woken.pop(event.member, None)
        if isinstance(woken, HerderAsked) and event.answer != STOPPING:
            self._look(woken, event, SLACK_MS)

    def on_appended(self, event: ConfigAppended) -> None:
        """It was asked, and wrote that."""
        woken = self._woken.pop(event.writer, None)
        if isinstance(woken, HerderAsked) and event.key in {begin + woken.work for begin in WRITES}:
            self._look(woken, event, LONGEST_WRITE_MS)

    def on_looked(self, event: ConfigSnapshotTaken | RejoinRequested) -> None:
        """It looked at its configs."""
        self._writes.discard(event.member)
        woken = self._woken.pop(event.member, None)
        if isinstance(woken, ConfigCallbackCalled):
            self._look(woken, event, SLACK_MS)

    def on_rejoining(self, event: RejoinRequested) -> None:
        """It looked at its configs, or has another reason to join again."""
        self.on_looked(event)
        self._settled.discard(event.member)

    def _look(self, woken: Wakes, event: Event, allowed_ms: int) -> None:
        """Whether it acted in time, for a worker whose threads ran."""
        pace = self.paces.of.get(woken.member)
        if pace is None:
            return
        self.compared = (self.compared or 0) + 1
        since_ms = max(woken.time_ms, pace.acts_since())
        if event.time_ms > since_ms + allowed_ms:
            what = f"to {woken.operation} {woken.work}" if isinstance(woken, HerderAsked) else f"by {woken.callback}"
            self.contradiction(
                f"{woken.member} acts {event.time_ms - since_ms} ms after it was asked, and waited for nothing",
                (f"{woken.member} was asked {what} at {STEP};", woken),
                (f"nothing but heartbeats happened in it until it did so at {STEP}: contradiction.", event),
            )


IdleHerderActsAtOnce: Final = Invariant(
    name="idle_herder_acts_at_once",
    family="connect_duties",
    claim="a worker that takes part in no round, serves no other request, and in which nothing happens but heartbeats, "
    "serves a request, or looks at configs that it has read, at once, and not when another timer wakes it",
    source="DistributedHerder.addRequest, ConfigUpdateListener; WorkerGroupMember.wakeup",
    premises=(
        "the run is simulated: time is virtual, and all that happens in a worker is recorded",
        f"a record that a worker sends is appended within {LONGEST_WRITE_MS // 1000} seconds",
    ),
    exempted_by=(
        *GOES_ON,
        *OF_STATUSES,
        ApplicationBusy,
        HerderAnswered,
        HerderAsked,
        RequestAnswered,
        RequestSent,
        SessionKeyWritten,
        TaskConfigsGenerated,
    ),
    violation=IdleHerderActsAtOnceViolated,
    fold=_Wakes,
)
"""A herder that waits for nothing acts at once.

The smallest history that breaks it::

    RunStarted(subject="simulator", punctual=True)
    MemberStarted(member="w0")
    WorkerConfigured(member="w0", mode="eager")
    AssignmentAccepted(member="w0", generation=1, config_offset=0, work=())
    HerderAsked(member="w0", request=0, operation="pause", work="c")
    HerderAnswered(member="w0", request=0, answer=404, time_ms=900)
"""

CLAIMS: Final = (IdleHerderActsAtOnce,)
"""In the order in which reports name them."""
