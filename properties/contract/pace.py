"""What keeps a member from acting at a time: whether its threads run, and what it knows. Times are in ms.

Only where time is virtual (`RunStarted.punctual`) is it recorded when an application stays away, and does a thread run
at the time that it is to run.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ON_JOIN_PREPARE,
    UNFINISHED,
    ApplicationBusy,
    CallbackEnded,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberClosing,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
)
from rebalance_check.properties.kinds import Handler, Memories, Memory
from rebalance_check.properties.views.simulated import Run

SLACK_MS: Final = 5
"""How much later than due a thread may run: a timer of the simulator is at least a millisecond ahead."""

NEVER: Final = 10**15


class Pace:
    """What is known of a process.

    ``runs_since`` and ``polls_since`` are since when its heartbeat thread and its application run without a break
    (`NEVER` while they do not), ``knows_since`` since when it knows its coordinator. ``prepared_at`` is when
    an onJoinPrepare that took several calls was over (`NEVER` while it is to be repeated).
    """

    __slots__ = (
        "is_closing", "knows_since", "polls_since", "prepared_at", "runs_since",
    )  # fmt: skip

    def __init__(self, started: MemberStarted) -> None:
        self.runs_since = self.polls_since = started.time_ms
        self.knows_since = NEVER
        self.prepared_at = 0
        self.is_closing = False

    def joins_since(self) -> int:
        """Since when its application has all that it needs to send JoinGroup; `NEVER` while it has not."""
        if self.is_closing:
            return NEVER
        return max(self.runs_since, self.polls_since, self.knows_since, self.prepared_at)


class Paces(Memory):
    """The pace of each process whose start is in the history, in a run with virtual time."""

    def __init__(self, run: Run) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self._on_started,
            MemberCrashed: self._on_ended,
            MemberLeft: self._on_ended,
            MemberClosing: self._on_closing,
            MemberPaused: self._on_paused,
            MemberResumed: self._on_resumed,
            ApplicationBusy: self._on_busy,
            CoordinatorFound: self._on_found,
            CoordinatorLost: self._on_coordinator_lost,
            CallbackEnded: self._on_return,
        }
        super().__init__(handlers)
        self.of: dict[str, Pace] = {}
        self.run = run

    @classmethod
    def begin(cls, memories: Memories) -> Paces:
        """A new one; the begin of the run says whether time is virtual."""
        return cls(Run.among(memories))

    def _on_started(self, event: MemberStarted) -> None:
        if self.run.is_simulated:
            self.of[event.member] = Pace(event)

    def _on_ended(self, event: MemberEvent) -> None:
        self.of.pop(event.member, None)

    def _on_closing(self, event: MemberClosing) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.is_closing = True

    def _on_paused(self, event: MemberPaused) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.runs_since = pace.polls_since = NEVER

    def _on_resumed(self, event: MemberResumed) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.runs_since = pace.polls_since = event.time_ms

    def _on_busy(self, event: ApplicationBusy) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.polls_since = event.time_ms + event.busy_ms

    def _on_found(self, event: CoordinatorFound) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.knows_since = event.time_ms

    def _on_coordinator_lost(self, event: CoordinatorLost) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.knows_since = NEVER

    def _on_return(self, event: CallbackEnded) -> None:
        if event.callback == ON_JOIN_PREPARE and (pace := self.of.get(event.member)) is not None:
            if event.outcome == UNFINISHED:
                pace.prepared_at = NEVER
            elif pace.prepared_at == NEVER:
                pace.prepared_at = event.time_ms
