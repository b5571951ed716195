"""The requests and replies of one recorded group, as the reference coordinator takes and gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from rebalance_check.impl.protocol.messages import (
    CommittedOffset,
    GroupReply,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    JoinProtocol,
    LeaveGroupReply,
    LeaveGroupRequest,
    MemberIdentity,
    OffsetCommitReply,
    OffsetCommitRequest,
    SyncAssignment,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberLeft,
    MemberPaused,
    MemberStarted,
    ReplyObserved,
    RequestAnswered,
    RequestObserved,
    RequestSent,
)
from rebalance_check.properties.views.own_record import OwnRecords, OwnReply, OwnRequest, record_of

NONE: Final = Error.NONE.name
BY_THE_RECORDER: Final = frozenset({"answer", "close-before"})
"""The faults of requests that the recorder did not pass on: it answered in the coordinator's place, or not at all."""

LAST_WITHOUT_PROTOCOL: Final = 4
"""The last version of SyncGroup whose request does not name the protocol (KIP-559)."""

Recorded: TypeAlias = RequestObserved | ReplyObserved


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the group, with the number that its reply has; ``new_id`` is the member id that its reply gives it,
    "" where none was recorded."""

    number: int
    time_ms: int
    request: GroupRequest
    event: RequestObserved
    new_id: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The reply to a request."""

    number: int
    time_ms: int
    event: ReplyObserved


@dataclass(slots=True)
class Recording:
    """The record of one group, in its order.

    ``leaders``, ``protocols`` and ``members`` are those that the replies name, by generation; a group that was created
    anew has several of each. ``replied`` are the requests whose reply was recorded. ``has_late_replies`` says that a
    member which recorded its own replies was paused or crashed.
    """

    steps: list[Asked | Answered] = field(default_factory=list)
    leaders: dict[int, set[str]] = field(default_factory=dict)
    protocols: dict[int, set[str]] = field(default_factory=dict)
    members: dict[int, set[frozenset[str]]] = field(default_factory=dict)
    replied: set[int] = field(default_factory=set)
    has_late_replies: bool = False

    @property
    def unrecorded_members(self) -> list[str]:
        """The members that replies list, and that no recorded request joined as."""
        asked = (step for step in self.steps if isinstance(step, Asked))
        known = {each for one in asked for each in (one.new_id, one.event.member_id)}
        listed = {each for generation in self.members.values() for members in generation for each in members}
        return sorted(listed - known)


def recording_of(history: Sequence[Event], group: str) -> Recording:
    """The requests and replies of a group: as a recorder saw them pass, or as its members recorded them."""
    passed, found, ids = list(_passed(history, group)), Recording(), dict[str, str]()
    found.has_late_replies = any(isinstance(event, MemberPaused | MemberCrashed) for event in history)
    new_ids = _new_ids(passed)
    for event in passed:
        if isinstance(event, ReplyObserved):
            ids[event.process] = event.assigned_member_id or ids.get(event.process, "")
            found.steps.append(Answered(event.request, event.time_ms, event))
            found.replied.add(event.request)
            if event.api == Api.JOIN_GROUP and event.error == NONE:
                found.leaders.setdefault(event.reply_generation, set()).add(event.leader)
                found.protocols.setdefault(event.reply_generation, set()).add(event.protocol)
                if event.members:
                    listed = frozenset(member for member, _ in event.members)
                    found.members.setdefault(event.reply_generation, set()).add(listed)
        elif (make := _REQUESTS.get(event.api)) is not None:
            asked = _with_member_id(event, ids.get(event.process, ""))
            found.steps.append(Asked(event.request, event.time_ms, make(asked), asked, new_ids.get(event.request, "")))
    return found


def _with_member_id(event: RequestObserved, member_id: str) -> RequestObserved:
    """A LeaveGroup whose sender recorded that it is no member any more names the member that it was."""
    is_forgotten = isinstance(event, OwnRequest) and event.leaving == (("", ""),)
    return replace(event, leaving=((member_id, ""),)) if is_forgotten else event


def _new_ids(passed: Iterable[Recorded]) -> dict[int, str]:
    """The member id that each JoinGroup gets, by its reply; where that is not recorded, one that other replies name, no
    request got, and begins as the sender's: with its instance id or client id."""
    given, named, without = dict[int, str](), dict[str, None](), dict[int, RequestObserved]()
    for event in passed:
        if isinstance(event, RequestObserved):
            if event.api == Api.JOIN_GROUP and not event.member_id:
                without[event.request] = event
        elif event.api == Api.JOIN_GROUP:
            given[event.request] = event.assigned_member_id
            named |= dict.fromkeys((event.leader, *(member for member, _ in event.members)))
    free = [member_id for member_id in named if member_id and member_id not in given.values()]
    for number in sorted(without.keys() - given.keys(), key=abs):
        asked = without[number]
        prefix = f"{asked.instance_id or asked.client_id or asked.process}-"
        found = next((member_id for member_id in free if member_id.startswith(prefix)), None)
        if found is not None:
            free.remove(found)
            given[number] = found
    return given


def _passed(history: Sequence[Event], group: str) -> Iterable[Recorded]:
    """The group's requests that arrived at its coordinator, and the replies that it gave."""
    own = OwnRecords()
    kept = {one.request for one in history if isinstance(one, ReplyObserved) and one.fault in BY_THE_RECORDER}
    for event in history:
        if event.group != group and group:
            continue
        match event:
            case RequestObserved() | ReplyObserved():
                if event.api in _REQUESTS and event.request not in kept:
                    yield event
            case MemberStarted() | MemberLeft() | MemberCrashed():
                own.of_process(event)
            case RequestSent() if event.api in _REQUESTS:
                yield own.request(event)
            case RequestAnswered() if event.api in _REQUESTS:
                reply, _ = own.reply(event)
                if event.error is not None and reply.request:
                    yield reply


# ---------------------------------------------------------------------------------------------------- requests


def _base(event: RequestObserved) -> dict[str, Any]:
    return {"group_id": event.group or "g", "version": max(event.version, 0), "client_id": event.client_id}


def _member(event: RequestObserved) -> dict[str, Any]:
    return {
        **_base(event), "member_id": event.member_id, "group_instance_id": event.instance_id or None,
        "generation_id": event.request_generation,
    }  # fmt: skip


def _join(event: RequestObserved) -> GroupRequest:
    """The bytes of the metadata are not recorded: their digest, or their decoded form, stands for them."""
    read = (event.topics, event.owned, event.owned_generation, event.subscription_version, event.malformed)
    metadata = (event.metadata or repr(read)).encode()
    return JoinGroupRequest(
        **_base(event), member_id=event.member_id, group_instance_id=event.instance_id or None,
        session_timeout_ms=event.session_timeout_ms, rebalance_timeout_ms=event.rebalance_timeout_ms,
        protocol_type=event.protocol_type or "consumer",
        protocols=tuple(JoinProtocol(name, metadata) for name in event.protocols),
    )  # fmt: skip


def _sync(event: RequestObserved) -> GroupRequest:
    """In a version without the protocol, which no record holds."""
    assignments = tuple(SyncAssignment(member, repr(sorted(given)).encode()) for member, given in event.assignments)
    fields = {**_member(event), "version": min(event.version, LAST_WITHOUT_PROTOCOL)}
    return SyncGroupRequest(**fields, assignments=assignments)


def _leave(event: RequestObserved) -> GroupRequest:
    leaving = tuple(MemberIdentity(member, instance or None) for member, instance in event.leaving)
    return LeaveGroupRequest(**_base(event), members=leaving or (MemberIdentity(event.member_id),))


def _commit(event: RequestObserved) -> GroupRequest:
    offsets = tuple(CommittedOffset("t", number, 0) for number in range(max(len(event.offsets), 1)))
    return OffsetCommitRequest(**_member(event), offsets=offsets)


_REQUESTS: Final[Mapping[str, Callable[[RequestObserved], GroupRequest]]] = {
    Api.JOIN_GROUP: _join,
    Api.SYNC_GROUP: _sync,
    Api.HEARTBEAT: lambda event: HeartbeatRequest(**_member(event)),
    Api.LEAVE_GROUP: _leave,
    Api.OFFSET_COMMIT: _commit,
}


# ---------------------------------------------------------------------------------------------------- replies


def shown(reply: GroupReply) -> dict[str, Any]:
    """The fields of a reply that a recording may hold, by the names of `ReplyObserved`."""
    match reply:
        case JoinGroupReply(error=Error.NONE):
            return {
                "error": NONE, "reply_generation": reply.generation_id, "assigned_member_id": reply.member_id,
                "leader": reply.leader, "protocol": reply.protocol_name or "",
                "members": sorted(member.member_id for member in reply.members),
                "skip_assignment": reply.skip_assignment,
            }  # fmt: skip
        case JoinGroupReply(error=Error.MEMBER_ID_REQUIRED):
            return {"error": reply.error.name, "assigned_member_id": reply.member_id}
        case SyncGroupReply(error=Error.NONE):
            return {"error": NONE, "assignment": reply.assignment.decode() or "[]"}
        case LeaveGroupReply() | OffsetCommitReply():
            return {"error": _first_error(reply)}
        case _:
            return {"error": reply.error.name}


def _first_error(reply: LeaveGroupReply | OffsetCommitReply) -> str:
    """Its own error, or the first of an item that it refuses."""
    items = (
        [member.error for member in reply.members]
        if isinstance(reply, LeaveGroupReply)
        else [error for _, _, error in reply.partitions]
    )
    return next((error.name for error in (reply.error, *items) if error is not Error.NONE), NONE)


def recorded(event: ReplyObserved, asked: RequestObserved) -> dict[str, Any]:
    """The same fields of a recorded reply, but for those that its record does not hold."""
    fields: dict[str, Any] = {"error": event.error}
    is_own = isinstance(event, OwnReply)
    if event.api == Api.JOIN_GROUP and event.error == NONE:
        member_id = event.assigned_member_id or asked.member_id
        fields |= {"reply_generation": event.reply_generation, "assigned_member_id": member_id}
        fields |= {"leader": event.leader, "protocol": event.protocol}
        if event.members:
            fields["members"] = sorted(member for member, _ in event.members)
        if not is_own:
            fields["skip_assignment"] = event.skip_assignment
    elif event.api == Api.JOIN_GROUP and event.error == Error.MEMBER_ID_REQUIRED.name:
        fields["assigned_member_id"] = event.assigned_member_id
    elif event.api == Api.SYNC_GROUP and event.error == NONE and not is_own:
        fields["assignment"] = repr(sorted(event.assignment))
    return fields


def event_of(step: Asked | Answered) -> Event:
    """The event of the history that a step was made of."""
    found = record_of(step.event)
    assert found is not None
    return found
