"""Awaited things: the replies to requests, as each kind of observer sees them, and owners of partitions."""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    CoordinatorElected,
    Event,
    GroupDescribed,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    MemberCrashed,
    MemberEvent,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MembershipLost,
    MemberStarted,
    NodeChanged,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    ReplyEvent,
    ReplyReceived,
    RequestIssued,
    RequestParked,
    StepStarted,
    SubscriptionChanged,
    SyncGroupReplied,
    TopicsDescribed,
)
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.holdings import Holdings
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.steps import FAULTS

OUT_OF_SERVICE: Final = frozenset({"killed", "paused"})
"""Changes of a node after which its requests wait, or are lost."""


AWAITED: Final = frozenset({Api.JOIN_GROUP, Api.SYNC_GROUP})
"""The requests that wait for other members."""


class Request(NamedTuple):
    """A request that waits for its reply: ``by`` is the kind of event that shows it, ``of`` its member."""

    by: type[Event]
    api: str
    of: str
    incarnation: int = 0


class OpenRequests(Memory):
    """The requests that a coordinator keeps (`RequestParked`) or a scenario's client waits with (`RequestIssued`).

    A request is known by its member; a later one of the same kind supersedes it. ``answered`` is the request that the
    reply at hand answers, ``gone`` those of members that are removed at this event. ``is_down``: a node was killed or
    paused, and requests may be lost; ``is_held``: the log acknowledges nothing, or did not until the step at
    hand.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                RequestParked: self._on_parked,
                RequestIssued: self._on_issued,
                JoinGroupReplied: self._on_replied,
                SyncGroupReplied: self._on_replied,
                ReplyReceived: self._on_received,
                GroupDescribed: self._on_described,
                CoordinatorElected: self._on_elected,
                NodeChanged: self._on_node,
                StepStarted: self._on_step,
            }
        )
        self.answered: Request | None = None
        self.gone: frozenset[str] = frozenset()
        self.is_down = False
        self.is_held = False
        self._is_held = False
        self._of: Recent[tuple[type[Event], int], Request] = Recent(WAITING)
        self._number: Recent[Request, int] = Recent(WAITING)
        self._described: frozenset[str] = frozenset()

    def _on_parked(self, event: RequestParked) -> None:
        if event.api in AWAITED:
            self._note(parked(event), event.request)

    def _on_issued(self, event: RequestIssued) -> None:
        if event.api in AWAITED:
            self._note(issued(event), event.request)

    def _note(self, request: Request, number: int) -> None:
        self._forget(request)
        self._of[request.by, number], self._number[request] = request, number

    def _forget(self, request: Request) -> None:
        number = self._number.pop(request, None)
        if number is not None:
            self._of.pop((request.by, number), None)

    def _on_replied(self, event: ReplyEvent) -> None:
        self._answer(RequestParked, event.request)

    def _on_received(self, event: ReplyReceived) -> None:
        self._answer(RequestIssued, event.request)

    def _answer(self, by: type[Event], number: int) -> None:
        self.answered = self._of.get((by, number))
        if self.answered is not None:
            self._forget(self.answered)

    def _on_described(self, event: GroupDescribed) -> None:
        members = frozenset(member for member, _ in event.members)
        self.gone, self._described = self._described - members, members

    def _on_elected(self, _event: CoordinatorElected) -> None:
        self.is_down = False

    def _on_node(self, event: NodeChanged) -> None:
        self.is_down = event.change in OUT_OF_SERVICE

    def _on_step(self, event: StepStarted) -> None:
        verb, before = event.step.partition(" ")[0], self._is_held
        if verb in FAULTS:
            self._is_held = verb == "hold" or (before and verb == "fail")
        self.is_held = before or self._is_held


def parked(event: RequestParked) -> Request:
    """The request that a coordinator keeps."""
    return Request(RequestParked, event.api, event.member_id, event.incarnation)


def issued(event: RequestIssued) -> Request:
    """The request that a client of a scenario waits with."""
    return Request(RequestIssued, event.api, event.member_id or f"request {event.request}")


class Ownerless(Memory):
    """The partitions that exist and that no member owns although one of the group wants it (``lacking``).

    ``exist`` are all partitions, ``metadata_ms`` is how old metadata may be. ``is_shaken``: at this event members,
    topics or the coordinator changed, so that the group needs its time anew.
    """

    uses: ClassVar = (Holdings,)

    def __init__(self, holdings: Holdings) -> None:
        moved, shaken, present = self._on_moved, self._on_shaken, self._on_present
        super().__init__(
            {
                TopicsDescribed: self._on_topics,
                MemberStarted: self._on_wanted,
                SubscriptionChanged: self._on_wanted,
                **dict.fromkeys((MemberJoined, AssignmentCompleted), present),
                **dict.fromkeys(
                    (MemberCrashed, MemberLeft, MembershipLost, MemberPaused, MemberResumed), self._on_absent
                ),
                **dict.fromkeys((PartitionsAssigned, PartitionsRevoked, PartitionsLost), moved),
                **dict.fromkeys((NodeChanged, CoordinatorElected, IncarnationStarted, IncarnationEnded), shaken),
            }
        )
        self.exist: tuple[str, ...] = ()
        self.metadata_ms = 0
        self.lacking: list[str] = []
        self.is_shaken = False
        self._topics: dict[str, str] = {}
        self._holdings = holdings
        self._wanted: dict[str, frozenset[str]] = {}
        self._present: set[str] = set()

    def _on_topics(self, event: TopicsDescribed) -> None:
        """Other partitions exist; members learn of them in the time that metadata may be old."""
        self.exist, self.metadata_ms = event.partitions, event.metadata_max_age_ms
        self._topics = {partition: topic_of(partition) for partition in event.partitions}
        self._look(is_shaken=True)

    def _on_wanted(self, event: MemberStarted | SubscriptionChanged) -> None:
        self._wanted[event.member] = frozenset(event.topics)
        if isinstance(event, MemberStarted):
            self._present.discard(event.member)
        self._look(is_shaken=True)

    def _on_present(self, event: MemberEvent) -> None:
        is_new = event.member not in self._present
        self._present.add(event.member)
        self._look(is_shaken=is_new)

    def _on_absent(self, event: MemberEvent) -> None:
        """The member is in no generation any more, or does not run: the group has to notice."""
        self._present.discard(event.member)
        if isinstance(event, MemberCrashed | MemberLeft):
            self._wanted.pop(event.member, None)
        self._look(is_shaken=True)

    def _on_moved(self, _event: Event) -> None:
        self._look(is_shaken=False)

    def _on_shaken(self, _event: Event) -> None:
        """Another coordinator has to be found first."""
        self._look(is_shaken=True)

    def _look(self, *, is_shaken: bool) -> None:
        self.is_shaken = is_shaken
        wanted = {topic for member in self._present for topic in self._wanted.get(member, ())}
        holders = self._holdings.holders
        self.lacking = [one for one in self.exist if self._topics[one] in wanted and not holders.get(one)]
