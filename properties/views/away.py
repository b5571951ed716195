"""How long a worker that still runs work has been out of its group, or without a coordinator."""

from __future__ import annotations

from typing import ClassVar, Final

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    ConfigCallEnded,
    ConfigCallStarted,
    ConnectAssignmentReceived,
    CoordinatorAwaited,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    WorkerClaimed,
    WorkRevocationEnded,
    WorkRevocationStarted,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.workers import Workers

NEVER_MS: Final = 2**63
"""A time that no history reaches."""

READS: Final = frozenset({"refresh"})
"""The calls of the config store that only read, within a time-out."""


class Away(Memory):
    """By worker since when it is away, as it was before the event at hand.

    ``lost`` says how its membership ended, ``since_ms`` when the time began to count; ``awaited`` is the first poll
    that found no coordinator since its last assignment, which may come that late. A worker that is paused, or has no
    coordinator to join with, is not away; for one that is busy until ``busy_until_ms`` and does not poll, time counts
    from then. A herder that revokes is busy: it flushes its statuses, for as long as their producer takes. So is one
    that writes to the config topic, for up to 30 s.
    """

    uses: ClassVar = (Workers,)

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.lost: dict[str, MembershipLost] = {}
        self.since_ms: dict[str, int] = {}
        self.awaited: dict[str, CoordinatorAwaited] = {}
        self.busy_until_ms: dict[str, int] = {}
        self._last: Event | None = None
        kinds = (
            ApplicationBusy, MembershipLost, CoordinatorLost, CoordinatorFound, CoordinatorAwaited, MemberPaused,
            MemberResumed, MemberStarted, MemberCrashed, MemberLeft, ConfigCallStarted, ConfigCallEnded, WorkerClaimed,
            WorkRevocationStarted, WorkRevocationEnded, ConnectAssignmentReceived,
        )  # fmt: skip
        handlers: dict[type[Event], Handler] = dict.fromkeys(kinds, self._take)
        super().__init__(handlers)

    def up_to_date(self) -> None:
        """Let the event at hand take effect: for rules about events that this view does not take."""
        if self._last is not None:
            self._note(self._last)
        self._last = None

    def _take(self, event: Event) -> None:
        self.up_to_date()
        self._last = event
        if isinstance(event, MembershipLost | CoordinatorAwaited):
            self.up_to_date()

    def _note(self, event: Event) -> None:
        match event:
            case MembershipLost():
                worker = self.workers.workers.get(event.member)
                if worker is not None and worker.running:
                    self.lost.setdefault(event.member, event)
                    busy_until_ms = self.busy_until_ms.get(event.member, event.time_ms)
                    self.since_ms.setdefault(event.member, max(event.time_ms, busy_until_ms))
            case ApplicationBusy():
                self._note_busy(event.member, event.time_ms + event.busy_ms)
            case WorkRevocationEnded():
                self._note_busy(event.member, event.time_ms)
            case CoordinatorAwaited():
                self.awaited.setdefault(event.member, event)
            case ConnectAssignmentReceived():
                self.awaited.pop(event.member, None)
            case ConfigCallStarted():
                if event.method not in READS:
                    self._note_busy(event.member, NEVER_MS)
            case ConfigCallEnded():
                if event.method not in READS:
                    self._note_busy(event.member, event.time_ms)
            case MemberResumed():
                if event.member in self.since_ms:
                    self.since_ms[event.member] = event.time_ms
            case MemberEvent():
                self._end(event)

    def _note_busy(self, member: str, until_ms: int) -> None:
        self.busy_until_ms[member] = until_ms
        if member in self.since_ms:
            self.since_ms[member] = until_ms

    def _end(self, event: MemberEvent) -> None:
        if not isinstance(event, WorkerClaimed | CoordinatorLost | MemberPaused):
            self.awaited.pop(event.member, None)
        if not isinstance(event, CoordinatorFound):
            self.forget(event.member)
        if isinstance(event, WorkRevocationStarted):
            self.busy_until_ms[event.member] = NEVER_MS
        elif isinstance(event, MemberStarted | MemberCrashed | MemberLeft):
            self.busy_until_ms.pop(event.member, None)

    def forget(self, member: str) -> None:
        """It has been judged, joins again, stops its work, or ended."""
        self.lost.pop(member, None)
        self.since_ms.pop(member, None)
