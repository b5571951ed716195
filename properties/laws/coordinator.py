"""The coordinator: which requests it accepts and refuses, with which errors, and what that does to the group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorConfigured,
    Event,
    GenerationStarted,
    GroupDeleted,
    GroupMetadataWritten,
    GroupStatusChanged,
    HeartbeatReplied,
    IncarnationEnded,
    IncarnationStarted,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberAdded,
    MemberRemoved,
    MemberStarted,
    OffsetCommitReplied,
    ReplyEvent,
    RequestAnswered,
    RequestParked,
    RequestSent,
    SyncGroupReplied,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.engines import (
    CHECKED,
    Fact,
    Finding,
    Findings,
    agreement,
    broken,
    broken_step,
    form,
    scenario,
)
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.laws.generation import RECORDED
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import ACCEPTED, NOT_RECORDED, Incarnation, Incarnations
from rebalance_check.properties.views.fencing import REPLIES, StaleRequests, Writes
from rebalance_check.properties.views.scenarios import PREMISES, Disturbed, KnownIds, assigns
from rebalance_check.properties.views.steps import FORMED, MEMBER_ID_REQUIRED_SINCE, Step, members_of

# ---------------------------------------------------------------------------------------------- accepted requests


def _stale_is_refused(event: RequestAnswered, requests: StaleRequests) -> Findings:
    if requests.answered is None:
        return None
    sent, current = requests.answered
    if event.error != ACCEPTED:
        return CHECKED
    return broken(
        f"{event.api} of {event.member} for generation {sent.generation} is accepted in generation "
        f"{current.generation}",
        (f"generation {current.generation} started at {STEP}.", current),
        (f"{event.member} sent {event.api} for generation {sent.generation} at {STEP}.", sent),
        (f"it was answered without an error at {STEP}: contradiction.", event),
    )


StaleGenerationIsRefused: Final = Invariant(
    name="stale_generation_is_refused",
    family="coordinator",
    claim="SyncGroup, Heartbeat and OffsetCommit sent for an older generation are not accepted",
    source="ClassicGroup.validateOffsetCommit; GroupMetadataManager.classicGroupSync, classicGroupHeartbeat",
    premises=(
        "the history holds the coordinator's GenerationStarted and the member's RequestSent",
        "a request counts as stale only if the newer generation had started before it was sent",
        "after a failover the coordinator may return to an older generation; a loading one answers heartbeats blindly",
        "nor is it judged while a coordinator that was deposed may answer from memory",
        "nor is a request for a generation of a group that was deleted since",
    ),
    exempted_by=(GroupDeleted, HeartbeatReplied, IncarnationEnded, IncarnationStarted, MemberStarted),
    evidence=Evidence.CONCERNED,
    fold=form(
        {RequestAnswered: _stale_is_refused}, views=(StaleRequests,), needs=((GenerationStarted,), (RequestSent,))
    ),
    breaks="""
        GenerationStarted(incarnation=1, generation=2, members=("b",), leader="b")
        RequestSent(member="m0", api="OffsetCommit", request=7, generation=1)
        RequestAnswered(member="m0", api="OffsetCommit", request=7, error="NONE")
    """,
    holds="""
        GenerationStarted(incarnation=1, generation=2, members=("b",), leader="b")
        RequestSent(member="m0", api="OffsetCommit", request=7, generation=1)
        RequestAnswered(member="m0", api="OffsetCommit", request=7, error="ILLEGAL_GENERATION")
    """,
)

_API_OF: Final[Mapping[type[Event], Api]] = MappingProxyType(
    {
        JoinGroupReplied: Api.JOIN_GROUP,
        SyncGroupReplied: Api.SYNC_GROUP,
        HeartbeatReplied: Api.HEARTBEAT,
        LeaveGroupReplied: Api.LEAVE_GROUP,
        OffsetCommitReplied: Api.OFFSET_COMMIT,
    }
)

_ACCEPTING: Final[Mapping[type[Event], frozenset[GroupStatus]]] = MappingProxyType(
    {
        SyncGroupReplied: frozenset({GroupStatus.STABLE}),
        HeartbeatReplied: frozenset({GroupStatus.COMPLETING_REBALANCE, GroupStatus.STABLE}),
        OffsetCommitReplied: frozenset({GroupStatus.PREPARING_REBALANCE, GroupStatus.STABLE}),
    }
)
"""The statuses in which a group accepts a request of a member of its generation."""

_RECOGNISED: Final = frozenset({ACCEPTED, "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"})
"""The answers that only a member gets that passed for the holder of its instance id."""


def _fenced(event: ReplyEvent, incarnations: Incarnations) -> Iterator[Finding]:
    """An accepted request comes from a member, for the current generation, in a status that allows it."""
    group = incarnations.current
    if group is None:
        return
    is_outside = event.request_generation < 0 and isinstance(event, OffsetCommitReplied)
    if event.error == ACCEPTED and is_outside:
        yield _fenced_by(event, group, _why_not_empty(group))
    elif event.error == ACCEPTED and group.is_known:
        yield _fenced_by(event, group, _why_not_accepted(event, group))
    if not is_outside:
        yield from _holds_its_instance(event, incarnations)


def _why_not_empty(group: Incarnation) -> str:
    """A commit outside of any generation needs an Empty group."""
    status = group.arrival.status if group.arrival is not None else group.status
    return f"the group was {status}" if status and status != GroupStatus.EMPTY else ""


def _why_not_accepted(event: ReplyEvent, group: Incarnation) -> str:
    if group.arrival is not None:
        status, generation, is_member, _ = group.arrival
    else:
        status, generation, is_member = group.status, event.generation, event.member_id in group.members
    if not is_member:
        return f"{event.member_id or 'a client without a member id'} is no member"
    if event.request_generation != generation:
        return f"the generation was {generation}"
    return f"the group was {status}" if status and status not in _ACCEPTING[type(event)] else ""


def _fenced_by(event: ReplyEvent, group: Incarnation, why: str) -> Finding:
    if not why:
        return CHECKED
    taken = group.arrival.event if group.arrival is not None else None
    sender = event.member_id or "a client without a member id"
    return broken(
        f"{_API_OF[type(event)]} of {sender} for generation {event.request_generation} is accepted, and {why}",
        *([(f"the generation before this answer started at {STEP}.", group.started)] if group.started else []),
        *([(f"the request was taken at {STEP}.", taken)] if taken is not None else []),
        (f"it was answered without an error at {STEP}, and {why}: contradiction.", event),
    )


def _holds_its_instance(event: ReplyEvent, incarnations: Incarnations) -> Iterator[Finding]:
    """A member that passes with an instance id is the member that has it now."""
    group = incarnations.current
    if not event.instance_id or not event.member_id or event.error not in _RECOGNISED:
        return
    if group is None or not group.is_known or group.arrival is not None:
        return
    holder = group.holder_of(event.instance_id)
    if holder == event.member_id:
        yield CHECKED
    elif holder or NOT_RECORDED not in group.members.values():
        whose = f"belongs to {holder}" if holder else "belongs to no member"
        yield broken(
            f"{event.member_id} passes with the instance id {event.instance_id}, which {whose}",
            (f"{event.member_id} was answered {event.error} at {STEP}, and {event.instance_id} {whose}: "
             f"contradiction.", event),
        )  # fmt: skip


RequestsAreFenced: Final = Invariant(
    name="requests_are_fenced",
    family="coordinator",
    claim="SyncGroup, Heartbeat and OffsetCommit are accepted only of a member that holds its instance id, in the "
    "current generation and a status that allows it, or a commit in an Empty group outside of any generation",
    source="GroupMetadataManager.validateSyncGroup, classicGroupHeartbeatToClassicGroup; "
    "ClassicGroup.validateOffsetCommit, validateMember; KIP-345",
    premises=(
        RECORDED,
        "a request that waits for earlier writes is judged by the group as it was when it was taken",
        "a coordinator that still loads the group answers heartbeats blindly, of no incarnation",
        "the old generation may commit until the join phase ends; a load returns to the generation of its record",
        "a failed write of a replacement gives the slot back to the id before it, in a chain to one that was fenced",
        "requests that omit the instance id are not fenced by it; transactional commits are not in the vocabulary",
    ),
    exempted_by=(GroupStatusChanged, IncarnationStarted, MemberAdded, MemberRemoved, RequestParked),
    evidence=Evidence.CONCERNED,
    fold=form(
        {
            **dict.fromkeys((SyncGroupReplied, HeartbeatReplied, OffsetCommitReplied), _fenced),
            JoinGroupReplied: _holds_its_instance,
        },
        views=(Incarnations,),
        needs=((IncarnationStarted, GenerationStarted, GroupStatusChanged),),
    ),
    breaks="""
        GenerationStarted(incarnation=0, generation=2, members=("a",), leader="a")
        SyncGroupReplied(incarnation=0, generation=2, request=1, error="NONE", member_id="a", request_generation=1)
    """,
    holds="""
        GenerationStarted(incarnation=0, generation=2, members=("a",), leader="a")
        SyncGroupReplied(incarnation=0, generation=2, request=1, error="NONE", member_id="a", request_generation=2)
    """,
)


def _response(event: ReplyEvent) -> Fact:
    says = f"request {event.request} of {event.member_id or 'a new member'} was answered {event.error} at {STEP}"
    return Fact((event.source, event.request), event.error, event.source, says, event)


def _answered_twice(_first: Fact, other: Fact) -> str:
    event = other.event
    assert isinstance(event, ReplyEvent)
    return f"request {event.request} of {event.member_id or 'a new member'} is answered twice"


def _always(_first: Fact, _other: Fact) -> bool:
    return True


OneResponsePerRequest: Final = Invariant(
    name="one_response_per_request",
    family="coordinator",
    claim="every request is answered at most once",
    source="GroupMetadataManager: each response future is completed once",
    premises=(
        "the coordinator numbers the requests as they arrive",
        "none at all is legal for a parked request that a later one supersedes, and for the parked SyncGroup of a "
        "member that is removed",
    ),
    evidence=Evidence.PRESENCE,
    fold=agreement(dict.fromkeys(REPLIES, _response), headline=_answered_twice, differ=_always, checks_first=True),
    breaks="""
        HeartbeatReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", request_generation=1)
        HeartbeatReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", request_generation=1)
    """,
    holds="""
        HeartbeatReplied(incarnation=0, generation=1, request=1, error="NONE", member_id="a", request_generation=1)
        HeartbeatReplied(incarnation=0, generation=1, request=2, error="NONE", member_id="a", request_generation=1)
    """,
)

# ---------------------------------------------------------------------------------------------- refused requests

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
    api = _API_OF[type(event)]
    if event.error in _DOCUMENTED[api]:
        return CHECKED
    return broken(
        f"{api} of {event.member_id or 'a client without a member id'} is answered {event.error}",
        (f"{event.error}, answered at {STEP}, is none of the errors of {api}: contradiction.", event),
    )


def _documented_in_step(step: Step) -> Iterator[Finding]:
    for reply in step.replies_to(Api.HEARTBEAT):
        if reply.error in _DOCUMENTED[Api.HEARTBEAT]:
            yield CHECKED
        else:
            headline = f"the heartbeat of {reply.request.client} is answered {reply.error}"
            yield broken_step(step, f"{headline}, which its message does not document", reply.event)


RefusalsAreDocumented: Final = Invariant(
    name="refusals_are_documented",
    family="coordinator",
    claim="a coordinator answers each request with one of the errors that its message documents, and a heartbeat "
    "never with COORDINATOR_LOAD_IN_PROGRESS",
    source="JoinGroupResponse.json and the other messages; AbstractCoordinator.HeartbeatResponseHandler",
    premises=(
        "the errors of failed writes are counted among them",
        "of the replies that the clients of a scenario receive, those to heartbeats are judged",
    ),
    evidence=Evidence.PRESENCE,
    fold=scenario(_documented_in_step, also=dict.fromkeys(REPLIES, _documented)),
    breaks="""
        SyncGroupReplied(incarnation=0, generation=1, request=1, error="OFFSET_OUT_OF_RANGE", member_id="a")
    """,
    holds="""
        SyncGroupReplied(incarnation=0, generation=1, request=1, error="ILLEGAL_GENERATION", member_id="a")
    """,
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
        f"{event.member_id} is answered {event.error} to {_API_OF[type(event)]}, and {why}",
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


def _true_in_step(step: Step, _incarnations: Incarnations, _writes: Writes, disturbed: Disturbed) -> Iterator[Finding]:
    yield from _loading_ends(step, disturbed)
    yield from _refused_when_full(step)


def _loading_ends(step: Step, disturbed: Disturbed) -> Iterator[Finding]:
    """COORDINATOR_LOAD_IN_PROGRESS is answered only between a failover and the end of loading."""
    for reply in step.replies:
        if reply.api == Api.TXN_OFFSET_COMMIT:
            continue
        if reply.error == _LOADING and not disturbed.is_loading:
            headline = f"{reply.request.client} is answered {_LOADING}, and nothing is being loaded"
            yield broken_step(step, headline, reply.event)
        else:
            yield CHECKED


def _refused_when_full(step: Step) -> Iterator[Finding]:
    """In PreparingRebalance a member is refused for size only if as many others as fit wait already.

    Removing a member may end the join phase, so that the JoinGroups that waited are answered in the same step.
    """
    joins = list(step.replies_to(Api.JOIN_GROUP))
    for reply in joins if step.before.status == GroupStatus.PREPARING_REBALANCE else ():
        was_member = reply.request.member_id in members_of(step.before)
        if reply.error != "GROUP_MAX_SIZE_REACHED" or not was_member:
            continue
        answered = sum(other.request.request < reply.request.request for other in joins)
        waiting = answered + sum(sent.api == Api.JOIN_GROUP for sent in step.waiting.values())
        if waiting < step.max_size:
            headline = f"{reply.request.client} is refused for the group's size; {waiting} members wait, and there is"
            yield broken_step(step, f"{headline} capacity for {step.max_size}", reply.event)
        else:
            yield CHECKED


RefusalsAreTrue: Final = Invariant(
    name="refusals_are_true",
    family="coordinator",
    claim="a coordinator refuses a request only for a reason that holds: REBALANCE_IN_PROGRESS only in "
    "PreparingRebalance, to a commit in CompletingRebalance, ILLEGAL_GENERATION only for another generation, "
    "UNKNOWN_MEMBER_ID only if it is no member, FENCED_INSTANCE_ID only if another member has its instance id, "
    "COORDINATOR_NOT_AVAILABLE only if the group is Dead or its record is not written, COORDINATOR_LOAD_IN_PROGRESS "
    "only while the log is read, and GROUP_MAX_SIZE_REACHED to a member only if as many others as fit have joined",
    source="ClassicGroup.validateOffsetCommit; GroupMetadataManager.classicGroupHeartbeatToClassicGroup, "
    "classicGroupSyncToClassicGroup, classicGroupJoinToClassicGroup, acceptJoiningMember; KIP-389; "
    "CoordinatorRuntime.CoordinatorContext",
    premises=(
        RECORDED + ", or the steps of a scenario",
        "a request that waited before it was refused is left out",
        "of a JoinGroup and a LeaveGroup, COORDINATOR_NOT_AVAILABLE alone is judged, and of a commit all else: no "
        "event tells whether its offsets were written",
        "loading and size are judged by the steps of a scenario; a commit in a transaction is left out: its failed "
        "write is reported as loading",
    ),
    exempted_by=(
        CoordinatorConfigured, GroupMetadataWritten, GroupStatusChanged, MemberAdded, MemberRemoved, RequestParked,
    ),
    evidence=Evidence.CONCERNED,
    fold=scenario(_true_in_step, also=dict.fromkeys(REPLIES, _true), views=(Incarnations, Writes, Disturbed)),
    breaks="""
        GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
        GroupStatusChanged(incarnation=0, generation=1, from_status="Stable", to_status="PreparingRebalance")
        OffsetCommitReplied(incarnation=0, generation=1, request=1, error="REBALANCE_IN_PROGRESS", member_id="a",
                            request_generation=1)
    """,
    holds="""
        GenerationStarted(incarnation=0, generation=1, members=("a",), leader="a")
        GroupStatusChanged(incarnation=0, generation=1, from_status="Stable", to_status="PreparingRebalance")
        HeartbeatReplied(incarnation=0, generation=1, request=1, error="REBALANCE_IN_PROGRESS", member_id="a",
                         request_generation=1)
    """,
)  # fmt: skip


def _no_server_error(step: Step, disturbed: Disturbed) -> Iterator[Finding]:
    """UNKNOWN_SERVER_ERROR is only how a record that is too large is reported."""
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
    claim="no request is answered UNKNOWN_SERVER_ERROR, but for a record that is too large",
    source="Errors.UNKNOWN_SERVER_ERROR: an unexpected error",
    premises=PREMISES,
    evidence=Evidence.CONCERNED,
    fold=scenario(_no_server_error, views=(Disturbed,)),
    breaks="""
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", request=1)
        ReplyReceived(request=1, error="UNKNOWN_SERVER_ERROR")
        GroupDescribed(status="Empty")
    """,
    holds="""
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", request=1)
        ReplyReceived(request=1, error="MEMBER_ID_REQUIRED", assigned_member_id="a-1")
        GroupDescribed(status="Empty")
    """,
)


def _nothing_is_thrown(step: Step) -> Finding:
    return broken_step(step, f"the coordinator threw {step.after.exception}") if step.after.exception else CHECKED


NothingIsThrown: Final = Invariant(
    name="nothing_is_thrown",
    family="coordinator",
    claim="no exception of the coordinator ends in its log file without a reply that reports it",
    source="CoordinatorRuntime, CoordinatorTimerImpl: they log what a timer or a write throws, and go on",
    premises=PREMISES,
    evidence=Evidence.PRESENCE,
    fold=scenario(_nothing_is_thrown),
    breaks="""
        StepStarted(step="advance 5000")
        GroupDescribed(status="Stable", exception="IllegalArgumentException")
    """,
    holds="""
        StepStarted(step="advance 5000")
        GroupDescribed(status="Stable")
    """,
)

# ---------------------------------------------------------------------------------------------- identities


def _new_ids(step: Step, known: KnownIds) -> Iterator[Finding]:
    assigned: set[str] = set()
    for reply in step.replies_to(Api.JOIN_GROUP):
        if not assigns(reply):
            continue
        member_id = reply.event.assigned_member_id
        if not reply.request.member_id:
            if member_id in known.assigned or member_id in assigned:
                headline = f"{reply.request.client} joins without a member id and is assigned {member_id}, which"
                yield broken_step(step, f"{headline} another client has", reply.event)
            else:
                yield CHECKED
        assigned.add(member_id)


AssignedMemberIdsAreNew: Final = Invariant(
    name="assigned_member_ids_are_new",
    family="coordinator",
    claim="a JoinGroup without a member id is assigned one that was assigned to no other client before",
    source="KIP-345, KIP-394; ClassicGroup.generateMemberId",
    premises=PREMISES,
    evidence=Evidence.PRESENCE,
    fold=scenario(_new_ids, views=(KnownIds,)),
    breaks="""
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", request=1)
        ReplyReceived(request=1, error="MEMBER_ID_REQUIRED", assigned_member_id="a-1")
        RequestIssued(client="b", api="JoinGroup", request=2)
        ReplyReceived(request=2, error="MEMBER_ID_REQUIRED", assigned_member_id="a-1")
        GroupDescribed(status="Empty")
    """,
    holds="""
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", request=1)
        ReplyReceived(request=1, error="MEMBER_ID_REQUIRED", assigned_member_id="a-1")
        RequestIssued(client="b", api="JoinGroup", request=2)
        ReplyReceived(request=2, error="MEMBER_ID_REQUIRED", assigned_member_id="b-1")
        GroupDescribed(status="Empty")
    """,
)


def _id_comes_first(step: Step, known: KnownIds) -> Findings:
    """From JoinGroup v4 on, the id of a dynamic member that is admitted was in a reply before."""
    joins = [sent for sent in step.sent if sent.api == Api.JOIN_GROUP]
    if not joins or any(join.version < MEMBER_ID_REQUIRED_SINCE or join.instance_id for join in joins):
        return None
    named = {sent.member_id for sent in step.sent}
    unknown = members_of(step.after) - members_of(step.before) - known.seen - named
    return broken_step(step, f"{min(unknown)} is a member, and no client knows that id") if unknown else CHECKED


MemberIdIsKnownBeforeMembership: Final = Invariant(
    name="member_id_is_known_before_membership",
    family="coordinator",
    claim="from JoinGroup v4 on a dynamic client learns its member id before it is a member",
    source="KIP-394; GroupMetadataManager.classicGroupJoinNewDynamicMember",
    premises=(*PREMISES, "a step with a JoinGroup of version 3 or lower, or with an instance id, is left out"),
    evidence=Evidence.CONCERNED,
    fold=scenario(_id_comes_first, views=(KnownIds,)),
    breaks="""
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", request=1, version=9)
        GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
    """,
    holds="""
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1", version=9)
        GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
    """,
)


def _one_per_instance(event: MemberAdded, incarnations: Incarnations) -> Findings:
    """The member that had the instance id before is gone by now."""
    group = incarnations.current
    if not event.instance_id or group is None:
        return None
    for other, instance in group.members.items():
        if instance == event.instance_id and other != event.member_id:
            return _two_per_instance(other, event.member_id, instance, event)
    return CHECKED


def _one_per_loaded_instance(event: IncarnationStarted, _incarnations: Incarnations) -> Findings:
    seen: dict[str, str] = {}
    for member, instance in event.instances:
        other = seen.setdefault(instance, member)
        if other != member:
            return _two_per_instance(other, member, instance, event)
    return CHECKED if seen else None


def _two_per_instance(one: str, other: str, instance: str, event: Event) -> Finding:
    return broken(
        f"{one} and {other} are both members with the group instance id {instance}",
        (f"{one} is a member with {instance}, and {other} is one, too, since {STEP}: contradiction.", event),
    )


OneMemberPerInstance: Final = Invariant(
    name="one_member_per_instance",
    family="coordinator",
    claim="at most one member of the group has a given group instance id",
    source="KIP-345; ClassicGroup.staticMembers, replaceStaticMember",
    premises=("the history holds the coordinator's events",),
    exempted_by=(MemberRemoved,),
    evidence=Evidence.CONCERNED,
    fold=form({MemberAdded: _one_per_instance, IncarnationStarted: _one_per_loaded_instance}, views=(Incarnations,)),
    breaks="""
        MemberAdded(incarnation=0, generation=0, member_id="a", instance_id="i")
        MemberAdded(incarnation=0, generation=0, member_id="b", instance_id="i")
    """,
    holds="""
        MemberAdded(incarnation=0, generation=0, member_id="a", instance_id="i")
        MemberRemoved(incarnation=0, generation=0, member_id="a", reason="replaced")
        MemberAdded(incarnation=0, generation=0, member_id="b", instance_id="i")
    """,
)


def _fenced_stays(step: Step, known: KnownIds) -> Findings:
    """No holder of an instance id was answered FENCED_INSTANCE_ID before."""
    holders = {member: instance for member, instance in step.after.members if instance}
    back = sorted(holders.keys() & known.fenced)
    if back:
        return broken_step(step, f"{back[0]} was fenced, and holds instance {holders[back[0]]}")
    return CHECKED if holders and known.fenced else None


FencedStaysFenced: Final = Invariant(
    name="fenced_stays_fenced",
    family="coordinator",
    claim="a member that was fenced does not hold its instance id again",
    source="KIP-345; ClassicGroup.replaceStaticMember",
    premises=PREMISES,
    evidence=Evidence.PRESENCE,
    fold=scenario(_fenced_stays, views=(KnownIds,)),
    breaks="""
        StepStarted(step="join b")
        RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1", instance_id="i")
        ReplyReceived(request=1, error="FENCED_INSTANCE_ID", assigned_member_id="a-1")
        GroupDescribed(status="Stable", members=(("b-1", "i"),))
        StepStarted(step="advance 5000")
        GroupDescribed(status="Stable", members=(("a-1", "i"),))
    """,
    holds="""
        StepStarted(step="join b")
        RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1", instance_id="i")
        ReplyReceived(request=1, error="FENCED_INSTANCE_ID", assigned_member_id="a-1")
        GroupDescribed(status="Stable", members=(("b-1", "i"),))
        StepStarted(step="advance 5000")
        GroupDescribed(status="Stable", members=(("b-1", "i"),))
    """,
)

# ---------------------------------------------------------------------------------------------- requests without effect


def _only_the_named(step: Step, known: KnownIds) -> Iterator[Finding]:
    """Every member that goes with a LeaveGroup is named in it, by its id or its instance id."""
    if step.verb != "leave" or step.after.error != ACCEPTED or step.after.status == GroupStatus.DEAD:
        return
    instance_of = {**known.instances, **dict(step.before.members)}
    for reply in step.replies_to(Api.LEAVE_GROUP):
        ids = {member for member, _ in reply.request.leaving}
        instances = {instance for _, instance in reply.request.leaving} - {""}
        gone = members_of(step.before) - members_of(step.after)
        others = {one for one in gone if one not in ids and instance_of.get(one) not in instances}
        if others:
            yield broken_step(step, f"{min(others)} is removed, and the LeaveGroup does not name it")
        else:
            yield CHECKED


LeaveRemovesOnlyNamedMembers: Final = Invariant(
    name="leave_removes_only_named_members",
    family="coordinator",
    claim="a LeaveGroup removes no member but those that it names",
    source="KIP-345; GroupMetadataManager.classicGroupLeaveToClassicGroup",
    premises=(*PREMISES, "a batch of leaves names members by member id or by group instance id"),
    evidence=Evidence.CONCERNED,
    fold=scenario(_only_the_named, views=(KnownIds,)),
    breaks="""
        GroupDescribed(status="Stable", members=(("a-1", ""), ("b-1", "")))
        StepStarted(step="leave a")
        RequestIssued(client="a", api="LeaveGroup", request=1, leaving=(("a-1", ""),))
        ReplyReceived(request=1, error="NONE")
        GroupDescribed(status="PreparingRebalance")
    """,
    holds="""
        GroupDescribed(status="Stable", members=(("a-1", ""), ("b-1", "")))
        StepStarted(step="leave a")
        RequestIssued(client="a", api="LeaveGroup", request=1, leaving=(("a-1", ""),))
        ReplyReceived(request=1, error="NONE")
        GroupDescribed(status="PreparingRebalance", members=(("b-1", ""),))
    """,
)


def _leave_without_members(step: Step) -> Findings:
    """A LeaveGroup that removes no member leaves a formed group formed."""
    if step.verb != "leave" or step.before.status not in FORMED:
        return None
    same = members_of(step.before) == members_of(step.after)
    if step.after.status == GroupStatus.PREPARING_REBALANCE and same:
        return broken_step(step, "a LeaveGroup that removed no member made the group rebalance")
    return CHECKED


LeaveWithoutMembersChangesNothing: Final = Invariant(
    name="leave_without_members_changes_nothing",
    family="coordinator",
    claim="a LeaveGroup that removes no member starts no rebalance",
    source="GroupMetadataManager.classicGroupLeaveToClassicGroup",
    premises=PREMISES,
    evidence=Evidence.CONCERNED,
    fold=scenario(_leave_without_members),
    breaks="""
        GroupDescribed(status="Stable", members=(("a-1", ""),))
        StepStarted(step="leave b")
        GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
    """,
    holds="""
        GroupDescribed(status="Stable", members=(("a-1", ""),))
        StepStarted(step="leave b")
        GroupDescribed(status="Stable", members=(("a-1", ""),))
    """,
)


def _no_trace(step: Step) -> Findings:
    """DescribeGroups shows the same as before, assignments included."""
    refused = [r for r in step.replies_to(Api.JOIN_GROUP) if r.request in step.sent and r.error != ACCEPTED]
    if step.verb != "join" or not refused or step.before.status not in FORMED:
        return None
    if step.before.digest == step.after.digest:
        return CHECKED
    return broken_step(step, f"a JoinGroup is answered {refused[0].error}, and the group is another")


RefusedJoinLeavesNoTrace: Final = Invariant(
    name="refused_join_leaves_no_trace",
    family="coordinator",
    claim="a JoinGroup that is refused at once changes nothing in a formed group",
    source="GroupMetadataManager.classicGroupJoin",
    premises=PREMISES,
    evidence=Evidence.CONCERNED,
    fold=scenario(_no_trace),
    breaks="""
        GroupDescribed(status="Stable", digest="1")
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", request=1)
        ReplyReceived(request=1, error="NOT_COORDINATOR")
        GroupDescribed(status="Stable", digest="2")
    """,
    holds="""
        GroupDescribed(status="Stable", digest="1")
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup", request=1)
        ReplyReceived(request=1, error="NOT_COORDINATOR")
        GroupDescribed(status="Stable", digest="1")
    """,
)

_NEW_MEMBER_MS: Final = 300_000
"""How long a new member may wait in its first JoinGroup; a scenario that takes less time has no such expiry."""


def _parked_stays(step: Step) -> Findings:
    """No JoinGroup that waits is answered UNKNOWN_MEMBER_ID while time passes."""
    if step.verb != "advance" or step.now_ms >= _NEW_MEMBER_MS:
        return None
    for reply in step.replies_to(Api.JOIN_GROUP):
        if reply.error == "UNKNOWN_MEMBER_ID":
            headline = f"{reply.request.client} waited in JoinGroup, and is answered UNKNOWN_MEMBER_ID when its session"
            return broken_step(step, f"{headline} ends", reply.event)
    return CHECKED if any(sent.api == Api.JOIN_GROUP for sent in step.waiting.values()) else None


ParkedMemberStays: Final = Invariant(
    name="parked_member_stays",
    family="coordinator",
    claim="the session of a member that waits in JoinGroup does not end",
    source="ClassicGroupMember.hasSatisfiedHeartbeat: its client may send no heartbeat",
    premises=(*PREMISES, "a scenario of 5 minutes or more is left out: new members expire then"),
    evidence=Evidence.CONCERNED,
    fold=scenario(_parked_stays),
    breaks="""
        RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1")
        StepStarted(step="advance 3000")
        ReplyReceived(request=1, error="UNKNOWN_MEMBER_ID")
        GroupDescribed(status="Empty")
    """,
    holds="""
        RequestIssued(client="a", api="JoinGroup", request=1, member_id="a-1")
        StepStarted(step="advance 3000")
        GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))
    """,
)

LAWS: Final = (
    StaleGenerationIsRefused,
    RequestsAreFenced,
    OneResponsePerRequest,
    RefusalsAreDocumented,
    RefusalsAreTrue,
    NoServerError,
    NothingIsThrown,
    AssignedMemberIdsAreNew,
    MemberIdIsKnownBeforeMembership,
    OneMemberPerInstance,
    FencedStaysFenced,
    LeaveRemovesOnlyNamedMembers,
    LeaveWithoutMembersChangesNothing,
    RefusedJoinLeavesNoTrace,
    ParkedMemberStays,
)
"""In the order in which reports name them."""
