"""What is due in a herder that waits for nothing: the base of claims that it is done then."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigAppended,
    ConfigCallbackCalled,
    ConfigReadStarted,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    CoordinatorLost,
    Event,
    HerderAnswered,
    HerderAsked,
    HerderRequestEnded,
    HerderRequestStarted,
    LeaderAnswered,
    LeaderAsked,
    MemberClosing,
    MemberEvent,
    MembershipLost,
    RejoinRequested,
    RequestAnswered,
    RequestSent,
    RestartPlanned,
    RunEnded,
    RunSettled,
    SessionKeyWritten,
    TargetStateChanged,
    TaskConfigsApplied,
    TaskConfigsGenerated,
    WorkerClaimed,
    WorkerConfigured,
    WorkerStopRequested,
    WorkRevocationStarted,
)
from rebalance_check.properties.connect.awaited import GOES_ON, OF_STATUSES
from rebalance_check.properties.connect.other_work import OtherWorkFold
from rebalance_check.properties.contract.pace import NEVER, SLACK_MS
from rebalance_check.properties.kinds import Handler, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.processes import PROCESS

ASTRAY: Final[tuple[type[Event], ...]] = (
    RejoinRequested, WorkerClaimed, MembershipLost, CoordinatorLost, ConnectAssignmentReceived, WorkRevocationStarted,
    ConfigReadStarted, WorkerStopRequested, MemberClosing,
)  # fmt: skip
"""After these a herder may wait for its group, its stores, or the end of work, until it accepts an assignment."""

GOES_ON_ITSELF: Final[tuple[type[Event], ...]] = (
    ConfigCallbackCalled, HerderAnswered, HerderAsked, LeaderAnswered, LeaderAsked, TargetStateChanged,
    TaskConfigsGenerated,
)  # fmt: skip
"""What shows, too, that something happens in a worker."""

STOPS: Final[tuple[type[Event], ...]] = (ConfigSnapshotTaken, RestartPlanned, TaskConfigsApplied)
"""After these a herder may stop connectors and tasks, and waits for their end."""

STOPPING_MS: Final = 20_000
"""How long a herder waits at most for the end of connectors, then of tasks."""


class Due(NamedTuple):
    """What a herder must do from ``at_ms`` on, since ``event``."""

    at_ms: int
    event: MemberEvent
    what: str


BOOKKEEPING: Final = frozenset({*PROCESS, *GOES_ON, *OF_STATUSES, *GOES_ON_ITSELF, *STOPS, *ASTRAY, ConfigAppended,
                                HerderRequestEnded, HerderRequestStarted, SessionKeyWritten})  # fmt: skip


class IdleHerderFold(OtherWorkFold, ABC):
    """Judges at every event of a worker that was idle until then whether something was `due`.

    Per worker, too: whether it is settled, that is takes part in a round that is over. ``_serves`` holds those whose
    herder serves a request, ``_writes`` those whose herder may wait for a record.
    """

    def __init__(self, invariant: Invariant, handlers: dict[type[Event], Handler]) -> None:
        every: dict[type[Event], Handler] = {
            **dict.fromkeys(STOPS, self.on_stopping),
            **dict.fromkeys(ASTRAY, self.on_astray),
            **dict.fromkeys(PROCESS, self.on_process),
            WorkerConfigured: self.on_process,
            AssignmentAccepted: self.on_accepted,
            RequestSent: self.on_request,
            RequestAnswered: self.on_request,
            SessionKeyWritten: self.on_writing,
            HerderRequestStarted: self.on_started,
            HerderRequestEnded: self.on_ended,
            RunSettled: self.on_end,
            RunEnded: self.on_end,
        }
        super().__init__(invariant, (*GOES_ON, *GOES_ON_ITSELF), {**every, **handlers})
        self.compared = 0
        self._stops_ms: dict[str, int] = {}
        self._settled: set[str] = set()
        self._serves: set[str] = set()
        self._writes: set[str] = set()

    @abstractmethod
    def due(self, member: str) -> Due | None:
        """What the herder of this worker has to do, if anything."""
        ...

    @abstractmethod
    def done(self, due: Due) -> None:
        """It is reported once."""
        ...

    def on_process(self, event: MemberEvent) -> None:
        """A new process waits for all at first."""
        for known in (self._settled, self._serves, self._writes):
            known.discard(event.member)

    def on_astray(self, event: MemberEvent | RequestSent | RequestAnswered) -> None:
        """Its herder may wait for more than one thing."""
        self.on_other(event)
        self._settled.discard(event.member)

    def on_accepted(self, event: AssignmentAccepted) -> None:
        """Its round is over, and its herder knows enough of the configs."""
        self.on_other(event)
        self._settled.add(event.member)
        self._writes.discard(event.member)

    def on_stopping(self, event: MemberEvent) -> None:
        """Its herder may wait for the end of work, but not for ever."""
        self.on_other(event)
        self._stops_ms[event.member] = event.time_ms + STOPPING_MS

    def on_request(self, event: RequestSent | RequestAnswered) -> None:
        """Heartbeats go on while a herder waits; with others it joins or leaves."""
        if event.api == Api.HEARTBEAT and not (isinstance(event, RequestAnswered) and event.error != "NONE"):
            self.look(event.member, event)
        else:
            self.on_astray(event)

    def on_writing(self, event: SessionKeyWritten) -> None:
        """It waits for a record that may be lost."""
        self.on_other(event)
        self._writes.add(event.member)

    def on_started(self, event: HerderRequestStarted) -> None:
        """Its herder waits for what the request needs, from here on."""
        self.on_other(event)
        self._serves.add(event.member)
        self._stops_ms.pop(event.member, None)

    def on_ended(self, event: HerderRequestEnded) -> None:
        """It goes on with the next one."""
        self.on_other(event)
        self._serves.discard(event.member)
        self._writes.discard(event.member)

    def on_end(self, event: RunSettled | RunEnded) -> None:
        """Time has gone on."""
        for member in sorted(self._settled):
            self.look(member, event)

    def look(self, member: str, event: Event) -> None:
        """Whether what is due has waited since its time and since anything happened in its worker."""
        due = self.due(member) if member in self._settled and member in self.paces.of else None
        if due is None or not self.paces.run.is_recorded or self._may_wait(member):
            return
        self.compared = (self.compared or 0) + 1
        since_ms = max(self.able_ms(member, due.at_ms), self._stops_ms.get(member, 0))
        if since_ms < NEVER and event.time_ms > since_ms + SLACK_MS:
            self.done(due)
            self._report(member, due, event, event.time_ms - since_ms)

    def _may_wait(self, member: str) -> bool:
        """Whether its herder may wait for a request, a record, or its privilege to write, which a failed transaction
        takes."""
        configured = self.memory.of(member).configured
        is_busy = member in self._serves or member in self._writes
        return is_busy or configured is None or configured.exactly_once

    def _report(self, member: str, due: Due, event: Event, late_ms: int) -> None:
        self.contradiction(
            f"{member} does not {due.what}, though it is time",
            (f"what happened at {STEP} has {member} {due.what} at {due.at_ms} ms;", due.event),
            (f"by {STEP} nothing but heartbeats had happened in it for {late_ms} ms, and it had not: contradiction.",
             event),
        )  # fmt: skip
