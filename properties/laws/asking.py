"""The parts that invariants about requests share: rules about one request, and what a client must send in time.

Each looks at clients on the wire and at clients that record themselves; what either does not show excuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ConnectionClosed,
    CoordinatorMoved,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    ProcessEnded,
    ProcessSignalled,
    ProcessStarted,
    ReplyObserved,
    RequestAnswered,
    RequestObserved,
    RequestSent,
)
from rebalance_check.properties.engines import CHECKED, Due, Excused, Finding, Findings, OfApis, broken, deadline
from rebalance_check.properties.engines.rules import Broken, Extracts, Reason, Rules
from rebalance_check.properties.kinds import Evidence, Fold, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import Client
from rebalance_check.properties.views.clients import OWN_RECORD, Clients
from rebalance_check.properties.views.errors import LOSSES, UNSEEN

FAMILY: Final = "requests"

ONE_MEMBER: Final = (
    "a process has one member of the group, or several on connections of their own; where the recorder does not know "
    "the processes, a client goes by its connections and member ids"
)
"""The premise of all of them."""
DISTURBED: Final = (
    "while a process is paused or unknown, its coordinator unreachable or refusing, or a reply outstanding, no time "
    "counts"
)
"""The premise where time counts."""

DISTURBANCES: Final[tuple[type[Event], ...]] = (
    ProcessStarted, ProcessSignalled, ProcessEnded, ConnectionClosed, CoordinatorMoved, RequestObserved, ReplyObserved,
    *OWN_RECORD,
)  # fmt: skip
"""Events that explain what a client does or leaves undone: those of the wire, and those of a member's own record."""


def of_clients(
    *, family: str = FAMILY, premises: tuple[str, ...] = (), evidence: Evidence = Evidence.CONCERNED, **said: Any
) -> Invariant:
    """An invariant about what one client sends, which any disturbance of this client may excuse."""
    return Invariant(
        family=family, premises=(ONE_MEMBER, *premises), evidence=evidence, exempted_by=DISTURBANCES, **said
    )


Look: TypeAlias = Callable[[Client, RequestObserved], Findings]


def verdict(fault: str, *reasons: Reason, at: Event) -> Finding:
    """Broken ``at`` this event where ``fault`` says how, else checked."""
    if not fault:
        return CHECKED
    return broken(fault, *reasons, (f"{fault} at {STEP}: contradiction.", at))


def requests(look: Look, *apis: str) -> Rules:
    """The rules of an invariant about requests of ``apis``, on the wire and in a member's own record."""

    def rule(_event: Event, clients: Clients, *_others: object) -> Findings:
        client, sent = clients.client, clients.sent
        return None if client is None or sent is None else look(client, sent)

    return dict.fromkeys((RequestObserved, RequestSent), OfApis(rule, *apis))


def observed(look: Look, *apis: str) -> Rules:
    """The rules of an invariant about what only the wire shows of requests."""
    return {RequestObserved: requests(look, *apis)[RequestObserved]}


# ---------------------------------------------------------------------------------------------- in time

LengthMs: TypeAlias = Callable[[Client, RequestObserved, ReplyObserved], int]
"""How long the client has from this reply on; 0 where nothing is due."""


def describe(reply: ReplyObserved) -> str:
    """A reply in words: ``REBALANCE_IN_PROGRESS to its Heartbeat``."""
    is_accepted = reply.error == "NONE" and reply.reply_generation >= 0
    return f"{f'generation {reply.reply_generation}' if is_accepted else reply.error} in reply to its {reply.api}"


def counted_from(due: Due, _event: Event, clients: Clients) -> int | None:
    """Disturbances do not count. A static member may fall silent, so that only its own next request shows it; and the
    clocks of two members that record themselves are not comparable."""
    client = clients.clients.get(due.key) if isinstance(due.key, int) else None
    if client is None or client.is_ending or client.is_hindered or (client.is_own and client.is_cut_off):
        return None
    if (client.is_static or client.is_own) and not (clients.client is client and clients.sent is not None):
        return None
    return max(due.since.time_ms, client.disturbed_ms)


def _left(_event: Event, clients: Clients) -> int | None:
    """The client that leaves."""
    leaves = clients.client is not None and clients.sent is not None and clients.sent.api == Api.LEAVE_GROUP
    return clients.client.number if clients.client is not None and leaves else None


def _lost(_event: Event, clients: Clients) -> int | None:
    """The client that loses its membership."""
    client, got = clients.client, clients.got
    is_lost = got is not None and got.error in LOSSES and got.fault not in UNSEEN
    return client.number if client is not None and is_lost else None


def _of_process(event: ProcessStarted | ProcessEnded, clients: Clients) -> list[int]:
    """The clients of a process that is over."""
    return [client.number for client in clients.clients_of(event.process)]


def _of_member(event: MemberEvent, clients: Clients) -> list[int]:
    """The client of a member that records itself, and whose process or membership is over."""
    return [client.number for client in clients.clients_of(event.member)]


GONE: Final[Extracts] = {
    **dict.fromkeys((RequestObserved, RequestSent), _left),
    **dict.fromkeys((ReplyObserved, RequestAnswered), _lost),
    **dict.fromkeys((ProcessStarted, ProcessEnded), _of_process),
    **dict.fromkeys((MemberStarted, MemberLeft, MemberCrashed, MembershipLost), _of_member),
}
"""The clients that leave, lose their membership or end."""


def in_time(
    length_ms: LengthMs, must: str, *ends: str, after: Iterable[str], right: Look = lambda *_: None
) -> Callable[[Invariant], Fold]:
    """A client that receives a reply of the apis ``after`` which it must send one of ``ends`` does so in time, and the
    ``right`` one.

    A client that leaves, loses its membership or ends has nothing due.
    """

    def begins(_event: Event, clients: Clients) -> Due | None:
        client, request, got = clients.client, clients.request, clients.got
        if client is None or request is None or got is None or got.fault in UNSEEN or got.error in LOSSES:
            return None
        within_ms = length_ms(client, request, got)
        if not within_ms:
            return None
        says = f"{client.name} received {describe(got)} at {STEP}"
        return Due(client.number, got, within_ms, says, f"{client.name} does not {must}")

    def ended(_event: Event, clients: Clients) -> list[Any] | None:
        client, sent = clients.client, clients.sent
        if client is None or sent is None:
            return None
        found = right(client, sent)
        return [client.number, *([found] if isinstance(found, Broken | Excused) else [])]

    return deadline(
        dict.fromkeys((ReplyObserved, RequestAnswered), OfApis(begins, *after)),
        dict.fromkeys((RequestObserved, RequestSent), OfApis(ended, *ends)),
        cancels=GONE,
        counts_from=counted_from,
        views=(Clients,),
    )
