"""Where each member stands with its group, and in which callback its coordinator is: what claims of contract share.

Judged by what was sent and answered. `MemberJoined` says which accepted reply to JoinGroup a member applied; what ended
the membership is a LeaveGroup, or the loss that `MembershipLost` records.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    FINISHED,
    ON_JOIN_COMPLETE,
    ON_JOIN_PREPARE,
    UNFINISHED,
    CallbackEnded,
    CallbackStarted,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.recent import DEPARTED, Recent

FAMILY: Final = "contract"


class Standing:
    """What is known of a process.

    ``started`` and ``ended`` are its begin and its end. ``joined`` is the JoinGroup that it was accepted with last,
    ``synced`` the accepted SyncGroup after it, ``over`` what ended that membership. ``unprepared`` is what makes an
    onJoinPrepare necessary before the next JoinGroup, ``call`` the callback that has begun and not ended, ``repeats``
    one that asked to be called again, ``completed`` the last onJoinComplete that finished since ``joined``.
    """

    __slots__ = ("call", "completed", "ended", "joined", "over", "repeats", "started", "synced", "unprepared")

    def __init__(self, started: MemberStarted | None = None) -> None:
        self.started = started
        self.ended: Event | None = None
        self.joined: MemberJoined | None = None
        self.synced: RequestAnswered | None = None
        self.over: Event | None = None
        self.unprepared: Event | None = started
        self.call: CallbackStarted | None = None
        self.repeats: CallbackStarted | None = None
        self.completed: CallbackStarted | None = None


class Standings(Memory):
    """The standing of each process. Claims look at it after it has taken the event; `before` is the callback that
    was running when the last one began, ``records`` whether the history has any."""

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self._on_started,
            MemberCrashed: self._on_ended,
            MemberLeft: self._on_ended,
            MemberJoined: self._on_joined,
            MembershipLost: self._on_lost,
            RequestSent: self._on_sent,
            RequestAnswered: self._on_answered,
            CallbackStarted: self._on_call,
            CallbackEnded: self._on_return,
        }
        super().__init__(handlers)
        self.of: dict[str, Standing] = {}
        self._ended: Recent[str, MemberEvent] = Recent(DEPARTED)
        self.before: CallbackStarted | None = None
        self.records = False

    def at(self, member: str) -> Standing:
        """The standing of this process."""
        found = self.of.get(member)
        if found is None:
            found = self.of[member] = Standing()
        return found

    def _on_started(self, event: MemberStarted) -> None:
        self.of[event.member] = Standing(event)
        self._ended.pop(event.member, None)

    def _on_ended(self, event: MemberEvent) -> None:
        """Those that ended last are remembered."""
        self.at(event.member).ended = event
        self._ended[event.member] = event
        if len(self._ended) == DEPARTED:
            oldest = next(iter(self._ended))
            del self._ended[oldest], self.of[oldest]

    def _on_joined(self, event: MemberJoined) -> None:
        one = self.at(event.member)
        one.joined, one.synced, one.over, one.completed = event, None, None, None

    def _on_lost(self, event: MembershipLost) -> None:
        one = self.at(event.member)
        one.over = one.over or event
        if one.call is None or one.call.callback != ON_JOIN_PREPARE:
            one.unprepared = event

    def _on_sent(self, event: RequestSent) -> None:
        if event.api == Api.LEAVE_GROUP:
            one = self.at(event.member)
            one.over = one.over or event

    def _on_answered(self, event: RequestAnswered) -> None:
        if event.api == Api.SYNC_GROUP and event.error == "NONE":
            self.at(event.member).synced = event

    def _on_call(self, event: CallbackStarted) -> None:
        one = self.at(event.member)
        self.before, one.call = one.call, event
        self.records = True

    def _on_return(self, event: CallbackEnded) -> None:
        one = self.at(event.member)
        call, one.call = one.call, None
        if event.outcome == UNFINISHED:
            one.repeats = call
            return
        one.repeats = None
        if event.callback == ON_JOIN_PREPARE:
            one.unprepared = None  # one that raised is not called again, either
        elif event.callback == ON_JOIN_COMPLETE and event.outcome == FINISHED:
            one.completed, one.unprepared = call, event
