"""Each member process by its own record: the partitions that it owns, gave up and lost, and its generation.

The view is one event behind: at an event, it shows the member as it was before it. So a rule compares an event with
the state in which its member was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias, get_args

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    Event,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestSent,
    SubscriptionChanged,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION, topic_of
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.recent import DEPARTED, WAITING, Recent

EAGER: Final = "eager"
COOPERATIVE: Final = "cooperative"

_Taken: TypeAlias = (
    MemberStarted | MemberCrashed | MemberLeft | MemberJoined | MembershipLost | PartitionsAssigned
    | PartitionsRevoked | PartitionsLost | AssignmentCompleted | RequestSent | SubscriptionChanged
)  # fmt: skip


@dataclass(slots=True)
class Member:
    """One process, by its own record.

    ``owned`` maps each partition to the event since which it is owned, ``revoked`` and ``lost`` the partitions that it
    gave up and was not assigned since. ``joined`` is the first event by which it spoke for its present generation,
    ``resumed`` the event by which it was in a generation again after it had lost partitions, ``reset`` its last
    `MembershipLost` until it is in a generation again. ``was_called_back`` says that a callback, or its start, shows
    its partitions.
    ``settled`` is the round that it completed since it joined last, ``early`` its last revocation after that of
    partitions that it wants, and ``excused`` why another one is none. ``topics`` are its subscription (None: unknown).
    """

    protocol: str = ""
    topics: frozenset[str] | None = None
    settled: AssignmentCompleted | None = None
    early: PartitionsRevoked | None = None
    excused: str = ""
    owned: dict[str, Event] = field(default_factory=dict)
    revoked: dict[str, PartitionsRevoked] = field(default_factory=dict)
    lost: dict[str, PartitionsLost] = field(default_factory=dict)
    gone_before_join: dict[str, PartitionsRevoked] = field(default_factory=dict)
    joined: MemberJoined | None = None
    resumed: Event | None = None
    reset: MembershipLost | None = None
    was_called_back: bool = False
    has_started: bool = False

    def regain(self, partitions: tuple[str, ...], event: PartitionsAssigned | AssignmentCompleted) -> None:
        """It was assigned these: those that it had given up are its own again."""
        if self.lost and event.generation != NO_GENERATION:
            self.resumed = event
        for partition in partitions:
            self.revoked.pop(partition, None)
            self.lost.pop(partition, None)


class Members(Memory):
    """The members by the names of their processes, as they were before the event at hand."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(get_args(_Taken), self.take))
        self._members: Recent[str, Member] = Recent(WAITING)
        self._ended: Recent[str, None] = Recent(DEPARTED)
        self._last: _Taken | None = None

    def of(self, name: str) -> Member:
        """The process called ``name``."""
        member = self._members.get(name)
        if member is None:
            ended = name in self._ended
            member = Member(was_called_back=ended)
            self._members[name] = member
        return member

    def take(self, event: _Taken) -> None:
        """The event before takes effect."""
        if self._last is not None:
            self._apply(self._last)
        self._last = event

    def up_to_date(self) -> None:
        """Let the event at hand take effect: for rules about events that this view does not take."""
        if self._last is not None:
            self._apply(self._last)
            self._last = None

    def _apply(self, event: _Taken) -> None:
        member = self.of(event.member)
        match event:
            case MemberStarted():
                self._members[event.member] = Member(event.protocol.lower(), was_called_back=True, has_started=True)
            case MemberCrashed() | MemberLeft():
                self._members.pop(event.member, None)
                self._ended[event.member] = None
            case MembershipLost():
                member.reset, member.early, member.excused = event, None, "belongs to no generation"
            case SubscriptionChanged():
                member.topics = frozenset(event.topics)
            case RequestSent():
                if event.api == Api.LEAVE_GROUP:
                    member.early, member.excused = None, "left its group"
            case MemberJoined():
                self._join(member, event)
            case PartitionsAssigned():
                member.was_called_back = True
                member.regain(event.partitions, event)
                member.owned.update(dict.fromkeys(event.partitions, event))
                if member.reset is not None and event.generation > member.reset.generation:
                    member.reset = None
            case AssignmentCompleted():
                member.regain(event.owned, event)
                member.owned = {one: member.owned.get(one, event) for one in event.owned}
                member.reset, member.settled = None, event
            case PartitionsRevoked() | PartitionsLost():
                self._give_up(member, event)

    def _join(self, member: Member, event: MemberJoined) -> None:
        member.reset, member.joined = None, event
        member.settled, member.early, member.excused = None, None, ""
        member.gone_before_join = dict(member.revoked)
        if event.generation != NO_GENERATION:
            member.resumed = event

    def _give_up(self, member: Member, event: PartitionsRevoked | PartitionsLost) -> None:
        member.was_called_back = True
        if isinstance(event, PartitionsRevoked) and member.settled is not None and member.reset is None:
            topics = {topic_of(one) for one in event.partitions}
            if topics if member.topics is None else topics & member.topics:
                member.early = event
            elif event.partitions:
                member.excused = "does not want the topic any more"
        for partition in event.partitions:
            member.owned.pop(partition, None)
            if isinstance(event, PartitionsRevoked):
                member.revoked[partition] = event
            else:
                member.lost[partition] = event
        if isinstance(event, PartitionsLost):
            member.resumed = None
