"""Requests that wait for other members, as a client, a coordinator and the runner of a scenario show them."""

from __future__ import annotations

from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorElected,
    CoordinatorFound,
    Event,
    GroupDescribed,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    NodeChanged,
    ReplyReceived,
    RequestAnswered,
    RequestIssued,
    RequestParked,
    RequestSent,
    StepStarted,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Memory
from rebalance_check.properties.views.recent import WAITING, Recent
from rebalance_check.properties.views.steps import FAULTS, TAKEOVERS

OUT_OF_SERVICE: Final = frozenset({"killed", "paused"})
"""Changes of a node after which its requests wait, or are lost."""

AWAITED: Final = (Api.JOIN_GROUP, Api.SYNC_GROUP)
"""The requests that wait for other members."""
_SUPERSEDING: Final = (*AWAITED, Api.LEAVE_GROUP)

BEGIN: Final = (RequestSent, RequestParked, RequestIssued)
"""The events that show a request: those of a client, of its coordinator, and of the runner of a scenario."""
ANSWER: Final = (RequestAnswered, JoinGroupReplied, SyncGroupReplied, ReplyReceived)
_RESET: Final = (IncarnationStarted, IncarnationEnded, CoordinatorElected, NodeChanged)
_OF_MEMBERS: Final = (MemberStarted, MemberCrashed, MemberLeft, MemberPaused, MembershipLost, CoordinatorFound)
VOID: Final = (*BEGIN, RequestAnswered, *_RESET, *_OF_MEMBERS, MemberRemoved, GroupDescribed, StepStarted)
"""The events after which a request is not awaited any more."""


class Request(NamedTuple):
    """A request that waits for its reply: ``by`` is the kind of event that shows it, ``of`` its member."""

    by: type[Event]
    api: str
    of: str
    incarnation: int = 0


class OpenRequests(Memory):
    """A request is known by its member; a later one of the same kind supersedes it.

    ``begun`` is the request that is awaited from the event at hand on, ``answered`` the one that is answered by it,
    ``void`` those that are not awaited any more (None: all). ``is_held``: the log acknowledges nothing, or did not
    until the step at hand.
    """

    def __init__(self) -> None:
        super().__init__(dict.fromkeys((*VOID, *ANSWER), self._take))
        self.begun: Request | None = None
        self.answered: Request | None = None
        self.void: list[Request] | None = []
        self.is_held = False
        self._is_down = self._is_held = False
        self._of: Recent[tuple[type[Event], int], Request] = Recent(WAITING)
        self._number: Recent[Request, int] = Recent(WAITING)
        self._described: frozenset[str] = frozenset()

    def _take(self, event: Event) -> None:
        self.begun, self.answered, self.void = None, None, []
        match event:
            case RequestSent() | RequestParked() | RequestIssued():
                self._begin(event)
            case RequestAnswered():
                request = Request(RequestSent, event.api, event.member)
                self.answered, self.void = (None, [request]) if event.error is None else (request, [])
            case JoinGroupReplied() | SyncGroupReplied():
                self.answered = self._last(RequestParked, event.request)
            case ReplyReceived():
                self.answered = self._last(RequestIssued, event.request)
            case MemberRemoved():
                kept = [Request(RequestParked, api, event.member_id, event.incarnation) for api in AWAITED]
                self.void = [*kept, *(Request(RequestIssued, api, event.member_id) for api in AWAITED)]
            case MemberEvent():
                self.void = [Request(RequestSent, api, event.member) for api in AWAITED]
            case GroupDescribed():
                self._describe(event)
            case StepStarted():
                self._step(event.step.partition(" ")[0])
            case _:
                self.void = None
                self._is_down = event.change in OUT_OF_SERVICE if isinstance(event, NodeChanged) else self._is_down
                self._is_down = self._is_down and not isinstance(event, CoordinatorElected)

    def _begin(self, event: RequestSent | RequestParked | RequestIssued) -> None:
        """A member that sends a request of a rebalance, or leaves, does not wait for the one before."""
        match event:
            case RequestSent() if event.api in _SUPERSEDING:
                request = Request(RequestSent, event.api, event.member)
                self.void = [Request(RequestSent, api, event.member) for api in AWAITED]
            case RequestParked() if event.api in AWAITED:
                request = Request(RequestParked, event.api, event.member_id, event.incarnation)
            case RequestIssued() if event.api in AWAITED:
                request = Request(RequestIssued, event.api, event.member_id or f"request {event.request}")
            case _:
                return
        if not isinstance(event, RequestSent):
            self.void = [request]
            self._of[type(event), event.request] = request
            self._number[request] = event.request
        self.begun = None if self._is_down or event.api not in AWAITED else request

    def _last(self, by: type[Event], number: int) -> Request | None:
        """The request of this number, unless its member sent another one since."""
        request = self._of.pop((by, number), None)
        return request if request is not None and self._number.get(request) == number else None

    def _describe(self, event: GroupDescribed) -> None:
        """A group that is described as Dead hides its members."""
        members = frozenset(member for member, _ in event.members)
        if event.status != GroupStatus.DEAD:
            gone, self._described = self._described - members, members
            self.void = [Request(RequestIssued, api, member) for member in gone for api in AWAITED]

    def _step(self, verb: str) -> None:
        """Another coordinator takes over; or the log acknowledges nothing, refuses, or takes records again."""
        before = self._is_held
        if verb in FAULTS:
            self._is_held = verb == "hold" or (before and verb == "fail")
            self.void = None if verb in TAKEOVERS else []
        self.is_held = before or self._is_held or (verb in FAULTS and verb not in TAKEOVERS)
