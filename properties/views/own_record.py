"""A member's own record, as the wire would show it: one view knows a client from both.

Each class is the event of the wire with the ``record`` that it was made of, which counterexamples show. The wire shows
more: what a record lacks stays empty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any, Final, TypeAlias, TypeVar, cast

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

E = TypeVar("E", bound=Event)


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


def _sparse(kind: type[E]) -> Callable[[dict[str, Any]], E]:
    """Makes such events of some of their fields, in a tenth of the time: a field that is not given is read from the
    class, which has its default (None where it has none)."""
    absent = {one.name: None if one.default is MISSING else one.default for one in fields(kind)}
    made = cast("type[E]", type(kind.__name__, (kind,), {**absent, "__module__": kind.__module__}))

    def make(given: dict[str, Any]) -> E:
        one = object.__new__(made)
        object.__setattr__(one, "__dict__", given)
        return one

    return make


_request, _reply = _sparse(OwnRequest), _sparse(OwnReply)

OfRequest: TypeAlias = RequestSent | LookUpSent
OfReply: TypeAlias = RequestAnswered | LookUpAnswered | MetadataReceived
OfProcess: TypeAlias = MemberStarted | MemberClosing | MemberPaused | MemberResumed | MemberLeft | MemberCrashed
Recorded: TypeAlias = RequestSent | RequestAnswered | LookUpSent | LookUpAnswered | MetadataReceived | OfProcess
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
        self._open: Recent[tuple[str, int], OwnRequest] = Recent(WAITING)
        self._count = 0

    def subscribed(self, event: SubscriptionChanged) -> None:
        """The topics that its next JoinGroup names."""
        self._topics[event.member] = event.topics

    def settings_of(self, member: str) -> MemberStarted | None:
        """The start of a member; None where no event has it."""
        return self._started.get(member)

    def of_process(self, event: OfProcess) -> OwnStart | OwnSignal | OwnEnd:
        """The event as the harness of a recorder would show it."""
        match event:
            case MemberStarted():
                self._started.pop(event.member, None)
                self._started[event.member] = event
                self._topics[event.member] = event.topics
                self._connections.pop(event.member, None)
                return OwnStart(**_place(event))
            case MemberLeft() | MemberCrashed():
                self._topics.pop(event.member, None)
                self._connections.pop(event.member, None)
                return OwnEnd(exit_status=0 if isinstance(event, MemberLeft) else -1, **_place(event))
            case _:
                return OwnSignal(signal=_SIGNALS[type(event)], **_place(event))

    def _connection(self, member: str) -> int:
        connection = self._connections.get(member)
        if connection is None:
            self._count += 1
            connection = self._connections[member] = -self._count
        return connection

    def request(self, event: OfRequest) -> OwnRequest:
        """The request as the wire would show it."""
        member = event.member
        given = {**_place(event), "connection": self._connection(member)}
        self._count += 1
        given["request"] = -self._count
        if isinstance(event, RequestSent):
            self._describe(event, given)
        else:
            given["api"], given["version"] = Api.FIND_COORDINATOR, -1
        made = self._open[member, event.request] = _request(given)
        return made

    def _describe(self, event: RequestSent, given: dict[str, Any]) -> None:
        started = self._started.get(event.member)
        instance_id = started.group_instance_id if started else ""
        given["api"], given["version"], given["instance_id"] = event.api, event.version, instance_id
        given["member_id"], given["request_generation"] = event.member_id, event.generation
        if event.api == Api.JOIN_GROUP:
            given |= self._subscription(event)
            given["metadata"] = event.metadata
            given["session_timeout_ms"] = started.session_timeout_ms if started else 0
            given["rebalance_timeout_ms"] = started.rebalance_timeout_ms if started else 0
        elif event.api == Api.LEAVE_GROUP:
            given["leaving"] = ((event.member_id, instance_id),)

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

    def reply(self, event: OfReply) -> tuple[OwnReply, OwnRequest | None]:
        """The reply as the wire would show it, and the request that it answers."""
        given = {**_place(event), "connection": self._connection(event.member)}
        if isinstance(event, MetadataReceived):
            given["api"], given["request"], given["partitions"] = METADATA, 0, event.partitions
            return _reply(given), None
        sent = self._open.pop((event.member, event.request), None)
        given["request"] = sent.request if sent is not None else 0
        given["error"] = NONE if event.error is None else event.error
        given["fault"] = "" if event.error is not None else NEVER_RECEIVED
        if isinstance(event, LookUpAnswered):
            given["api"], given["node"] = Api.FIND_COORDINATOR, event.node
            return _reply(given), sent
        if sent is not None and event.source != sent.source:
            given["fault"] = NEVER_RECEIVED
        given["api"], given["reply_generation"], given["assignment"] = event.api, event.generation, event.assignment
        given["assigned_member_id"], given["leader"] = event.assigned_member_id, event.leader
        given["protocol"], given["members"] = event.protocol, tuple([(member, "") for member, _ in event.members])
        return _reply(given), sent


def _place(event: Recorded) -> dict[str, Any]:
    return {
        "record": event, "process": event.member, "group": event.group, "source": event.source, "seq": event.seq,
        "time_ms": event.time_ms,
    }  # fmt: skip
