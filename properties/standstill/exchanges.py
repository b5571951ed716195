"""The last request of a member and what became of it: answered, parked, lost on its way, or never sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorEvent,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    HeartbeatReplied,
    JoinGroupReplied,
    LeaveGroupReplied,
    MemberCrashed,
    OffsetCommitReplied,
    ReplyEvent,
    RequestAnswered,
    RequestParked,
    RequestSent,
    SyncGroupReplied,
)
from rebalance_check.properties.standstill.members import LastOfMember
from rebalance_check.properties.verdict import STEP, Because

LONG_S: Final = 10
"""A silence in seconds that is worth a word: several heartbeats."""

_REPLIES: Final[dict[str, type[ReplyEvent]]] = {
    Api.JOIN_GROUP: JoinGroupReplied,
    Api.SYNC_GROUP: SyncGroupReplied,
    Api.HEARTBEAT: HeartbeatReplied,
    Api.LEAVE_GROUP: LeaveGroupReplied,
    Api.OFFSET_COMMIT: OffsetCommitReplied,
}


def why_member_waits(member: LastOfMember, events: Sequence[Event], end_ms: int | None) -> Iterator[Because]:
    """The last exchange of a member, and what it does not do: a sentence for each.

    The run ends at ``end_ms``, None where that is not on the clock of the member.
    """
    if member.sent is None:
        yield from _never_asked(member, end_ms)
    elif member.answer is None:
        silence = _silence(member.sent, end_ms)
        yield Because(f"{_request(member.sent)}, sent at {STEP}, gets no reply{silence}.", member.sent)
        yield from _at_the_coordinator(member, member.sent, events)
    else:
        error = member.answer.error
        said = f"is answered {error} at {STEP}" if error else f"is given up at {STEP}, with its outcome unknown"
        yield Because(f"{_request(member.sent)}, {said}{_silence(member.answer, end_ms)}.", member.answer)
    yield from _end(member)
    if isinstance(member.coordinator, CoordinatorLost):
        yield Because(f"{member.name} lost its coordinator at {STEP} and finds none after that.", member.coordinator)


def _request(sent: RequestSent) -> str:
    generation = f" in generation {sent.generation}" if sent.generation >= 0 else ""
    return f"the last request of {sent.member}, {sent.api}{generation}"


def _silence(last: Event, end_ms: int | None) -> str:
    """For how long nothing follows, where that is long."""
    silent_s = 0 if end_ms is None else (end_ms - last.time_ms) // 1000
    return f", and for {silent_s} s until the run ends no other follows" if silent_s >= LONG_S else ""


def _end(member: LastOfMember) -> Iterator[Because]:
    if isinstance(member.ended, MemberCrashed) and member.exchanges:
        yield from _last_reply(member, member.exchanges[-1])
    if member.ended is not None:
        how = "dies" if isinstance(member.ended, MemberCrashed) else "leaves"
        yield Because(f"{member.name} {how} at {STEP}, and does not start again.", member.ended)


def _last_reply(member: LastOfMember, last: RequestSent | RequestAnswered) -> Iterator[Because]:
    """The reply after which the member dies, where it answers another request than its last."""
    if isinstance(last, RequestAnswered) and last is not member.answer:
        yield Because(f"the last reply that {member.name} gets, to {last.api}, is {last.error} at {STEP}.", last)


def _never_asked(member: LastOfMember, end_ms: int | None) -> Iterator[Because]:
    found = isinstance(member.coordinator, CoordinatorFound)
    lacking = "although it has found its coordinator" if found else "and finds no coordinator"
    if member.begun is not None:
        yield Because(
            f"{member.name} sends no request after it started at {STEP}, {lacking}{_silence(member.begun, end_ms)}.",
            member.begun,
        )
    elif member.last is not None:
        yield Because(f"{member.name} sends no request of its group, {lacking}, as of {STEP}.", member.last)


def _at_the_coordinator(member: LastOfMember, sent: RequestSent, events: Sequence[Event]) -> Iterator[Because]:
    """The coordinator's treatment of the request, where its events are recorded."""
    if not any(isinstance(event, CoordinatorEvent) for event in events):
        return
    place = next((at for at, event in enumerate(events) if event is sent), len(events))
    its_own = [event for event in events[place:] if _is_of(event, member)]
    replied = next((event for event in its_own if type(event) is _REPLIES.get(sent.api)), None)
    parked = next((event for event in its_own if isinstance(event, RequestParked) and event.api == sent.api), None)
    if replied is not None:
        error = getattr(replied, "error", "")
        yield Because(f"the coordinator replies {error} at {STEP}, and {member.name} never gets it.", replied)
    elif parked is not None:
        yield Because(f"the coordinator parks it at {STEP} and never replies.", parked)
    else:
        yield Because("no coordinator takes it: the request was lost, or waits where nothing answers.", sent)


def _is_of(event: Event, member: LastOfMember) -> bool:
    """Whether the coordinator means this member: by its member id, or by its instance id."""
    ids = {getattr(event, "member_id", ""), getattr(event, "assigned_member_id", "")} - {""}
    instance = getattr(event, "instance_id", "")
    return member.member_id in ids or (instance != "" and instance == member.instance_id)
