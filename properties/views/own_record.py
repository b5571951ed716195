"""A member's own record, as the wire would show it: one view knows a client from both.

Each class is the event of the wire with the ``record`` that it was made of, which counterexamples show. The wire shows
more: what a record lacks stays empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    Event,
    LookUpAnswered,
    LookUpSent,
    MemberClosing,
    MemberCrashed,
    MemberLeft,
    MemberPaused,
    MemberResumed,
    MemberStarted,
    MetadataReceived,
    ProcessEnded,
    ProcessSignalled,
    ProcessStarted,
    ReplyObserved,
    RequestAnswered,
    RequestObserved,
    RequestSent,
    SubscriptionChanged,
)
from rebalance_check.properties.views.assignments import OF_TASKS
from rebalance_check.properties.views.errors import CONSUMER, NONE, PAUSE, RESUME, TERMINATE
from rebalance_check.properties.views.recent import WAITING, Recent

METADATA: Final = "Metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRequest(RequestObserved):
    """A request that its sender recorded."""

    record: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReply(ReplyObserved):
    """A reply that its receiver recorded."""

    record: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnStart(ProcessStarted):
    """The start of a member, with its settings."""

    record: MemberStarted


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSignal(ProcessSignalled):
    """The application closes the member; or the process is paused, or goes on."""

    record: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEnd(ProcessEnded):
    """The end of a member."""

    record: Event


Recorded: TypeAlias = (
    RequestSent | RequestAnswered | LookUpSent | LookUpAnswered | MetadataReceived | MemberStarted | MemberClosing
    | MemberPaused | MemberResumed | MemberLeft | MemberCrashed
)  # fmt: skip
"""The events of a member that have their like on the wire."""

NEVER_RECEIVED: Final = "close-after"
"""The fault of a reply that the member gave up, or that only its coordinator records."""
_SIGNALS: Final[dict[type[Event], str]] = {MemberClosing: TERMINATE, MemberPaused: PAUSE, MemberResumed: RESUME}


def record_of(event: Event | None) -> Event | None:
    """The event of the history that this one was made of: itself, on the wire."""
    return getattr(event, "record", event)


class OwnRecords:
    """Makes events of the wire out of the records of members; numbers of requests and connections are negative."""

    def __init__(self) -> None:
        self._started: Recent[str, MemberStarted] = Recent(WAITING)
        self._topics: Recent[str, tuple[str, ...]] = Recent(WAITING)
        self._connections: Recent[str, int] = Recent(WAITING)
        self._numbers: Recent[tuple[str, int], OwnRequest] = Recent(WAITING)
        self._count = 0

    def subscribed(self, event: SubscriptionChanged) -> None:
        """The topics that its next JoinGroup names."""
        self._topics[event.member] = event.topics

    def settings_of(self, member: str) -> MemberStarted | None:
        """The start of a member; None where no event has it."""
        return self._started.get(member)

    def taken(self, event: Recorded) -> OwnRequest | OwnReply | OwnStart | OwnSignal | OwnEnd:
        """The event as the wire, or the harness of a recorder, would show it."""
        match event:
            case RequestSent():
                return self._request(event)
            case RequestAnswered():
                return self._reply(event)
            case LookUpSent():
                return self._look_up(event)
            case LookUpAnswered():
                return self._looked_up(event)
            case MetadataReceived():
                return OwnReply(
                    api=METADATA, request=0, partitions=event.partitions, process=event.member, **self._at(event)
                )
            case MemberStarted():
                return self._start(event)
            case MemberLeft() | MemberCrashed():
                self._topics.pop(event.member, None)
                self._connections.pop(event.member, None)
                status = 0 if isinstance(event, MemberLeft) else -1
                return OwnEnd(process=event.member, exit_status=status, record=event, **_place(event))
            case _:
                signal = _SIGNALS[type(event)]
                return OwnSignal(process=event.member, signal=signal, record=event, **_place(event))

    def _start(self, event: MemberStarted) -> OwnStart:
        self._started.pop(event.member, None)
        self._started[event.member] = event
        self._topics[event.member] = event.topics
        self._connections.pop(event.member, None)
        return OwnStart(process=event.member, record=event, **_place(event))

    def _at(self, event: Recorded | RequestSent) -> dict[str, Any]:
        connection = self._connections.get(event.member)
        if connection is None:
            self._count += 1
            connection = self._connections[event.member] = -self._count
        return {"connection": connection, "record": event, **_place(event)}

    def _numbered(self, event: RequestSent | LookUpSent, **fields: Any) -> OwnRequest:
        self._count += 1
        made = OwnRequest(request=-self._count, process=event.member, **fields, **self._at(event))
        self._numbers[event.member, event.request] = made
        return made

    def _look_up(self, event: LookUpSent) -> OwnRequest:
        return self._numbered(event, api=Api.FIND_COORDINATOR, version=-1)

    def _request(self, event: RequestSent) -> OwnRequest:
        started = self._started.get(event.member)
        fields: dict[str, Any] = {
            "api": event.api, "version": event.version, "member_id": event.member_id,
            "request_generation": event.generation,
            "instance_id": started.group_instance_id if started else "",
        }  # fmt: skip
        if event.api == Api.JOIN_GROUP:
            fields |= self._subscription(event)
            fields["session_timeout_ms"] = started.session_timeout_ms if started else 0
            fields["rebalance_timeout_ms"] = started.rebalance_timeout_ms if started else 0
        elif event.api == Api.LEAVE_GROUP:
            fields["leaving"] = ((event.member_id, fields["instance_id"]),)
        return self._numbered(event, **fields)

    def _subscription(self, event: RequestSent) -> dict[str, Any]:
        """A consumer says with its claims for which generation they are, or, in an older form, only what it claims."""
        if not event.protocols or not OF_TASKS.isdisjoint(event.protocols):
            return {"protocols": event.protocols}
        claimed, older = event.claimed_generation, 1 if event.owned else -1
        return {
            "protocols": event.protocols, "protocol_type": CONSUMER, "owned": event.owned,
            "subscription_version": older if claimed is None else 2,
            "owned_generation": -1 if claimed is None else claimed, "topics": self._topics.get(event.member, ()),
        }  # fmt: skip

    def _reply(self, event: RequestAnswered) -> OwnReply:
        sent = self._numbers.pop((event.member, event.request), None)
        is_its_own = sent is None or event.source == sent.source
        return OwnReply(
            api=event.api, request=sent.request if sent is not None else 0, process=event.member,
            error=NONE if event.error is None else event.error, reply_generation=event.generation,
            assigned_member_id=event.assigned_member_id, leader=event.leader, protocol=event.protocol,
            members=tuple((member, "") for member, _ in event.members), assignment=event.assignment,
            fault="" if is_its_own and event.error is not None else NEVER_RECEIVED, **self._at(event),
        )  # fmt: skip

    def _looked_up(self, event: LookUpAnswered) -> OwnReply:
        sent = self._numbers.pop((event.member, event.request), None)
        return OwnReply(
            api=Api.FIND_COORDINATOR, request=sent.request if sent is not None else 0, process=event.member,
            error=NONE if event.error is None else event.error, node=event.node,
            fault="" if event.error is not None else NEVER_RECEIVED, **self._at(event),
        )  # fmt: skip


def _place(event: Event) -> dict[str, Any]:
    return {"group": event.group, "source": event.source, "seq": event.seq, "time_ms": event.time_ms}
