"""A client process as a recorder between clients and brokers sees it: its claims, its assignment, its fate."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import (
    CoordinatorMoved,
    Event,
    ProcessEnded,
    ProcessEvent,
    ProcessSignalled,
    ProcessStarted,
    ReplyObserved,
    RequestObserved,
)

SIGNALLED: Final = {"terminate": "closing", "kill": "killed", "pause": "paused", "resume": ""}

ENDED: Final = "ended "
"""Before the exit status of a process."""


@dataclass(slots=True)
class Seen:
    """The sightings of one process; ``generation`` is that of its last JoinGroup reply, empty for none."""

    generation: str = ""
    holds: tuple[str, ...] = ()
    condition: str = ""

    def __str__(self) -> str:
        """Its cell."""
        return "  ".join(filter(None, (self.generation, *self.holds, self.condition)))


class WireCells:
    """The cells of client processes as of now; ``coordinator`` is that of the coordinator, empty while unknown."""

    def __init__(self) -> None:
        self.coordinator = ""
        self._seen: dict[str, Seen] = {}

    def observe(self, event: Event) -> None:
        """Take the next event."""
        match event:
            case ProcessEvent():
                self._observe_process(event)
            case RequestObserved(api=Api.JOIN_GROUP, process=process) if process:
                self._of(process).holds = event.owned
            case ReplyObserved(error=Error.NONE.name, process=process) if process:
                self._observe_reply(event)
            case CoordinatorMoved():
                self.coordinator = f"node {event.node}"
            case _:
                pass

    def holds(self, process: str) -> Collection[str]:
        """The partitions that a process was assigned last, or claimed since."""
        seen = self._seen.get(process)
        return seen.holds if seen else ()

    def cell(self, process: str) -> str:
        """The text in its column."""
        return str(self._seen.get(process, ""))

    def _of(self, process: str) -> Seen:
        return self._seen.setdefault(process, Seen())

    def _observe_process(self, event: ProcessEvent) -> None:
        if isinstance(event, ProcessStarted):
            self._seen[event.process] = Seen()
        elif isinstance(event, ProcessSignalled):
            self._of(event.process).condition = SIGNALLED.get(event.signal, event.signal)
        elif isinstance(event, ProcessEnded):
            self._seen[event.process] = Seen(condition=f"{ENDED}{event.exit_status}")

    def _observe_reply(self, event: ReplyObserved) -> None:
        seen = self._of(event.process)
        if event.api == Api.JOIN_GROUP:
            seen.generation = f"g{event.reply_generation}"
        elif event.api == Api.SYNC_GROUP:
            seen.holds = event.assignment
        elif event.api == Api.LEAVE_GROUP:
            seen.generation, seen.holds = "", ()
