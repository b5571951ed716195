"""The steps of a scenario, as its runner records them: requests, replies, and the group before and after each step.

A step begins with `StepStarted` and ends with `GroupDescribed`. An invariant over steps looks at each when it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    Event,
    GroupDescribed,
    ReplyReceived,
    RequestIssued,
    StepStarted,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.kinds import Handler, Memory
from rebalance_check.properties.views.coordinator import ACCEPTED

FORMED: Final = frozenset({GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE})
"""The statuses of a group whose join phase is over."""

TAKEOVERS: Final = frozenset({"failover", "load", "unload"})
"""Steps after which another coordinator serves the group, or none."""
FAULTS: Final = TAKEOVERS | {"hold", "release", "fail"}

UNLIMITED: Final = 2**31 - 1
MEMBER_ID_REQUIRED: Final = "MEMBER_ID_REQUIRED"
MEMBER_ID_REQUIRED_SINCE: Final = 4
"""The first version of JoinGroup whose member learns its id before it is a member (KIP-394)."""


class Reply(NamedTuple):
    """A reply of a step, with the request that it answers."""

    request: RequestIssued
    event: ReplyReceived

    @property
    def error(self) -> str:
        """The error of the reply."""
        return self.event.error

    @property
    def api(self) -> str:
        """The kind of request."""
        return self.request.api


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a scenario.

    ``sent`` are the requests of the step, ``replies`` those received in it, ``waiting`` the requests without a reply
    after it, by number. ``max_size`` is ``group.max.size``, ``offsets_retention_ms`` how long offsets are kept.
    """

    started: StepStarted
    sent: tuple[RequestIssued, ...]
    replies: tuple[Reply, ...]
    before: GroupDescribed
    after: GroupDescribed
    waiting: Mapping[int, RequestIssued]
    max_size: int
    offsets_retention_ms: int

    @property
    def verb(self) -> str:
        """The first word of the line: ``join``, ``advance``, ``failover``."""
        return self.started.step.partition(" ")[0]

    @property
    def now_ms(self) -> int:
        """The time at the end of the step."""
        return self.after.time_ms

    def replies_to(self, api: str) -> Iterator[Reply]:
        """The replies to requests of one kind."""
        return (reply for reply in self.replies if reply.api == api)

    def loses_records(self) -> bool:
        """Whether records that were written may be gone."""
        return "lose=" in self.started.step or self.verb == "delete"


def members_of(group: GroupDescribed) -> frozenset[str]:
    """The member ids that DescribeGroups shows."""
    return frozenset(member for member, _ in group.members)


def is_rebalancing(group: GroupDescribed) -> bool:
    """Whether the group is in a join phase, or waits for the SyncGroup of its leader."""
    return group.status in {GroupStatus.PREPARING_REBALANCE, GroupStatus.COMPLETING_REBALANCE}


class Steps(Memory):
    """The step that has just ended, and the settings of the coordinator."""

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {
            CoordinatorConfigured: self.on_configured,
            StepStarted: self.on_started,
            RequestIssued: self.on_issued,
            ReplyReceived: self.on_reply,
            GroupDescribed: self.on_described,
        }
        super().__init__(handlers)
        self.step: Step | None = None
        self._max_size = UNLIMITED
        self._retention_ms = UNLIMITED
        self._started: StepStarted | None = None
        self._sent: list[RequestIssued] = []
        self._replies: list[Reply] = []
        self._waiting: dict[int, RequestIssued] = {}
        self._described = GroupDescribed(status=GroupStatus.DEAD)

    def on_configured(self, event: CoordinatorConfigured) -> None:
        """The settings hold for the whole scenario."""
        self._max_size, self._retention_ms = event.max_size, event.offsets_retention_ms

    def on_started(self, event: StepStarted) -> None:
        """A step begins."""
        self._started = event
        self._sent.clear()
        self._replies.clear()

    def on_issued(self, event: RequestIssued) -> None:
        """The request waits until its reply is received."""
        self._sent.append(event)
        self._waiting[event.request] = event

    def on_reply(self, event: ReplyReceived) -> None:
        """A reply to a request that the history does not hold says nothing."""
        request = self._waiting.pop(event.request, None)
        if request is not None:
            self._replies.append(Reply(request, event))

    def on_described(self, event: GroupDescribed) -> None:
        """The step ends; without its beginning, this only says how the group is."""
        before, self._described = self._described, event
        if self._started is None:
            self.step = None
            return
        self.step = Step(
            self._started, tuple(self._sent), tuple(self._replies), before, event, dict(self._waiting), self._max_size,
            self._retention_ms,
        )  # fmt: skip
        self._started = None


def pending_after(pending: dict[str, int], step: Step) -> dict[str, int]:
    """The member ids that were handed out (KIP-394), each with the end of its session in ms, after one more step."""
    pending = dict(pending)
    for reply in step.replies_to(Api.JOIN_GROUP):
        if reply.error == MEMBER_ID_REQUIRED:
            pending[reply.event.assigned_member_id] = step.now_ms + reply.request.session_timeout_ms
    return {one: until for one, until in pending.items() if one not in members_of(step.after) and until > step.now_ms}


def is_accepted(reply: Reply) -> bool:
    """Whether a reply reports no error."""
    return reply.error == ACCEPTED


def rebalance_timeout_of(request: RequestIssued) -> int:
    """The rebalance timeout of a JoinGroup in ms: version 0 has one timeout for both."""
    return request.rebalance_timeout_ms if request.version else request.session_timeout_ms
