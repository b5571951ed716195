"""The incarnations of a group at its coordinator, as the coordinator's own events show them.

There is one `Incarnation` for each, so a coordinator that was replaced and does not know it yet is judged by its own
state.
A value that no event shows stays unknown: an incarnation that begins without its status knows its members from its next
generation on.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
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
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent

ACCEPTED: Final = "NONE"
REFUSED_MEMBERS: Final = frozenset({"UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"})
"""The errors that say who is no member; any other answer of a fenced request takes its sender for one."""

SESSION_EXPIRED: Final = "session expired"
"""Why a member goes that was silent for too long."""


NOT_RECORDED: Final = "?"
"""In the place of an instance id: the history does not say whether the member is static."""


_OF_A_COORDINATOR: Final = (
    IncarnationStarted, GroupStatusChanged, MemberAdded, MemberRemoved, GenerationStarted, GroupMetadataWritten,
    GroupMetadataAppended, GroupDeleted, RequestParked, JoinGroupReplied, SyncGroupReplied, HeartbeatReplied,
    OffsetCommitReplied, LeaveGroupReplied,
)  # fmt: skip


class Arrival(NamedTuple):
    """The group as it was when it took a request that it answers later."""

    status: str
    generation: int
    is_member: bool
    event: RequestParked


class Incarnation:
    """The group in one incarnation, as far as it is known now.

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

    def holder_of(self, instance_id: str) -> str:
        """The member that has this instance id; "" for none."""
        return next((member for member, instance in self.members.items() if instance == instance_id), "")

    def added(self, event: MemberAdded) -> None:
        """A member comes; it may take the slot of a static one that was removed just before."""
        self.members[event.member_id] = event.instance_id
        self.pending.pop(event.member_id, None)
        self.heirs.pop(event.member_id, None)
        if self.replaced is not None and event.instance_id == self.instance_replaced:
            self.heirs[self.replaced.member_id] = event.member_id
            self.predecessors[event.member_id] = self.replaced.member_id
        self.replaced = None

    def removed(self, event: MemberRemoved) -> None:
        """A member goes, with what it waits for."""
        member, is_replaced = event.member_id, event.reason == "replaced"
        self.instance_replaced = self.members.pop(member, "")
        self.replaced = event if is_replaced else None
        kept = self.joins.pop(member, None) or self.syncs.pop(member, None)
        refused, self.turned_away = self.turned_away, None
        self.left_behind = kept or (refused if refused is not None and refused.member_id == member else None)
        self.joined.discard(member)
        self.had_synced = member in self.synced
        if not is_replaced:  # the write of a replacement may fail, and the member comes back
            self.synced.discard(member)
            self.listed.pop(member, None)
            self.last_joins.pop(member, None)

    def begins_generation(self, event: GenerationStarted) -> None:
        """Its members are known from here on."""
        self.generation, self.started = event.generation, event
        self.joiners, self.joined, self.synced = self.joined, set(), set()
        if not self.is_known:
            self.members = {member: self.members.get(member, NOT_RECORDED) for member in event.members}
            self.is_known = True

    def parked(self, event: RequestParked) -> None:
        """A JoinGroup or SyncGroup waits; a later request of the same member supersedes the one before."""
        member = event.member_id
        if event.api == Api.JOIN_GROUP:
            self.syncs.pop(member, None)
            self.join_before, self.joins[member] = self.last_joins.get(member), event
            self.last_joins[member] = event
            self.joined.add(member)
            self.listed[member] = event.protocols
        else:
            self.joins.pop(member, None)
            self.syncs[member] = event
            self.synced.add(member)

    def join_replied(self, event: JoinGroupReplied) -> None:
        """A JoinGroup waits no more; an id that is handed out is pending."""
        self.arrival = None
        who = self.waiting_with(event)
        self._note_refused(self.joins.pop(who, None), event.error)
        if event.error == ACCEPTED or event.error in REFUSED_MEMBERS:
            self.joined.discard(who)
        elif event.error == "MEMBER_ID_REQUIRED":
            self.pending[event.assigned_member_id] = event

    def sync_replied(self, event: SyncGroupReplied) -> None:
        """A SyncGroup waits no more."""
        self.arrival = None
        parked = self.syncs.get(event.member_id)
        if parked is not None and parked.request == event.request:
            self._note_refused(self.syncs.pop(event.member_id), event.error)
        if event.error == ACCEPTED:
            self.synced.add(event.member_id)

    def _note_refused(self, parked: RequestParked | None, error: str) -> None:
        if parked is not None:
            self.turned_away = parked if error == "UNKNOWN_MEMBER_ID" else None


class Incarnations(Memory):
    """All incarnations of one group; ``current`` is that of the event that is being judged, None where it names none.

    ``tells_parked`` says whether the history records the requests that the coordinator keeps.
    """

    def __init__(self) -> None:
        self.known: dict[int, Incarnation] = Recent(GENERATIONS)
        self.current: Incarnation | None = None
        self.tells_parked = False
        self._taken_in: dict[int, Incarnation] = Recent(WAITING)
        super().__init__(dict.fromkeys(_OF_A_COORDINATOR, self._take))

    @property
    def latest(self) -> Incarnation | None:
        """The last incarnation that is known, None where the coordinator records nothing."""
        return self.known[max(self.known)] if self.known else None

    def _take(self, event: CoordinatorEvent) -> None:
        """An event that names no incarnation changes none."""
        self.tells_parked |= isinstance(event, RequestParked)
        group = self.current = self._at(event)
        if group is None:
            return
        match event:
            case GroupStatusChanged():
                group.status, group.changed, group.generation = event.to_status, event, event.generation
            case MemberAdded():
                group.added(event)
            case MemberRemoved():
                group.removed(event)
            case GenerationStarted():
                group.begins_generation(event)
            case RequestParked() if event.api in {Api.JOIN_GROUP, Api.SYNC_GROUP}:
                group.parked(event)
            case RequestParked():
                is_member = event.member_id in group.members
                self._taken_in[event.request] = group
                group.waits[event.request] = Arrival(group.status, event.generation, is_member, event)
            case JoinGroupReplied():
                group.join_replied(event)
            case SyncGroupReplied():
                group.sync_replied(event)
            case HeartbeatReplied() | OffsetCommitReplied():
                group.arrival = self._taken_in.pop(event.request, group).waits.pop(event.request, None)

    def _at(self, event: CoordinatorEvent) -> Incarnation | None:
        number = event.incarnation
        if isinstance(event, IncarnationStarted):
            self.known[number] = Incarnation(number, event)
        elif number >= 0 and number not in self.known:
            self.known[number] = Incarnation(number)
        return self.known.get(number)
