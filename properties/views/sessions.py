"""When each member last gave a sign of activity, and which timeouts it asked for: what claims about time need."""

from __future__ import annotations

from typing import ClassVar, Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    CoordinatorEvent,
    Event,
    GenerationStarted,
    HeartbeatReplied,
    IncarnationStarted,
    JoinGroupReplied,
    MemberAdded,
    MemberRemoved,
    NodeChanged,
    OffsetCommitReplied,
    ReplyEvent,
    RequestParked,
    RunStarted,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.coordinator import ACCEPTED, Incarnation, Incarnations
from rebalance_check.properties.views.recent import DEPARTED, Recent

Key: TypeAlias = tuple[int, str]
"""Incarnation and member id."""

NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 300_000
"""``GroupMetadataManager.NEW_MEMBER_JOIN_TIMEOUT_MS``, where no event says another."""

NOT_WRITTEN: Final = "COORDINATOR_NOT_AVAILABLE"
"""The answer to a request whose write failed. The group still waits with a member whose JoinGroup or
SyncGroup got it."""

PROLONGS: Final = frozenset({ACCEPTED, "REBALANCE_IN_PROGRESS"})
"""The answers to a heartbeat that start its sender's session anew."""


_ASKS: Final = (MemberRemoved, RequestParked, HeartbeatReplied, SyncGroupReplied, OffsetCommitReplied)
_OF_SESSIONS: Final[tuple[type[Event], ...]] = (
    *_ASKS, RunStarted, CoordinatorConfigured, NodeChanged, IncarnationStarted, GenerationStarted, MemberAdded,
    JoinGroupReplied,
)  # fmt: skip


class Sessions(Memory):
    """When each member of each incarnation was last active, and the timeouts that it asked for.

    ``punctual`` is what the run says of its timers, until a node is paused. ``joins`` is a member's last JoinGroup that
    was parked: it states the member's timeouts. ``prolonged`` is when its session certainly began anew last, and the
    session timeout that it had then, ``seen`` the last event of its activity (while it waits: what it waits with),
    ``before`` what that was before the event at hand. ``asked`` is the event by which it had its session timeout until
    the event at hand, and that timeout (0: unknown). ``new_member_ms`` is how long a new member may wait in its first
    JoinGroup.
    """

    uses: ClassVar = (Incarnations,)

    def __init__(self, incarnations: Incarnations) -> None:
        self.incarnations = incarnations
        self.punctual = False
        self.joins: dict[Key, RequestParked] = {}
        self.longest: dict[int, int] = {}
        self.seen: dict[Key, CoordinatorEvent] = {}
        self.prolonged: dict[Key, tuple[CoordinatorEvent, int]] = {}
        self.before: CoordinatorEvent | None = None
        self.asked: tuple[CoordinatorEvent | None, int] = (None, 0)
        self.new_member_ms = NEW_MEMBER_JOIN_TIMEOUT_MS
        self._gone: Key | None = None
        self._waiting: set[Key] = set()
        self._replaced: Recent[Key, MemberRemoved] = Recent(DEPARTED)
        super().__init__(dict.fromkeys(_OF_SESSIONS, self._take))

    def timeouts_of(self, group: Incarnation) -> int:
        """The longest rebalance timeout of this incarnation so far; 0 where not all of them are recorded."""
        all_recorded = group.begun is not None and not group.begun.members
        return self.longest.get(group.incarnation, 0) if all_recorded else 0

    def session_ms(self, group: Incarnation, member_id: str) -> int:
        """The session timeout that a member asked for, of a group that was read the longest of all (0: unknown)."""
        joined = self.joins.get((group.incarnation, member_id))
        if joined is not None:
            return joined.session_timeout_ms
        is_read = group.begun is not None and member_id in group.begun.members
        return group.begun.session_timeout_ms if is_read and group.begun is not None else 0

    def _take(self, event: Event) -> None:
        if isinstance(event, _ASKS):
            self._note_asked(event.incarnation, event.member_id)
        match event:
            case RunStarted():
                self.punctual = event.punctual
            case CoordinatorConfigured():
                self.new_member_ms = event.new_member_join_timeout_ms or NEW_MEMBER_JOIN_TIMEOUT_MS
            case NodeChanged():  # what a paused node does when it runs again is late
                self.punctual = self.punctual and event.change != "paused"
            case IncarnationStarted():  # all members that were read from the log begin a session
                self.seen.update(((event.incarnation, member), event) for member in event.members)
            case GenerationStarted():
                self._begin_all(event)
            case MemberAdded():
                self._add(event)
            case MemberRemoved():
                self._remove(event)
            case RequestParked():
                if event.api == Api.JOIN_GROUP:
                    self._note_timeouts(event)
                self._active(event.member_id, event)
            case JoinGroupReplied() if event.error == ACCEPTED:
                self._answer_join(event)
            case JoinGroupReplied() if event.error == NOT_WRITTEN:
                self._waiting.add((event.incarnation, event.assigned_member_id or event.member_id))
            case HeartbeatReplied() | OffsetCommitReplied():
                self._active(event.member_id, event)
                if event.error == ACCEPTED or (event.error in PROLONGS and isinstance(event, HeartbeatReplied)):
                    self._prolong(event)
            case SyncGroupReplied():
                self._answer_sync(event)

    def _note_asked(self, incarnation: int, member_id: str) -> None:
        """The timeouts of a member before this event, by which its silence up to here is judged."""
        group = self.incarnations.current
        joined = self.joins.get((incarnation, member_id), group.begun if group is not None else None)
        is_judged = group is not None and (incarnation, member_id) not in self._waiting
        self.asked = joined, self.session_ms(group, member_id) if group is not None and is_judged else 0

    def _note_timeouts(self, event: RequestParked) -> None:
        """A JoinGroup has its timeouts; version 0 has one for both.

        A static member that returns to a Stable group keeps its predecessor's timeouts until its first heartbeat.
        Where they differ from its own, or are not recorded, which of them hold is not certain, and none is noted.
        """
        longest = max(event.rebalance_timeout_ms, event.session_timeout_ms if event.rebalance_timeout_ms <= 0 else 0)
        self.longest[event.incarnation] = max(longest, self.longest.get(event.incarnation, 0))
        group, key = self.incarnations.current, (event.incarnation, event.member_id)
        self.joins[key] = event
        if group is None or group.status != GroupStatus.STABLE:
            return
        before = group.predecessors.get(event.member_id, "")
        before = before if group.heirs.get(before) == event.member_id else ""
        known = self.joins.get((event.incarnation, before))
        own = event.session_timeout_ms, event.rebalance_timeout_ms
        if before and (known is None or (known.session_timeout_ms, known.rebalance_timeout_ms) != own):
            del self.joins[key]

    def _begin_all(self, event: GenerationStarted) -> None:
        """All sessions begin anew, those of silent static members, too; the members that wait are answered next."""
        self._waiting.clear()
        for member in event.members:
            key = (event.incarnation, member)
            if not isinstance(self.seen.get(key), RequestParked):
                self.seen[key] = event

    def _add(self, event: MemberAdded) -> None:
        """Its session begins; that of a member whose replacement could not be written is not certain."""
        key = event.incarnation, event.member_id
        self._active(event.member_id, event)
        self._gone = None if self._gone == key else self._gone
        if key in self._replaced:
            del self.seen[key]

    def _remove(self, event: MemberRemoved) -> None:
        """It is no longer active; what is known of it is forgotten when the next one goes."""
        key = event.incarnation, event.member_id
        if event.reason == "replaced":
            self._replaced[key] = event
        self.before = self.seen.pop(key, None)
        self._waiting.discard(key)
        for known in (self.joins, self.prolonged, self.seen):
            if self._gone is not None:
                known.pop(self._gone, None)
        self._gone = key

    def _answer_join(self, event: JoinGroupReplied) -> None:
        """A member that waited for a rebalance begins a session with the answer. One that waited for a write, as a
        static member that returns does, began it when it came."""
        self._active(event.assigned_member_id, event)
        key = (event.incarnation, event.assigned_member_id)
        parked = self.joins.get(key)
        if parked is not None and parked.request == event.request:
            begun = event if event.reply_generation != parked.generation else parked
            self.prolonged[key] = begun, parked.session_timeout_ms

    def _answer_sync(self, event: SyncGroupReplied) -> None:
        """It was active; where the write of its SyncGroup failed, the group waits with it until the next generation."""
        if event.error == NOT_WRITTEN:
            self._waiting.add((event.incarnation, event.member_id))
            self.before = self.seen.get((event.incarnation, event.member_id))
        else:
            self._active(event.member_id, event)

    def _prolong(self, event: ReplyEvent) -> None:
        """A session begins anew when the request arrives, even if its answer waits for earlier writes."""
        group = self.incarnations.current
        if group is not None:
            begun = event if group.arrival is None else group.arrival.event
            session_ms = self.session_ms(group, event.member_id)
            self.prolonged[event.incarnation, event.member_id] = begun, session_ms

    def _active(self, member_id: str, event: CoordinatorEvent) -> None:
        key, group = (event.incarnation, member_id), self.incarnations.current
        self.before = self.seen.get(key)
        waits = group is not None and (member_id in group.joins or member_id in group.syncs)
        if isinstance(event, RequestParked) or not (waits and isinstance(self.before, RequestParked)):
            self.seen[key] = event
