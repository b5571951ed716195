"""Recorded histories, as `judge` reads them, to facts: the coordinator's events, a member's own, and those of the wire.

The times of a history are those of a monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    GenerationStarted,
    GroupStatusChanged,
    MemberAdded,
    MemberJoined,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    ReplyObserved,
    RequestAnswered,
    RequestObserved,
    RequestSent,
    TaskStarted,
    TaskStopped,
)
from rebalance_check.pipeline.diagnose import facts as to
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, Place
from rebalance_check.properties.history import scan_lines
from rebalance_check.properties.malformed import MalformedHistory, UnreadLine

ACCEPTED: Final = "NONE"
At = dict[str, Any]
STATUSES: Final = {"PreparingRebalance", "CompletingRebalance", "Stable", "Empty"}


def is_history(head: str) -> bool:
    """Whether a text begins with a line of a recorded history."""
    first = head.lstrip().partition("\n")[0]
    return first.startswith("{") and '"event"' in first and '"seq"' in first and '"source"' in first


def history_facts(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Fact | NotUnderstood]:
    """The facts of a recorded history; a line that is none of its events is not understood."""
    reader = HistoryFacts()
    last = [""]

    def texts() -> Iterator[bytes]:
        for _, text in lines:
            last[0] = text.rstrip("\r\n")
            yield text.encode()

    try:
        for number, one in enumerate(scan_lines(texts(), source), 1):
            place = Place(source, number, last[0], zoned=False)
            if isinstance(one, UnreadLine):
                yield NotUnderstood(place, one.fault)
            else:
                yield from reader.read(one, place)
    except MalformedHistory as fault:
        yield NotUnderstood(Place(source, 0), str(fault))


def event_facts(events: Iterable[Event], source: str = "history") -> Iterator[Fact]:
    """The facts of events that are in memory; each names its place among them."""
    reader = HistoryFacts()
    for number, event in enumerate(events, 1):
        yield from reader.read(event, Place(source, number, zoned=False))


class HistoryFacts:
    """Remembers, for each connection, the process and the requests that wait for their replies."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], RequestObserved] = {}
        self._member_ids: dict[str, str] = {}
        self._handlers: dict[type[Event], Callable[[Any, At], Iterable[Fact]]] = {
            GroupStatusChanged: _status, GenerationStarted: _generation, MemberAdded: _added, MemberRemoved: _removed,
            MemberStarted: _started, MemberJoined: self._joined, PartitionsAssigned: _owned(to.Assigned),
            PartitionsRevoked: _owned(to.Revoked), PartitionsLost: _owned(to.Lost), MembershipLost: _lost,
            OffsetCommitted: _committed, RequestSent: self._sent, RequestAnswered: self._answered,
            RequestObserved: self._request, ReplyObserved: self._reply,
            TaskStarted: _task(to.WorkStarted), TaskStopped: _task(to.WorkStopped),
        }  # fmt: skip

    def read(self, event: Event, place: Place) -> Iterable[Fact]:
        """The facts of an event."""
        handler = self._handlers.get(type(event))
        return (
            () if handler is None else handler(event, {"place": place, "time_ms": event.time_ms, "group": event.group})
        )

    def _joined(self, event: MemberJoined, at: At) -> Iterable[Fact]:
        self._member_ids[event.member] = event.member_id
        yield to.Joined(
            client=event.member, member=event.member_id, generation=event.generation, protocol=event.protocol,
            leader=event.leader or None, **at,
        )  # fmt: skip

    def _sent(self, event: RequestSent, at: At) -> Iterable[Fact]:
        member = event.member_id or self._member_ids.get(event.member, "")
        if event.api == Api.JOIN_GROUP:
            yield to.JoinSent(client=event.member, member=member, **at)
        elif event.api == Api.LEAVE_GROUP:
            yield to.LeaveSent(client=event.member, member=member, **at)

    def _answered(self, event: RequestAnswered, at: At) -> Iterable[Fact]:
        member = event.assigned_member_id or self._member_ids.get(event.member, "")
        if event.error not in {ACCEPTED, None}:
            yield to.RequestRefused(client=event.member, member=member, request=event.api, error=str(event.error), **at)
        elif event.api == Api.SYNC_GROUP and event.error == ACCEPTED:
            yield to.Synced(client=event.member, member=member, generation=None, **at)

    # ------------------------------------------------------------------------------------------------------- the wire

    def _request(self, event: RequestObserved, at: At) -> Iterable[Fact]:
        self._open[event.process, event.request] = event
        client = event.process or event.client_id
        about: At = {"client": client, "instance": event.instance_id, "member": event.member_id, **at}
        if event.api == Api.JOIN_GROUP:
            yield to.MemberDescribed(
                member=event.member_id or client, instance=event.instance_id, client=client,
                session_timeout_ms=event.session_timeout_ms or None, assignors=event.protocols,
                rebalance_timeout_ms=event.rebalance_timeout_ms or None, **at,
            )  # fmt: skip
            if event.reason:
                yield to.RejoinDecided(reason=event.reason, **about)
            yield to.JoinSent(**about)
        elif event.api == Api.SYNC_GROUP and event.assignments:
            yield to.AssignmentComputed(generation=event.request_generation, assignments=event.assignments, **about)
        elif event.api == Api.LEAVE_GROUP:
            for member, instance in event.leaving or ((event.member_id, event.instance_id),):
                yield to.MemberLeft(member=member, instance=instance, reason=event.reason, **at)

    def _reply(self, event: ReplyObserved, at: At) -> Iterable[Fact]:
        asked = self._open.pop((event.process, event.request), None)
        if asked is None:
            return
        about: At = {"client": event.process or asked.client_id, "instance": asked.instance_id, **at}
        if event.error != ACCEPTED:
            if event.api in _GROUP_APIS and event.error != "MEMBER_ID_REQUIRED":
                yield to.RequestRefused(member=asked.member_id, request=event.api, error=event.error, **about)
        elif event.api == Api.JOIN_GROUP:
            yield to.Joined(
                member=event.assigned_member_id, generation=event.reply_generation, protocol=event.protocol,
                leader=event.leader == event.assigned_member_id, **about,
            )  # fmt: skip
        elif event.api == Api.SYNC_GROUP:
            yield to.Synced(member=asked.member_id, generation=asked.request_generation, **about)


_GROUP_APIS: Final = frozenset({Api.JOIN_GROUP, Api.SYNC_GROUP, Api.HEARTBEAT, Api.OFFSET_COMMIT, Api.LEAVE_GROUP})


def _status(event: GroupStatusChanged, at: At) -> Iterable[Fact]:
    match event.to_status:
        case "PreparingRebalance":
            yield to.RebalanceBegan(generation=event.generation, reason="", **at)
        case "Stable":
            yield to.AssignmentStored(generation=event.generation, **at)
        case "Empty":
            yield to.GroupEmptied(generation=event.generation, **at)


def _generation(event: GenerationStarted, at: At) -> Iterable[Fact]:
    yield to.JoinPhaseEnded(generation=event.generation, members=len(event.members), ids=event.members,
                            leader=event.leader, **at)  # fmt: skip


def _added(event: MemberAdded, at: At) -> Iterable[Fact]:
    yield to.MemberAdded(member=event.member_id, instance=event.instance_id, **at)


def _removed(event: MemberRemoved, at: At) -> Iterable[Fact]:
    if "rebalance" in event.reason:
        yield to.MembersEvicted(members=(event.member_id,), **at)
    elif "session" in event.reason or "expir" in event.reason:
        yield to.MemberExpired(member=event.member_id, reason=event.reason, **at)
    else:
        yield to.MemberLeft(member=event.member_id, reason=event.reason, **at)


def _started(event: MemberStarted, at: At) -> Iterable[Fact]:
    numbers = {
        "session.timeout.ms": event.session_timeout_ms, "max.poll.interval.ms": event.rebalance_timeout_ms,
        "heartbeat.interval.ms": event.heartbeat_interval_ms,
    }  # fmt: skip
    values = tuple((name, str(number)) for name, number in sorted(numbers.items()) if number)
    yield to.ProcessStarted(
        client=event.member, instance=event.group_instance_id, release=event.release or event.client,
        topics=event.topics, **at,
    )  # fmt: skip
    if values:
        yield to.ConfigSeen(client=event.member, instance=event.group_instance_id, values=values, **at)


def _owned(kind: Callable[..., Fact]) -> Callable[[Any, At], Iterable[Fact]]:
    def make(event: PartitionsAssigned, at: At) -> Iterable[Fact]:
        if event.partitions:
            yield kind(client=event.member, member=event.member_id, partitions=event.partitions, **at)

    return make


def _lost(event: MembershipLost, at: At) -> Iterable[Fact]:
    yield to.MembershipReset(client=event.member, member=event.member_id, reason=event.reason, **at)


def _committed(event: OffsetCommitted, at: At) -> Iterable[Fact]:
    if event.error not in {ACCEPTED, None}:
        yield to.RequestRefused(
            client=event.member, member=event.member_id, request=Api.OFFSET_COMMIT, error=str(event.error), **at
        )


def _task(kind: Callable[..., Fact]) -> Callable[[Any, At], Iterable[Fact]]:
    def make(event: TaskStarted, at: At) -> Iterable[Fact]:
        yield kind(client=event.member, worker=event.member, member=event.member_id, work=event.task, **at)

    return make
