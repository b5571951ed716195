"""What the coordinator may refuse: with an error that a client has a rule for, and one that is true of the group."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
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
from rebalance_check.properties.kinds import Fold, Handler, Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.coordinator import NOT_RECORDED, Incarnation, IncarnationFold
from rebalance_check.properties.views.recent import GENERATIONS, WAITING, Recent

_API_OF: Final[dict[type[ReplyEvent], Api]] = {
    JoinGroupReplied: Api.JOIN_GROUP,
    SyncGroupReplied: Api.SYNC_GROUP,
    HeartbeatReplied: Api.HEARTBEAT,
    LeaveGroupReplied: Api.LEAVE_GROUP,
    OffsetCommitReplied: Api.OFFSET_COMMIT,
}

_ALWAYS: Final = frozenset(
    {
        "NONE", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "GROUP_AUTHORIZATION_FAILED", "INVALID_GROUP_ID",
        "UNKNOWN_MEMBER_ID", "UNKNOWN_SERVER_ERROR", "NETWORK_EXCEPTION", "UNSUPPORTED_VERSION",
    }
)  # fmt: skip
_OF_A_GENERATION: Final = frozenset({"ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "FENCED_INSTANCE_ID"})
_LOADING: Final = "COORDINATOR_LOAD_IN_PROGRESS"
_NOT_AVAILABLE: Final = "COORDINATOR_NOT_AVAILABLE"

DOCUMENTED: Final[dict[Api, frozenset[str]]] = {
    Api.JOIN_GROUP: _ALWAYS | {
        _LOADING, "INCONSISTENT_GROUP_PROTOCOL", "INVALID_SESSION_TIMEOUT", "MEMBER_ID_REQUIRED",
        "GROUP_MAX_SIZE_REACHED", "FENCED_INSTANCE_ID", "REBALANCE_IN_PROGRESS",
    },
    Api.SYNC_GROUP: _ALWAYS | _OF_A_GENERATION | {_LOADING, "INCONSISTENT_GROUP_PROTOCOL"},
    Api.HEARTBEAT: _ALWAYS | _OF_A_GENERATION,
    Api.LEAVE_GROUP: _ALWAYS | {_LOADING, "FENCED_INSTANCE_ID"},
    Api.OFFSET_COMMIT: _ALWAYS | _OF_A_GENERATION | {
        _LOADING, "OFFSET_METADATA_TOO_LARGE", "INVALID_COMMIT_OFFSET_SIZE", "TOPIC_AUTHORIZATION_FAILED",
        "UNKNOWN_TOPIC_OR_PARTITION", "GROUP_ID_NOT_FOUND",
    },
}  # fmt: skip
"""The errors of each message, and those of failed writes. A coordinator that loads believes every heartbeat: clients
have no rule for COORDINATOR_LOAD_IN_PROGRESS there, and end."""


class RefusalsAreDocumentedViolated(Violation):
    """A request was answered with an error that no client has a rule for."""


class RefusalsAreTrueViolated(Violation):
    """A request was refused for a reason that did not hold."""


class _Documented(Fold):
    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, dict.fromkeys(_API_OF, self.on_replied))

    def on_replied(self, event: ReplyEvent) -> None:
        """The error is one of its message."""
        api = _API_OF[type(event)]
        if event.error not in DOCUMENTED[api]:
            self.contradiction(
                f"{api} of {event.member_id or 'a client without a member id'} is answered {event.error}",
                (f"{event.error}, answered at {STEP}, is none of the errors of {api}: contradiction.", event),
            )


class _True(IncarnationFold):
    """Judges what is answered at once, by the group as it is then, and by whether its last record was written."""

    needs = ((IncarnationStarted, GenerationStarted, GroupStatusChanged),)
    bookkeeping = frozenset({GroupMetadataAppended, GroupMetadataWritten, RequestParked})

    def __init__(self, invariant: Invariant) -> None:
        handlers: dict[type[Event], Handler] = {
            RequestParked: self.on_parked,
            HeartbeatReplied: self.on_heartbeat,
            SyncGroupReplied: self.on_sync,
            OffsetCommitReplied: self.on_commit,
            JoinGroupReplied: self.on_join_or_leave,
            LeaveGroupReplied: self.on_join_or_leave,
            GroupMetadataWritten: self.on_written,
            GroupMetadataAppended: self.on_appended,
        }
        super().__init__(invariant, handlers)
        self.compared = 0
        self._parked: Recent[int, RequestParked] = Recent(WAITING)
        self._unwritten: Recent[int, GroupMetadataWritten] = Recent(GENERATIONS)

    def on_parked(self, event: RequestParked) -> None:
        """What waits may be refused for what happens meanwhile."""
        self._parked[event.request] = event

    def on_written(self, event: GroupMetadataWritten) -> None:
        """Until it is appended, it may have failed, and the request that asked for it is refused."""
        self._unwritten[event.incarnation] = event

    def on_appended(self, event: GroupMetadataAppended) -> None:
        """The log takes records."""
        self._unwritten.pop(event.incarnation, None)

    def on_heartbeat(self, event: HeartbeatReplied) -> None:
        """A rebalance is in progress while members are to join."""
        self._judge(event, GroupStatus.PREPARING_REBALANCE)

    def on_sync(self, event: SyncGroupReplied) -> None:
        """As a heartbeat."""
        self._judge(event, GroupStatus.PREPARING_REBALANCE)

    def on_commit(self, event: OffsetCommitReplied) -> None:
        """The old generation may commit until the join phase ends, the new one once it has its assignment."""
        self._judge(event, GroupStatus.COMPLETING_REBALANCE)

    def on_join_or_leave(self, event: JoinGroupReplied | LeaveGroupReplied) -> None:
        """Neither is of a generation."""
        self._judge(event, None)

    def _judge(self, event: ReplyEvent, rebalancing: GroupStatus | None) -> None:
        group = self.incarnations.current
        waited = self._parked.pop(event.request, None) is not None
        if waited or group is None or not group.is_known or not group.status:
            return
        if rebalancing is not None and event.request_generation < 0:
            return
        self.compared = (self.compared or 0) + 1
        if what := self._is_served(event, group) or (rebalancing and _untrue(event, group, rebalancing)):
            began = [(f"generation {group.generation} began at {STEP}.", group.started)] if group.started else []
            self.contradiction(
                f"{event.member_id} is answered {event.error} to {_API_OF[type(event)]}, and {what}",
                *began,
                (f"{event.error} was answered at {STEP}, and {what}: contradiction.", event),
            )

    def _is_served(self, event: ReplyEvent, group: Incarnation) -> str:
        """What contradicts that the coordinator is not available; no event tells whether a commit was written."""
        away = group.status == GroupStatus.DEAD or event.incarnation in self._unwritten
        if event.error != _NOT_AVAILABLE or away or isinstance(event, OffsetCommitReplied):
            return ""
        return f"the group was {group.status}"


def _untrue(event: ReplyEvent, group: Incarnation, rebalancing: GroupStatus) -> str:
    """What contradicts the reason of a refusal; empty where nothing does."""
    if event.error == "REBALANCE_IN_PROGRESS" and group.status != rebalancing:
        return f"the group was {group.status}"
    if event.error == "ILLEGAL_GENERATION" and event.request_generation == event.generation:
        return f"the generation was {event.generation}, as it said"
    if event.error == "UNKNOWN_MEMBER_ID" and event.member_id in group.members and not event.instance_id:
        return "it was a member"
    if event.error == "FENCED_INSTANCE_ID" and event.instance_id and NOT_RECORDED not in group.members.values():
        holder = group.holder_of(event.instance_id)
        if not holder:
            return f"no member had the instance id {event.instance_id}"
        if holder == event.member_id:
            return f"it was the member with the instance id {event.instance_id}"
    return ""


RefusalsAreDocumented: Final = Invariant(
    name="refusals_are_documented",
    family="gates",
    claim="a coordinator answers each request with one of the errors that its message documents, and a heartbeat "
    "never with COORDINATOR_LOAD_IN_PROGRESS",
    source="JoinGroupResponse.json and the other messages; AbstractCoordinator.HeartbeatResponseHandler",
    premises=("the errors of failed writes are counted among them",),
    violation=RefusalsAreDocumentedViolated,
    fold=_Documented,
)
"""A client has no rule for any other error, and ends.

The smallest history that breaks it::

    SyncGroupReplied(incarnation=0, generation=1, request=1, error="OFFSET_OUT_OF_RANGE", member_id="a")
"""

RefusalsAreTrue: Final = Invariant(
    name="refusals_are_true",
    family="gates",
    claim="a coordinator answers a member REBALANCE_IN_PROGRESS only in PreparingRebalance, to a commit only in "
    "CompletingRebalance, ILLEGAL_GENERATION only for another generation, UNKNOWN_MEMBER_ID only if it is none, "
    "FENCED_INSTANCE_ID only if another member has its instance id, and COORDINATOR_NOT_AVAILABLE only if the group is "
    "Dead or its record is not written",
    source="ClassicGroup.validateOffsetCommit; GroupMetadataManager.classicGroupHeartbeatToClassicGroup, "
    "classicGroupSyncToClassicGroup, classicGroupJoinToClassicGroup, classicGroupLeaveToClassicGroup",
    premises=(
        "the history holds the coordinator's events, with the requests it keeps and its answers",
        "what waited before it was refused is left out",
        "of a JoinGroup and a LeaveGroup, COORDINATOR_NOT_AVAILABLE alone is judged, and of a commit all else: no "
        "event tells whether its offsets were written",
    ),
    exempted_by=(GroupMetadataWritten, GroupStatusChanged, MemberAdded, MemberRemoved, RequestParked),
    violation=RefusalsAreTrueViolated,
    fold=_True,
)
"""A member is refused for a reason that holds: each refusal costs it a rebalance, its membership, or its progress.

The smallest history that breaks it::

    GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
    GroupStatusChanged(incarnation=0, generation=1, from_status="Stable", to_status="PreparingRebalance")
    OffsetCommitReplied(incarnation=0, generation=1, request=1, error="REBALANCE_IN_PROGRESS", member_id="a",
                        request_generation=1)
"""

CLAIMS: Final = (RefusalsAreDocumented, RefusalsAreTrue)
"""In the order in which reports name them."""
