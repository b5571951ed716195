"""The incarnations of a group at its coordinator, as the coordinator's own events show them.

There is one `Incarnation` for each, so a coordinator that was replaced and does not know it yet is judged by its own
state.
What no event shows stays unknown: an incarnation that begins without its status knows its members from its next
generation on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, NamedTuple, TypeVar

from rebalance_check.model.vocabulary.apis import Api
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
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent

ACCEPTED: Final = "NONE"
REFUSED_MEMBERS: Final = frozenset({"UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"})
"""The errors that say who is no member; any other answer of a fenced request takes its sender for one."""

SESSION_EXPIRED: Final = "session expired"
"""Why a member goes that was silent for too long."""


NOT_RECORDED: Final = "?"
"""In the place of an instance id: the history does not say whether the member is static."""


class Arrival(NamedTuple):
    """The group as it was when it took a request that it answers later."""

    status: str
    generation: int
    is_member: bool
    event: RequestParked


class Incarnation:
    """What is known now of the group in one incarnation.

    ``members`` maps member id to instance id ("" for a dynamic one, `NOT_RECORDED` where no event says it); it is
    complete where ``is_known``. ``joins`` and ``syncs`` hold the parked requests by member id, ``waits`` others by
    their number.
    ``arrival`` is the group as it was when it took the request that is being answered, None for one answered at once
    and for JoinGroup and SyncGroup, which are judged by the group as it is when they are answered.
    ``joined`` are the members that parked a JoinGroup since the last generation began, ``joiners`` those that did so
    for it; ``synced`` sent a SyncGroup for it, and ``had_synced`` says whether the member that was removed last had.
    ``last_joins`` has the JoinGroup that each member waited with last, ``join_before`` is the one before that at hand.
    ``left_behind`` is what the member that was removed last waited for, or had waited for until it was answered
    UNKNOWN_MEMBER_ID just before.
    ``listed`` are the protocol names of each member's last JoinGroup. ``pending`` are the ids that were handed out and
    not used yet. ``heirs`` maps the member id of a replaced static member to its successor's, ``predecessors`` is the
    reverse.
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
        self.pending: dict[str, JoinGroupReplied] = Recent(WAITING)
        self.heirs: dict[str, str] = Recent(WAITING)
        self.predecessors: dict[str, str] = Recent(WAITING)
        self.had_synced = False
        self.last_joins: dict[str, RequestParked] = Recent(WAITING)
        self.join_before: RequestParked | None = None
        self.left_behind: RequestParked | None = None
        self.turned_away: RequestParked | None = None
        self.replaced: MemberRemoved | None = None
        self.instance_replaced = ""
        self.record: GroupMetadataAppended | None = None
        if begun is not None:
            self._begin(begun)

    def _begin(self, event: IncarnationStarted) -> None:
        self.generation = event.generation
        self.status = event.status or (GroupStatus.EMPTY if event.generation == 0 else "")
        self.is_known = bool(self.status)
        self.members = dict.fromkeys(event.members, "")
        self.members.update(event.instances)
        self.listed = dict.fromkeys(event.members, (event.protocol,)) if event.protocol else {}

    def heir_of(self, member_id: str) -> str:
        """The member id that stands for ``member_id`` now: itself, or the last of those that replaced it."""
        seen = set()
        while member_id in self.heirs and member_id not in seen:
            seen.add(member_id)
            member_id = self.heirs[member_id]
        return member_id

    def waiting_with(self, event: JoinGroupReplied) -> str:
        """The member id under which the request is parked that is answered now; "" for none."""
        for member_id in (event.assigned_member_id, event.member_id):
            parked = self.joins.get(member_id)
            if parked is not None and parked.request == event.request:
                return member_id
        return next((member for member, parked in self.joins.items() if parked.request == event.request), "")

    def note_refused(self, parked: RequestParked | None, error: str) -> None:
        """A request that was parked is answered with this error."""
        if parked is not None:
            self.turned_away = parked if error == "UNKNOWN_MEMBER_ID" else None

    def holder_of(self, instance_id: str) -> str:
        """The member that has this instance id; "" for none."""
        return next((member for member, instance in self.members.items() if instance == instance_id), "")


E = TypeVar("E", bound=CoordinatorEvent)


def _of_an_incarnation(take: Callable[[Incarnations, Incarnation, E], None]) -> Callable[[Incarnations, E], None]:
    """Hand ``take`` the incarnation that its event is of; an event that names no incarnation changes none."""

    @wraps(take)
    def handler(self: Incarnations, event: E) -> None:
        group = self._at(event)
        if group is not None:
            take(self, group, event)

    return handler


class Incarnations(Memory):
    """All incarnations of one group; ``current`` is that of the event that is being judged, None where it names none.

    ``tells_parked`` says whether the history records the requests that the coordinator keeps.
    """

    def __init__(self) -> None:
        self.known: dict[int, Incarnation] = Recent(GENERATIONS)
        self.current: Incarnation | None = None
        self.tells_parked = False
        self._taken_in: dict[int, Incarnation] = Recent(WAITING)
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

    @property
    def latest(self) -> Incarnation | None:
        """The last incarnation that is known, None where the coordinator records nothing."""
        return self.known[max(self.known)] if self.known else None

    def _at(self, event: CoordinatorEvent) -> Incarnation | None:
        incarnation = event.incarnation
        group = self.known.get(incarnation)
        if group is None and incarnation >= 0:
            group = self.known[incarnation] = Incarnation(incarnation)
        self.current = group
        return group

    def _on_other(self, event: CoordinatorEvent) -> None:
        self._at(event)

    def _on_incarnation(self, event: IncarnationStarted) -> None:
        self.current = self.known[event.incarnation] = Incarnation(event.incarnation, event)

    @_of_an_incarnation
    def _on_status(self, group: Incarnation, event: GroupStatusChanged) -> None:
        group.status, group.changed, group.generation = event.to_status, event, event.generation

    @_of_an_incarnation
    def _on_added(self, group: Incarnation, event: MemberAdded) -> None:
        group.members[event.member_id] = event.instance_id
        group.pending.pop(event.member_id, None)
        group.heirs.pop(event.member_id, None)
        if group.replaced is not None and event.instance_id == group.instance_replaced:
            group.heirs[group.replaced.member_id] = event.member_id
            group.predecessors[event.member_id] = group.replaced.member_id
        group.replaced = None

    @_of_an_incarnation
    def _on_removed(self, group: Incarnation, event: MemberRemoved) -> None:
        instance = group.members.pop(event.member_id, "")
        group.replaced = event if event.reason == "replaced" else None
        group.instance_replaced = instance
        kept = group.joins.pop(event.member_id, None) or group.syncs.pop(event.member_id, None)
        refused, group.turned_away = group.turned_away, None
        group.left_behind = kept or (refused if refused is not None and refused.member_id == event.member_id else None)
        group.joined.discard(event.member_id)
        group.had_synced = event.member_id in group.synced
        group.synced.discard(event.member_id)
        if event.reason != "replaced":
            group.listed.pop(event.member_id, None)
            group.last_joins.pop(event.member_id, None)

    @_of_an_incarnation
    def _on_generation(self, group: Incarnation, event: GenerationStarted) -> None:
        group.generation, group.started = event.generation, event
        group.joiners, group.joined, group.synced = group.joined, set(), set()
        if not group.is_known:
            group.members = {member: group.members.get(member, NOT_RECORDED) for member in event.members}
            group.is_known = True

    @_of_an_incarnation
    def _on_appended(self, group: Incarnation, event: GroupMetadataAppended) -> None:
        group.record = event

    def _on_parked(self, event: RequestParked) -> None:
        self.tells_parked = True
        group = self._at(event)
        if group is None:
            return
        if event.api == Api.JOIN_GROUP:
            group.syncs.pop(event.member_id, None)
            group.joins[event.member_id] = event
            group.join_before = group.last_joins.get(event.member_id)
            group.last_joins[event.member_id] = event
            group.joined.add(event.member_id)
            group.listed[event.member_id] = event.protocols
        elif event.api == Api.SYNC_GROUP:
            group.joins.pop(event.member_id, None)
            group.syncs[event.member_id] = event
            group.synced.add(event.member_id)
        else:
            is_member = event.member_id in group.members
            self._taken_in[event.request] = group
            group.waits[event.request] = Arrival(group.status, event.generation, is_member, event)

    @_of_an_incarnation
    def _on_join_replied(self, group: Incarnation, event: JoinGroupReplied) -> None:
        group.arrival = None
        who = group.waiting_with(event)
        group.note_refused(group.joins.pop(who, None), event.error)
        if event.error == ACCEPTED or event.error in REFUSED_MEMBERS:
            group.joined.discard(who)
        elif event.error == "MEMBER_ID_REQUIRED":
            group.pending[event.assigned_member_id] = event

    @_of_an_incarnation
    def _on_sync_replied(self, group: Incarnation, event: SyncGroupReplied) -> None:
        group.arrival = None
        parked = group.syncs.get(event.member_id)
        if parked is not None and parked.request == event.request:
            group.note_refused(group.syncs.pop(event.member_id), event.error)
        if event.error == ACCEPTED:
            group.synced.add(event.member_id)

    @_of_an_incarnation
    def _on_reply(self, group: Incarnation, event: ReplyEvent) -> None:
        taken_in = self._taken_in.pop(event.request, group)
        group.arrival = taken_in.waits.pop(event.request, None)
