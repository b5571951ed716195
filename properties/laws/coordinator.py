"""The coordinator: which requests it accepts and refuses, with which errors, and what that does to the group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupDeleted,
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
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.laws.generation import RECORDED
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.coordinator import ACCEPTED, NOT_RECORDED, Incarnation, Incarnations
from rebalance_check.properties.views.fencing import REPLIES, StaleRequests
from rebalance_check.properties.views.scenarios import PREMISES
from rebalance_check.properties.views.steps import FORMED, Step

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
    opening="""
        GenerationStarted(incarnation=1, generation=2, members=("b",), leader="b")
        RequestSent(member="m0", api="OffsetCommit", request=7, generation=1)
    """,
    breaks="""RequestAnswered(member="m0", api="OffsetCommit")""",
    holds="""RequestAnswered(member="m0", api="OffsetCommit", error="ILLEGAL_GENERATION")""",
)

API_OF: Final[Mapping[type[Event], Api]] = MappingProxyType(
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
        f"{API_OF[type(event)]} of {sender} for generation {event.request_generation} is accepted, and {why}",
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
    opening="""GenerationStarted(generation=2, members=("a",), leader="a")""",
    breaks="""SyncGroupReplied(generation=2, member_id="a", request_generation=1)""",
    holds="""SyncGroupReplied(generation=2, member_id="a", request_generation=2)""",
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
    opening="""HeartbeatReplied(generation=1, member_id="a", request_generation=1)""",
    breaks="""HeartbeatReplied(generation=1, request=1, member_id="a", request_generation=1)""",
    holds="""HeartbeatReplied(generation=1, member_id="a", request_generation=1)""",
)


# ---------------------------------------------------------------------------------------------- requests without effect


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
    opening="""
        GroupDescribed(status="Stable", digest="1")
        StepStarted(step="join a")
        RequestIssued(client="a", api="JoinGroup")
        ReplyReceived(error="NOT_COORDINATOR")
    """,
    breaks="""GroupDescribed(status="Stable", digest="2")""",
    holds="""GroupDescribed(status="Stable", digest="1")""",
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
    opening="""
        RequestIssued(client="a", api="JoinGroup", member_id="a-1")
        StepStarted(step="advance 3000")
    """,
    breaks="""
        ReplyReceived(error="UNKNOWN_MEMBER_ID")
        GroupDescribed(status="Empty")
    """,
    holds="""GroupDescribed(status="PreparingRebalance", members=(("a-1", ""),))""",
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
