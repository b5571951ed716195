"""Where each member stands with its group, in which callback its coordinator is, and what of it is recorded at all.

Judged by what was sent and answered. `MemberJoined` says which accepted reply to JoinGroup a member applied; what ended
the membership is a LeaveGroup, or the loss that `MembershipLost` records.

A claim about what a member leaves undone judges it only where the doing would stand in the history, and `Standing`
decides that for all of them: a foreign client that is seen on the wire shows no callbacks and no coordinator, and one
whose requests are known by their answers alone shows none of them. Claims about times need a run with virtual time,
which records all of it (`pace`).
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    FINISHED,
    ON_JOIN_COMPLETE,
    UNFINISHED,
    CallbackEnded,
    CallbackStarted,
    CoordinatorFound,
    CoordinatorLost,
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
from rebalance_check.properties.kinds import Fold, Handler, Memories, Memory
from rebalance_check.properties.views.recent import DEPARTED, Recent

FAMILY: Final = "contract"


class Standing:
    """What is known of a process.

    ``started`` is its begin. ``joined`` is the JoinGroup that it was accepted with last, ``synced`` the accepted
    SyncGroup after it, ``over`` what ended that membership. ``call`` is the callback that has begun and not ended,
    ``repeats`` one that asked to be called again, ``completed`` the last onJoinComplete that finished since ``joined``,
    ``coordinator`` the one that it knows.
    """

    __slots__ = (
        "_recorded", "call", "completed", "coordinator", "joined", "over", "repeats", "started", "synced",
    )  # fmt: skip

    def __init__(self, started: MemberStarted | None = None) -> None:
        self.started = started
        self.joined: MemberJoined | None = None
        self.synced: RequestAnswered | None = None
        self.over: Event | None = None
        self.call: CallbackStarted | None = None
        self.repeats: CallbackStarted | None = None
        self.completed: CallbackStarted | None = None
        self.coordinator: CoordinatorFound | None = None
        self._recorded: set[type[Event]] = set()

    def note(self, event: CallbackStarted | RequestSent) -> None:
        """The process did this, and it is recorded."""
        self._recorded.add(type(event))

    def records(self, kind: type[CallbackStarted | RequestSent]) -> bool:
        """Whether what the process does of this kind is recorded: the history holds one such event of it.

        That its coordinators are recorded follows from ``coordinator``, without which no claim speaks of one.
        """
        return kind in self._recorded


class Standings(Memory):
    """The standing of each process. Claims look at it after it has taken the event."""

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
            CoordinatorFound: self._on_found,
            CoordinatorLost: self._on_coordinator_lost,
        }
        super().__init__(handlers)
        self.of: dict[str, Standing] = {}
        self._ended: Recent[str, MemberEvent] = Recent(DEPARTED)

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
        self.at(event.member)
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

    def _on_found(self, event: CoordinatorFound) -> None:
        self.at(event.member).coordinator = event

    def _on_coordinator_lost(self, event: CoordinatorLost) -> None:
        self.at(event.member).coordinator = None

    def _on_sent(self, event: RequestSent) -> None:
        one = self.at(event.member)
        one.note(event)
        if event.api == Api.LEAVE_GROUP:
            one.over = one.over or event

    def _on_answered(self, event: RequestAnswered) -> None:
        if event.api == Api.SYNC_GROUP and event.error == "NONE":
            self.at(event.member).synced = event

    def _on_call(self, event: CallbackStarted) -> None:
        one = self.at(event.member)
        one.note(event)
        one.call = event

    def _on_return(self, event: CallbackEnded) -> None:
        one = self.at(event.member)
        call, one.call = one.call, None
        if event.outcome == UNFINISHED:
            one.repeats = call
            return
        one.repeats = None
        if event.callback == ON_JOIN_COMPLETE and event.outcome == FINISHED:
            one.completed = call


class StandingFold(Fold):
    """A claim that looks at where members stand."""

    standings: Standings

    def share(self, memories: Memories) -> None:
        """All claims look at the same standings."""
        self.standings = Standings.among(memories)
        self.memories = (self.standings,)
