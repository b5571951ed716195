"""What keeps a member from acting at a time: whether its threads run, and what it knows. Times are in ms.

Only where time is virtual (`RunStarted.punctual`) is it recorded when an application stays away, and does a thread run
at the time that it is to run.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
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
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    RequestSent,
)
from rebalance_check.properties.kinds import Handler, Memories, Memory
from rebalance_check.properties.views.simulated import Run

SLACK_MS: Final = 5
"""How much later than due a thread may run: a timer of the simulator is at least a millisecond ahead."""

NEVER: Final = 10**15


class Pace:
    """What is known of a process.

    ``runs_since`` and ``polls_since`` are since when its heartbeat thread and its application run without a break
    (`NEVER` while they do not), ``knows_since`` since when it knows its coordinator. ``in_group`` is the JoinGroup that
    it was accepted with, None while it belongs to no generation or joins again. ``prepared_at`` is when an
    onJoinPrepare that took several calls was over (`NEVER` while it is to be repeated), ``away`` the last
    `ApplicationBusy`.
    """

    __slots__ = (
        "away", "in_group", "is_closing", "knows_since", "polls_since", "prepared_at", "runs_since", "started",
    )  # fmt: skip

    def __init__(self, started: MemberStarted) -> None:
        self.started = started
        self.runs_since = self.polls_since = started.time_ms
        self.knows_since = NEVER
        self.prepared_at = 0
        self.in_group: MemberJoined | None = None
        self.is_closing = False
        self.away: ApplicationBusy | None = None

    def beats_since(self) -> int:
        """Since when its heartbeat thread has all that it needs to send heartbeats; `NEVER` while it has not."""
        if self.in_group is None or self.is_closing:
            return NEVER
        return max(self.runs_since, self.knows_since, self.in_group.time_ms)

    def joins_since(self, prepared_at: int | None = None) -> int:
        """Since when its application has all that it needs to send JoinGroup; `NEVER` while it has not.

        ``prepared_at`` is when an onJoinPrepare is over that the claim knows more of.
        """
        if self.is_closing:
            return NEVER
        prepared_ms = self.prepared_at if prepared_at is None else prepared_at
        return max(self.runs_since, self.polls_since, self.knows_since, prepared_ms)

    def acts_since(self) -> int:
        """Since when its threads and its application all run; `NEVER` while one of them does not."""
        return max(self.runs_since, self.polls_since)

    def retries_since(self) -> int:
        """Since when its application polls, plus a back-off that began when it learned of an attempt that failed."""
        return NEVER if self.is_closing else self.acts_since() + self.started.retry_backoff_ms


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
            MemberJoined: self._on_joined,
            MembershipLost: self._on_lost,
            CallbackEnded: self._on_return,
            RequestSent: self._on_sent,
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
            pace.away = None

    def _on_resumed(self, event: MemberResumed) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.runs_since = pace.polls_since = event.time_ms

    def _on_busy(self, event: ApplicationBusy) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.away, pace.polls_since = event, event.time_ms + event.busy_ms

    def _on_found(self, event: CoordinatorFound) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.knows_since = event.time_ms

    def _on_coordinator_lost(self, event: CoordinatorLost) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.knows_since = NEVER

    def _on_joined(self, event: MemberJoined) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.in_group = event

    def _on_lost(self, event: MembershipLost) -> None:
        if (pace := self.of.get(event.member)) is not None:
            pace.in_group = None

    def _on_return(self, event: CallbackEnded) -> None:
        if event.callback == ON_JOIN_PREPARE and (pace := self.of.get(event.member)) is not None:
            if event.outcome == UNFINISHED:
                pace.prepared_at = NEVER
            elif pace.prepared_at == NEVER:
                pace.prepared_at = event.time_ms

    def _on_sent(self, event: RequestSent) -> None:
        if event.api == Api.JOIN_GROUP and (pace := self.of.get(event.member)) is not None:
            pace.in_group = None
