"""The JoinGroup or SyncGroup of each member that the coordinator keeps, as it stands when the member goes."""

from __future__ import annotations

from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    IncarnationStarted,
    JoinGroupReplied,
    MemberRemoved,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.recent import WAITING, Recent

UNKNOWN_MEMBER_ID: Final = "UNKNOWN_MEMBER_ID"

MemberKey: TypeAlias = tuple[int, str]
"""An incarnation of the group, and a member id."""


class Waiting(Memory):
    """What waits, by incarnation and member id.

    ``left_behind`` is what the member that was removed last waited for, ``turned_away`` what it had waited for until it
    was answered UNKNOWN_MEMBER_ID just before.
    """

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {
            IncarnationStarted: self._on_incarnation,
            RequestParked: self._on_parked,
            JoinGroupReplied: self._on_replied,
            SyncGroupReplied: self._on_replied,
            MemberRemoved: self._on_removed,
        }
        super().__init__(handlers)
        self.left_behind: RequestParked | None = None
        self.turned_away: RequestParked | None = None
        self._refused: RequestParked | None = None
        self._kept: Recent[MemberKey, RequestParked] = Recent(WAITING)
        self._sender: Recent[tuple[int, int], MemberKey] = Recent(WAITING)

    def _on_incarnation(self, event: IncarnationStarted) -> None:
        """What an earlier one of the same number kept is no concern of this one."""
        for key in [key for key in self._kept if key[0] == event.incarnation]:
            del self._kept[key]

    def _on_parked(self, event: RequestParked) -> None:
        """A later request of the same member supersedes the one before."""
        if event.api in {Api.JOIN_GROUP, Api.SYNC_GROUP}:
            key = (event.incarnation, event.member_id)
            self._kept.pop(key, None)
            self._kept[key] = event
            self._sender[event.incarnation, event.request] = key

    def _on_replied(self, event: JoinGroupReplied | SyncGroupReplied) -> None:
        key = self._sender.pop((event.incarnation, event.request), None)
        kept = self._kept.get(key) if key is not None else None
        if key is not None and kept is not None and kept.request == event.request:
            del self._kept[key]
            self._refused = kept if event.error == UNKNOWN_MEMBER_ID else None

    def _on_removed(self, event: MemberRemoved) -> None:
        key, refused = (event.incarnation, event.member_id), self._refused
        self.left_behind = self._kept.pop(key, None)
        is_its_own = refused is not None and (refused.incarnation, refused.member_id) == key
        self.turned_away, self._refused = (refused if is_its_own else None), None


class LastJoins(Memory):
    """The JoinGroup that each member waited with last; ``before`` is the one before the JoinGroup at hand."""

    def __init__(self) -> None:
        super().__init__(
            {
                IncarnationStarted: self._on_incarnation,
                RequestParked: self._on_parked,
                MemberRemoved: self._on_removed,
            }
        )
        self.before: RequestParked | None = None
        self._last: Recent[MemberKey, RequestParked] = Recent(WAITING)

    def _on_incarnation(self, event: IncarnationStarted) -> None:
        for key in [key for key in self._last if key[0] == event.incarnation]:
            del self._last[key]

    def _on_parked(self, event: RequestParked) -> None:
        if event.api == Api.JOIN_GROUP:
            key = (event.incarnation, event.member_id)
            self.before, self._last[key] = self._last.get(key), event

    def _on_removed(self, event: MemberRemoved) -> None:
        if event.reason != "replaced":
            self._last.pop((event.incarnation, event.member_id), None)
