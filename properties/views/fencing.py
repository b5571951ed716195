"""Requests as they were when they were sent or taken: stale ones, and those that waited for the log."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    UNKNOWN_INCARNATION,
    Event,
    GenerationStarted,
    GroupDeleted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberStarted,
    OffsetCommitReplied,
    ReplyEvent,
    RequestAnswered,
    RequestParked,
    RequestSent,
    SyncGroupReplied,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.coordinator import ACCEPTED
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent

FENCED_APIS: Final = frozenset({Api.SYNC_GROUP, Api.HEARTBEAT, Api.OFFSET_COMMIT})
"""The requests that carry a generation and are refused when it is not the current one."""

REPLIES: Final[tuple[type[ReplyEvent], ...]] = (
    JoinGroupReplied, SyncGroupReplied, HeartbeatReplied, LeaveGroupReplied, OffsetCommitReplied,
)  # fmt: skip


class StaleRequests(Memory):
    """The requests that were stale when they were sent, each with the newer generation.

    A request travels, so the generation that is current when the *reply* is seen proves nothing; one that had started
    before the request was *sent* does. ``answered`` is the stale request that the event at hand answers.
    """

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {
            IncarnationStarted: self._on_incarnation,
            IncarnationEnded: self._on_incarnation,
            GenerationStarted: self._on_generation,
            GroupDeleted: self._on_deleted,
            HeartbeatReplied: self._on_heartbeat,
            RequestSent: self._on_sent,
            RequestAnswered: self._on_answered,
            MemberStarted: self._on_started,
        }
        super().__init__(handlers)
        self.answered: tuple[RequestSent, GenerationStarted] | None = None
        self._deposed: set[int] = set()
        self._current: GenerationStarted | None = None
        self._stale: Recent[tuple[str, int], tuple[RequestSent, GenerationStarted]] = Recent(WAITING)

    def _on_incarnation(self, event: IncarnationStarted | IncarnationEnded) -> None:
        """A load may step back to an older generation and accept it again; until it is done, heartbeats go unread."""
        self._current = None
        self._stale.clear()
        if isinstance(event, IncarnationEnded):
            self._deposed.discard(event.incarnation)
            self._deposed.update({event.incarnation} if event.deposed else ())

    def _on_generation(self, event: GenerationStarted) -> None:
        self._current = event

    def _on_deleted(self, _event: GroupDeleted) -> None:
        """A new group of this name counts anew; and a coordinator that loads finds none, but answers heartbeats."""
        self._current = None
        self._stale.clear()

    def _on_heartbeat(self, event: HeartbeatReplied) -> None:
        """A coordinator that was paused while it loaded, and runs again, still loads, though another node leads now."""
        if event.incarnation == UNKNOWN_INCARNATION and event.error == ACCEPTED:
            for key in [key for key, (sent, _) in self._stale.items() if sent.api == Api.HEARTBEAT]:
                del self._stale[key]

    def _on_started(self, event: MemberStarted) -> None:
        """A new process numbers its requests anew."""
        for key in [key for key in self._stale if key[0] == event.member]:
            del self._stale[key]

    def _on_sent(self, event: RequestSent) -> None:
        current = None if self._deposed else self._current
        if current is not None and event.api in FENCED_APIS and 0 <= event.generation < current.generation:
            self._stale[event.member, event.request] = (event, current)

    def _on_answered(self, event: RequestAnswered) -> None:
        self.answered = self._stale.pop((event.member, event.request), None)


class Writes(Memory):
    """Replies that wait for the log.

    ``waited`` says whether the coordinator had parked the request that the event at hand answers. ``unwritten`` has, by
    incarnation, the last record that is not appended yet. If its write fails, the coordinator refuses the request that
    asked for it.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                RequestParked: self._on_parked,
                GroupMetadataWritten: self._on_written,
                GroupMetadataAppended: self._on_appended,
                **dict.fromkeys(REPLIES, self._on_replied),
            }
        )
        self.waited = False
        self.unwritten: Recent[int, GroupMetadataWritten] = Recent(GENERATIONS)
        self._parked: Recent[int, RequestParked] = Recent(WAITING)

    def _on_parked(self, event: RequestParked) -> None:
        self._parked[event.request] = event

    def _on_written(self, event: GroupMetadataWritten) -> None:
        self.unwritten[event.incarnation] = event

    def _on_appended(self, event: GroupMetadataAppended) -> None:
        self.unwritten.pop(event.incarnation, None)

    def _on_replied(self, event: ReplyEvent) -> None:
        self.waited = self._parked.pop(event.request, None) is not None
