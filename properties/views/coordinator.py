"""The lives of a group at its coordinator, as the coordinator's own events tell them: what most claims about it need.

One `Life` per incarnation, so that a coordinator that was replaced and does not know it yet is judged by its own state.
What was not told stays unknown: a life that begins without its status knows its members from its next generation on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, NamedTuple, TypeVar

from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    Event,
    GenerationStarted,
    GroupDeleted,
    GroupMetadataAppended,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    OffsetCommitReplied,
    ReplyEvent,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.properties.kinds import Fold, Handler, Memories, Memory

EMPTY: Final = "Empty"
PREPARING: Final = "PreparingRebalance"
COMPLETING: Final = "CompletingRebalance"
STABLE: Final = "Stable"
DEAD: Final = "Dead"

ACCEPTED: Final = "NONE"
REFUSED_MEMBERS: Final = frozenset({"UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"})
"""The errors that say who is no member; any other answer of a fenced request takes its sender for one."""


NOT_TOLD: Final = "?"
"""In the place of an instance id: the history does not tell whether the member is static."""


class Arrival(NamedTuple):
    """The group at the moment when it took a request that it answers later."""

    status: str
    generation: int
    is_member: bool
    event: RequestParked


class Life:
    """One life of the group: what is known of it now.

    ``members`` maps member id to instance id ("" for a dynamic one, `NOT_TOLD` where nothing tells); it is complete
    where ``is_known``. ``joins`` and ``syncs`` hold the parked requests by member id, ``waits`` others by their number.
    ``arrival`` is the group as it was when it took the request that is being answered, None for one answered at once
    and for JoinGroup and SyncGroup, which are judged by the group as it is when they are answered.
    ``joined`` are the members that parked a JoinGroup since the last generation began, ``joiners`` those that did so
    for it; ``synced`` sent a SyncGroup for it, and ``had_synced`` says whether the member that was removed last had.
    ``listed`` are the protocol names of each member's last JoinGroup. ``pending`` are the ids that were handed out and
    not used yet. ``heirs`` maps the member id of a replaced static member to its successor's.
    """

    def __init__(self, incarnation: int, begun: IncarnationStarted | None = None) -> None:
        self.incarnation = incarnation
        self.begun = begun
        self.status = ""
        self.changed: GroupStatusChanged | None = None
        self.generation = -1
        self.started: GenerationStarted | None = None
        self.members: dict[str, str] = {}
        self.is_known = False
        self.joins: dict[str, RequestParked] = {}
        self.syncs: dict[str, RequestParked] = {}
        self.waits: dict[int, Arrival] = {}
        self.arrival: Arrival | None = None
        self.listed: dict[str, tuple[str, ...]] = {}
        self.joined: set[str] = set()
        self.joiners: set[str] = set()
        self.synced: set[str] = set()
        self.pending: dict[str, JoinGroupReplied] = {}
        self.heirs: dict[str, str] = {}
        self.had_synced = False
        self.replaced: MemberRemoved | None = None
        self.instance_replaced = ""
        self.record: GroupMetadataAppended | None = None
        if begun is not None:
            self._begin(begun)

    def _begin(self, event: IncarnationStarted) -> None:
        self.generation = event.generation
        self.status = event.status or (EMPTY if event.generation == 0 else "")
        self.is_known = bool(self.status)
        self.members = dict.fromkeys(event.members, "")
        self.members.update(event.instances)
        self.listed = dict.fromkeys(event.members, (event.protocol,)) if event.protocol else {}

    def heir_of(self, member_id: str) -> str:
        """Who has the seat of ``member_id`` now: itself, or the last of those that replaced it."""
        seen = set()
        while member_id in self.heirs and member_id not in seen:
            seen.add(member_id)
            member_id = self.heirs[member_id]
        return member_id

    def holder_of(self, instance_id: str) -> str:
        """The member that has this instance id; "" for none."""
        return next((member for member, instance in self.members.items() if instance == instance_id), "")


E = TypeVar("E", bound=CoordinatorEvent)


def _of_a_life(take: Callable[[Lives, Life, E], None]) -> Callable[[Lives, E], None]:
    """Hand ``take`` the life that its event is of; an event that names no incarnation changes none."""

    @wraps(take)
    def handler(self: Lives, event: E) -> None:
        life = self._at(event)
        if life is not None:
            take(self, life, event)

    return handler


class Lives(Memory):
    """All lives of one group; ``life`` is the one of the event that is being judged, None where it names none.

    ``tells_parked`` says whether the history tells of requests that the coordinator keeps.
    """

    def __init__(self) -> None:
        self.lives: dict[int, Life] = {}
        self.life: Life | None = None
        self.tells_parked = False
        handlers: dict[type[Event], Handler] = {
            IncarnationStarted: self._on_incarnation,
            GroupStatusChanged: self._on_status,
            MemberAdded: self._on_added,
            MemberRemoved: self._on_removed,
            GenerationStarted: self._on_generation,
            GroupMetadataWritten: self._on_other,
            GroupMetadataAppended: self._on_appended,
            GroupDeleted: self._on_other,
            RequestParked: self._on_parked,
            JoinGroupReplied: self._on_join_replied,
            SyncGroupReplied: self._on_sync_replied,
            HeartbeatReplied: self._on_reply,
            OffsetCommitReplied: self._on_reply,
            LeaveGroupReplied: self._on_other,
        }
        super().__init__(handlers)

    def _at(self, event: CoordinatorEvent) -> Life | None:
        incarnation = event.incarnation
        life = self.lives.get(incarnation)
        if life is None and incarnation >= 0:
            life = self.lives[incarnation] = Life(incarnation)
        self.life = life
        return life

    def _on_other(self, event: CoordinatorEvent) -> None:
        self._at(event)

    def _on_incarnation(self, event: IncarnationStarted) -> None:
        self.life = self.lives[event.incarnation] = Life(event.incarnation, event)

    @_of_a_life
    def _on_status(self, life: Life, event: GroupStatusChanged) -> None:
        life.status, life.changed, life.generation = event.to_status, event, event.generation

    @_of_a_life
    def _on_added(self, life: Life, event: MemberAdded) -> None:
        life.members[event.member_id] = event.instance_id
        life.pending.pop(event.member_id, None)
        life.heirs.pop(event.member_id, None)
        if life.replaced is not None and event.instance_id == life.instance_replaced:
            life.heirs[life.replaced.member_id] = event.member_id
        life.replaced = None

    @_of_a_life
    def _on_removed(self, life: Life, event: MemberRemoved) -> None:
        instance = life.members.pop(event.member_id, "")
        life.replaced = event if event.reason == "replaced" else None
        life.instance_replaced = instance
        life.joins.pop(event.member_id, None)
        life.syncs.pop(event.member_id, None)
        life.joined.discard(event.member_id)
        life.had_synced = event.member_id in life.synced
        life.synced.discard(event.member_id)
        if event.reason != "replaced":
            life.listed.pop(event.member_id, None)

    @_of_a_life
    def _on_generation(self, life: Life, event: GenerationStarted) -> None:
        life.generation, life.started = event.generation, event
        life.joiners, life.joined, life.synced = life.joined, set(), set()
        if not life.is_known:
            life.members = {member: life.members.get(member, NOT_TOLD) for member in event.members}
            life.is_known = True

    @_of_a_life
    def _on_appended(self, life: Life, event: GroupMetadataAppended) -> None:
        life.record = event

    def _on_parked(self, event: RequestParked) -> None:
        self.tells_parked = True
        life = self._at(event)
        if life is None:
            return
        if event.api == "JoinGroup":
            life.joins[event.member_id] = event
            life.joined.add(event.member_id)
            life.listed[event.member_id] = event.protocols
        elif event.api == "SyncGroup":
            life.syncs[event.member_id] = event
            life.synced.add(event.member_id)
        else:
            is_member = event.member_id in life.members
            life.waits[event.request] = Arrival(life.status, event.generation, is_member, event)

    @_of_a_life
    def _on_join_replied(self, life: Life, event: JoinGroupReplied) -> None:
        life.arrival = None
        who = next((member for member, parked in life.joins.items() if parked.request == event.request), "")
        life.joins.pop(who, None)
        if event.error == ACCEPTED or event.error in REFUSED_MEMBERS:
            life.joined.discard(who)
        elif event.error == "MEMBER_ID_REQUIRED":
            life.pending[event.assigned_member_id] = event

    @_of_a_life
    def _on_sync_replied(self, life: Life, event: SyncGroupReplied) -> None:
        life.arrival = None
        parked = life.syncs.get(event.member_id)
        if parked is not None and parked.request == event.request:
            del life.syncs[event.member_id]
        if event.error == ACCEPTED:
            life.synced.add(event.member_id)

    @_of_a_life
    def _on_reply(self, life: Life, event: ReplyEvent) -> None:
        life.arrival = life.waits.pop(event.request, None) if life.waits else None


class LifeFold(Fold):
    """A fold that looks at the lives of the group; ``life`` of `lives` is the one of the event at hand."""

    lives: Lives

    def share(self, memories: Memories) -> None:
        """All folds of a group look at the same lives."""
        self.lives = Lives.among(memories)
        self.memories = (self.lives,)
