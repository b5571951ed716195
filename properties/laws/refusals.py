"""Refusals: with which errors a coordinator answers, and that their reasons hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    Event,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    MemberAdded,
    MemberRemoved,
    OffsetCommitReplied,
    ReplyEvent,
    RequestParked,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.engines import CHECKED, Finding, Findings, broken, broken_step, form, scenario
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.laws.coordinator import API_OF
from rebalance_check.properties.laws.generation import RECORDED
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import NOT_RECORDED, Incarnation, Incarnations
from rebalance_check.properties.views.fencing import REPLIES, Writes
from rebalance_check.properties.views.scenarios import PREMISES, Disturbed
from rebalance_check.properties.views.steps import Step

_ALWAYS: Final = frozenset(
    {
        "NONE", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "GROUP_AUTHORIZATION_FAILED", "INVALID_GROUP_ID",
        "UNKNOWN_MEMBER_ID", "UNKNOWN_SERVER_ERROR", "NETWORK_EXCEPTION", "UNSUPPORTED_VERSION",
    }
)  # fmt: skip
_OF_A_GENERATION: Final = frozenset({"ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "FENCED_INSTANCE_ID"})
_LOADING: Final = "COORDINATOR_LOAD_IN_PROGRESS"
_NOT_AVAILABLE: Final = "COORDINATOR_NOT_AVAILABLE"

_DOCUMENTED: Final[Mapping[str, frozenset[str]]] = MappingProxyType({
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
})  # fmt: skip
"""The errors of each message, and those of failed writes. A coordinator that loads believes every heartbeat: clients
have no rule for COORDINATOR_LOAD_IN_PROGRESS there, and end."""


def _documented(event: ReplyEvent) -> Finding:
    api = API_OF[type(event)]
    if event.error in _DOCUMENTED[api]:
        return CHECKED
    return broken(
        f"{api} of {event.member_id or 'a client without a member id'} is answered {event.error}",
        (f"{event.error}, answered at {STEP}, is none of the errors of {api}: contradiction.", event),
    )


RefusalsAreDocumented: Final = Invariant(
    name="refusals_are_documented",
    family="coordinator",
    claim="a coordinator answers each request with one of the errors that its message documents, and a heartbeat "
    "never with COORDINATOR_LOAD_IN_PROGRESS",
    source="JoinGroupResponse.json and the other messages; AbstractCoordinator.HeartbeatResponseHandler",
    premises=("the errors of failed writes are counted among them",),
    evidence=Evidence.PRESENCE,
    fold=form(dict.fromkeys(REPLIES, _documented)),
    breaks="""SyncGroupReplied(generation=1, error="OFFSET_OUT_OF_RANGE", member_id="a")""",
    holds="""SyncGroupReplied(generation=1, error="ILLEGAL_GENERATION", member_id="a")""",
)

_REBALANCING: Final[Mapping[type[Event], GroupStatus]] = MappingProxyType(
    {
        HeartbeatReplied: GroupStatus.PREPARING_REBALANCE,
        SyncGroupReplied: GroupStatus.PREPARING_REBALANCE,
        OffsetCommitReplied: GroupStatus.COMPLETING_REBALANCE,
    }
)
"""The status that REBALANCE_IN_PROGRESS names: the old generation may commit until the join phase ends, the new one
once it has its assignment. JoinGroup and LeaveGroup are of no generation."""


def _true(event: ReplyEvent, incarnations: Incarnations, writes: Writes, _disturbed: Disturbed) -> Findings:
    """Judge a request that is answered at once by the group as it is then; one that waited may be refused later."""
    group, rebalancing = incarnations.current, _REBALANCING.get(type(event))
    if writes.waited or group is None or not group.is_known or not group.status:
        return None
    if rebalancing is not None and event.request_generation < 0:
        return None
    why = _is_served(event, group, writes) or (_untrue(event, group, rebalancing) if rebalancing else "")
    if not why:
        return CHECKED
    return broken(
        f"{event.member_id} is answered {event.error} to {API_OF[type(event)]}, and {why}",
        *([(f"generation {group.generation} began at {STEP}.", group.started)] if group.started else []),
        (f"{event.error} was answered at {STEP}, and {why}: contradiction.", event),
    )


def _is_served(event: ReplyEvent, group: Incarnation, writes: Writes) -> str:
    """The contradiction to COORDINATOR_NOT_AVAILABLE; no event tells whether a commit was written."""
    away = group.status == GroupStatus.DEAD or event.incarnation in writes.unwritten
    if event.error != _NOT_AVAILABLE or away or isinstance(event, OffsetCommitReplied):
        return ""
    return f"the group was {group.status}"


def _untrue(event: ReplyEvent, group: Incarnation, rebalancing: GroupStatus) -> str:
    """The contradiction to the reason of a refusal; empty where there is none."""
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


def _loading_ends(step: Step, _incarnations: Incarnations, _writes: Writes, disturbed: Disturbed) -> Iterator[Finding]:
    """COORDINATOR_LOAD_IN_PROGRESS is answered only between a failover and the end of loading."""
    for reply in step.replies:
        if reply.api == Api.TXN_OFFSET_COMMIT:
            continue
        if reply.error == _LOADING and not disturbed.is_loading:
            headline = f"{reply.request.client} is answered {_LOADING}, and nothing is being loaded"
            yield broken_step(step, headline, reply.event)
        else:
            yield CHECKED


RefusalsAreTrue: Final = Invariant(
    name="refusals_are_true",
    family="coordinator",
    claim="a coordinator refuses a request only for a reason that holds: REBALANCE_IN_PROGRESS only in "
    "PreparingRebalance, to a commit in CompletingRebalance, ILLEGAL_GENERATION only for another generation, "
    "UNKNOWN_MEMBER_ID only if it is no member, FENCED_INSTANCE_ID only if another member has its instance id, "
    "COORDINATOR_NOT_AVAILABLE only if the group is Dead or its record is not written, and "
    "COORDINATOR_LOAD_IN_PROGRESS only while the log is read",
    source="ClassicGroup.validateOffsetCommit; GroupMetadataManager.classicGroupHeartbeatToClassicGroup, "
    "classicGroupSyncToClassicGroup, classicGroupJoinToClassicGroup, acceptJoiningMember; "
    "CoordinatorRuntime.CoordinatorContext",
    premises=(
        RECORDED + ", or the steps of a scenario",
        "a request that waited before it was refused is left out",
        "of a JoinGroup and a LeaveGroup, COORDINATOR_NOT_AVAILABLE alone is judged, and of a commit all else: no "
        "event tells whether its offsets were written",
        "loading is judged by the steps of a scenario; a commit in a transaction is left out: its failed write is "
        "reported as loading",
    ),
    exempted_by=(
        CoordinatorConfigured, GroupMetadataWritten, GroupStatusChanged, MemberAdded, MemberRemoved, RequestParked,
    ),
    evidence=Evidence.CONCERNED,
    fold=scenario(_loading_ends, also=dict.fromkeys(REPLIES, _true), views=(Incarnations, Writes, Disturbed)),
    opening="""
        GenerationStarted(generation=1, members=("a",), leader="a")
        GroupStatusChanged(generation=1, from_status="Stable", to_status="PreparingRebalance")
    """,
    breaks="""OffsetCommitReplied(generation=1, error="REBALANCE_IN_PROGRESS", member_id="a", request_generation=1)""",
    holds="""HeartbeatReplied(generation=1, error="REBALANCE_IN_PROGRESS", member_id="a", request_generation=1)""",
)  # fmt: skip


def _no_server_error(step: Step, disturbed: Disturbed) -> Iterator[Finding]:
    """UNKNOWN_SERVER_ERROR is only how a record that is too large is reported; no reply reports what a timer throws."""
    if step.after.exception:
        yield broken_step(step, f"the coordinator threw {step.after.exception}")
    if disturbed.failing == "MESSAGE_TOO_LARGE":
        return
    for reply in step.replies:
        if reply.error == "UNKNOWN_SERVER_ERROR":
            yield broken_step(step, f"{reply.request.client} is answered UNKNOWN_SERVER_ERROR", reply.event)
        else:
            yield CHECKED


NoServerError: Final = Invariant(
    name="no_server_error",
    family="coordinator",
    claim="no request is answered UNKNOWN_SERVER_ERROR, but for a record that is too large, and no exception of the "
    "coordinator ends in its log file without a reply that reports it",
    source="Errors.UNKNOWN_SERVER_ERROR: an unexpected error; CoordinatorRuntime, CoordinatorTimerImpl: they log what "
    "a timer or a write throws, and go on",
    premises=PREMISES,
    evidence=Evidence.CONCERNED,
    fold=scenario(_no_server_error, views=(Disturbed,)),
    opening="""StepStarted(step="join a")""",
    breaks="""
        RequestIssued(client="a", api="JoinGroup")
        ReplyReceived(error="UNKNOWN_SERVER_ERROR")
        GroupDescribed(status="Empty")
    """,
    holds="""
        RequestIssued(client="a", api="JoinGroup")
        ReplyReceived(error="MEMBER_ID_REQUIRED", assigned_member_id="a-1")
        GroupDescribed(status="Empty")
    """,
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
