"""How long a worker that still runs work has been out of its group, or without a coordinator."""

from __future__ import annotations

from typing import ClassVar, Final

from rebalance_check.model.vocabulary.events import (
    ConfigReadEnded,
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
    WorkRevocationStarted,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.workers import Workers

READ: Final = "ok"
"""The outcome of a read of the config topic that got to its end."""


class Away(Memory):
    """By worker since when it is away, as it was before the event at hand.

    ``lost`` says how its membership ended, ``since_ms`` when the time began to count; ``awaited`` is the first poll
    that found no coordinator. A worker that is paused, or has no coordinator to join with, is not away.
    """

    uses: ClassVar = (Workers,)

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.lost: dict[str, MembershipLost] = {}
        self.since_ms: dict[str, int] = {}
        self.awaited: dict[str, CoordinatorAwaited] = {}
        self._last: Event | None = None
        kinds = (
            MembershipLost, CoordinatorLost, CoordinatorFound, CoordinatorAwaited, MemberPaused, MemberResumed,
            MemberStarted, MemberCrashed, MemberLeft, ConfigReadEnded, WorkerClaimed, WorkRevocationStarted,
        )  # fmt: skip
        handlers: dict[type[Event], Handler] = dict.fromkeys(kinds, self._take)
        super().__init__(handlers)

    def up_to_date(self) -> None:
        """Let the last event take effect, which a rule for an event of another type does not precede."""
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
                    self.since_ms.setdefault(event.member, event.time_ms)
            case CoordinatorAwaited():
                self.awaited.setdefault(event.member, event)
            case ConfigReadEnded():
                """A herder that could read did not back off: it read back a write of a request that it serves."""
                if event.outcome == READ and event.member in self.since_ms:
                    self.since_ms[event.member] = event.time_ms
            case MemberResumed():
                if event.member in self.since_ms:
                    self.since_ms[event.member] = event.time_ms
            case MemberEvent():
                self._end(event)

    def _end(self, event: MemberEvent) -> None:
        if not isinstance(event, WorkerClaimed | CoordinatorLost | MemberPaused):
            self.awaited.pop(event.member, None)
        if not isinstance(event, CoordinatorFound):
            self.forget(event.member)

    def forget(self, member: str) -> None:
        """It has been judged, joins again, stops its work, or ended."""
        self.lost.pop(member, None)
        self.since_ms.pop(member, None)
