"""Heartbeats (KIP-62): as a member only, not while joining, and often enough while settled."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import Event, ReplyObserved, RequestAnswered, RequestObserved, RequestSent
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.engines import Due, Excused, Findings, deadline, form
from rebalance_check.properties.engines.rules import Reason
from rebalance_check.properties.kinds import declared
from rebalance_check.properties.laws.asking import DISTURBED, GONE, counted_from, of_clients, requests, verdict
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import CHAIN, Client
from rebalance_check.properties.views.clients import OF_MEMBERS, Clients
from rebalance_check.properties.views.errors import NONE, UNSEEN


def _as_a_member(client: Client, sent: RequestObserved) -> Findings:
    """A recording that begins in the middle shows no JoinGroup of the member: then nothing is known."""
    anonymous = sent.request_generation == NO_GENERATION or (sent.member_id == "" and not client.is_own)
    pending = sent.member_id == client.member_id != "" and not client.is_member and client.fenced is None
    if client.join is None and not anonymous:
        return None
    under = f"under the id {sent.member_id}" if sent.member_id else "without a member id"
    return verdict(
        f"{client.name} sends a heartbeat {under}, and is no member" if anonymous or pending else "",
        _why_no_member(client),
        at=sent,
    )


def _why_no_member(client: Client) -> Reason:
    if client.lost is None:
        return "no JoinGroup of its own was accepted so far;", None
    return f"{client.name} received {client.lost.reply.error} at {STEP};", client.lost.reply


def _not_while_joining(client: Client, sent: RequestObserved) -> Findings:
    """One heartbeat may have been on its way, on another connection."""
    join = client.joining
    if join is not None and join.connection != sent.connection and not client.since.heartbeats:
        return Excused("may have been on its way")
    return verdict(
        f"{client.name} sends a heartbeat while its JoinGroup is open" if join is not None else "",
        (f"{client.name} sent JoinGroup at {STEP}, and no reply passed;", join),
        at=sent,
    )


def _speaks(event: Event, clients: Clients) -> Due | None:
    """From its assignment on, and from each request of its own."""
    client, got = clients.client, clients.got
    if (
        client is None
        or client.may_be_paused
        or not (_is_assigned(clients) if got is not None else _is_settled(client))
    ):
        return None
    at = got or clients.sent or event
    says = f"{client.name} has its assignment, and sent nothing since {STEP}"
    return Due(client.number, at, client.session_ms, says, f"{client.name} does not send a heartbeat")


def _is_assigned(clients: Clients) -> bool:
    """The reply at hand is the assignment of the generation that the client is in."""
    client, request, got = clients.client, clients.request, clients.got
    if (
        client is None
        or got is None
        or request is None
        or request.api != Api.SYNC_GROUP
        or got.error != NONE
        or got.fault in UNSEEN
    ):
        return False
    of_last = client.round is not None and client.round.generation == request.request_generation
    return of_last and client.is_member and client.lost is None and client.session_ms > 0


def _is_settled(client: Client) -> bool:
    """Whether heartbeats alone keep it in the group; a JoinGroup or SyncGroup that is open keeps it, too."""
    has_assignment = client.applied is not None and client.applied is client.round
    is_member = client.is_member and client.lost is None and client.session_ms > 0
    return has_assignment and is_member and not client.waits_for(*CHAIN)


def _spoke(_event: Event, clients: Clients) -> int | None:
    client, sent = clients.client, clients.sent
    is_its_own = client is not None and sent is not None and sent.api in OF_MEMBERS
    return client.number if client is not None and is_its_own else None


def _counted_from(due: Due, event: Event, clients: Clients) -> int | None:
    """While it joins, or is no member any more, nothing is due."""
    client = clients.clients.get(due.key) if isinstance(due.key, int) else None
    return counted_from(due, event, clients) if client is not None and _is_settled(client) else None


HeartbeatsAsAMember: Final = of_clients(
    name="wire_heartbeats_as_a_member",
    claim="a client sends heartbeats only after a JoinGroup of its own was accepted, with member id and generation",
    source="KIP-62; AbstractCoordinator.HeartbeatThread",
    fold=form(requests(_as_a_member, Api.HEARTBEAT), views=(Clients,)),
    opening="""RequestObserved(api="JoinGroup")""",
    breaks="""
        ReplyObserved(api="JoinGroup", error="MEMBER_ID_REQUIRED", assigned_member_id="m")
        RequestObserved(api="Heartbeat", member_id="m")
    """,
    holds="""
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="Heartbeat", member_id="m", request_generation=1)
    """,
)

NoHeartbeatWhileJoining: Final = of_clients(
    name="wire_no_heartbeat_while_joining",
    claim="a client sends no heartbeat while its JoinGroup is open",
    source="KIP-62; AbstractCoordinator.HeartbeatThread (disabled in PREPARING_REBALANCE)",
    premises=("one heartbeat on another connection may have been on its way",),
    fold=form(requests(_not_while_joining, Api.HEARTBEAT), views=(Clients,)),
    opening="""RequestObserved(api="JoinGroup", member_id="m")""",
    breaks="""RequestObserved(api="Heartbeat", member_id="m")""",
    holds="""
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="Heartbeat", member_id="m", request_generation=1)
    """,
    excuses="""RequestObserved(connection=2, api="Heartbeat", member_id="m", request_generation=1)""",
)

HeartbeatsKeepTheSession: Final = of_clients(
    name="wire_heartbeats_keep_the_session",
    claim="a member that has its assignment is not silent for longer than its session timeout, until it leaves",
    source="KIP-62; Heartbeat, session.timeout.ms",
    premises=(DISTURBED, "a static member may fall silent for good"),
    fold=deadline(
        dict.fromkeys((RequestObserved, RequestSent, ReplyObserved, RequestAnswered), _speaks),
        dict.fromkeys((RequestObserved, RequestSent), _spoke),
        cancels=GONE,
        counts_from=_counted_from,
        views=(Clients,),
    ),
    opening="""
        RequestObserved(api="JoinGroup", session_timeout_ms=1000)
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="SyncGroup", member_id="m", request_generation=1)
        ReplyObserved(api="SyncGroup")
    """,
    breaks="""RequestObserved(api="Heartbeat", member_id="m", request_generation=1, time_ms=1001)""",
    holds="""RequestObserved(api="Heartbeat", member_id="m", request_generation=1, time_ms=1000)""",
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
