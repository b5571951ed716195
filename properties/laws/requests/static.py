"""Static members (KIP-345): the instance id that they send, and their place in the group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import MemberLeft, ProcessEnded, RequestObserved
from rebalance_check.properties.engines import CHECKED, Finding, Findings, form
from rebalance_check.properties.kinds import declared
from rebalance_check.properties.laws.asking import DISTURBED, observed, of_clients, requests, verdict
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import Client
from rebalance_check.properties.views.clients import OF_MEMBERS, Clients
from rebalance_check.properties.views.errors import FENCED_INSTANCE_ID

INSTANCE_SINCE: Final = {Api.JOIN_GROUP: 5, Api.SYNC_GROUP: 3, Api.HEARTBEAT: 3, Api.OFFSET_COMMIT: 7}
"""The first version of each request with an instance id."""


def _said_instance(request: RequestObserved) -> str:
    """The instance id of a request, in words."""
    return f"the instance id {request.instance_id}" if request.instance_id else "no instance id"


def _instance_is_sent(client: Client, sent: RequestObserved) -> Findings:
    """Where the version of the request has a place for it."""
    join = client.join
    if join is None or not join.instance_id or sent.version < INSTANCE_SINCE[Api(sent.api)]:
        return None
    other = sent.instance_id != join.instance_id
    return verdict(
        f"{client.name} sends {sent.api} with {_said_instance(sent)}, and joined as {join.instance_id}"
        if other
        else "",
        (f"{client.name} joined as {join.instance_id} at {STEP};", join),
        at=sent,
    )


def _comes_back_as(client: Client, sent: RequestObserved) -> Findings:
    """The first JoinGroup of a process that was a static member before."""
    before = client.process.joined_before
    if client.join is not None or before is None or not before.instance_id:
        return None
    fault = ""
    if sent.instance_id != before.instance_id:
        fault = f"{client.name} comes back with {_said_instance(sent)}"
    elif sent.member_id:
        fault = f"{client.name} comes back with the member id {sent.member_id}, which this run was not given"
    return verdict(
        fault,
        (f"{client.name} joined as {before.instance_id} at {STEP}, before its restart;", before),
        (f"its process was started again at {STEP};", client.process.started),
        at=sent,
    )


def _stays(client: Client, sent: RequestObserved) -> Findings:
    """A LeaveGroup about others is an administrator's."""
    join = client.join
    if join is None or not join.instance_id or not sent.leaving or not client.shows_bytes:
        return None
    if not any(member == client.member_id or instance == join.instance_id for member, instance in sent.leaving):
        return None
    return verdict(
        f"{client.name} leaves the group",
        (f"{client.name} joined as {join.instance_id} at {STEP}, so its place is kept until its session ends;", join),
        at=sent,
    )


def _stayed(event: ProcessEnded | MemberLeft, clients: Clients) -> Iterator[Finding]:
    """One that was asked to end could have left."""
    for client in clients.clients_of(event.process if isinstance(event, ProcessEnded) else event.member):
        if client.is_static and client.is_member and (client.is_ending or client.is_own):
            yield CHECKED


def _stops(client: Client, sent: RequestObserved) -> Findings:
    """A request may have been on its way; a JoinGroup that follows a refused one, or drops the id, was not."""
    fenced = client.fenced
    if fenced is None or sent.instance_id != fenced.request.instance_id:
        return None
    since_ms = max(fenced.time_ms, client.disturbed_ms)
    late = not client.may_be_paused and sent.time_ms - since_ms > client.session_ms
    refused = client.chain is not None and client.chain.reply.error == FENCED_INSTANCE_ID
    knows = sent.api == Api.JOIN_GROUP and (refused or sent.member_id != fenced.request.member_id)
    return verdict(
        f"{client.name} sends {sent.api} as {sent.instance_id}" if late or knows else "",
        (f"{client.name} received FENCED_INSTANCE_ID in reply to its {fenced.request.api} at {STEP}: another client "
         f"has taken the place of {sent.instance_id};", fenced.reply),
        at=sent,
    )  # fmt: skip


def _stopped(event: ProcessEnded | MemberLeft, clients: Clients) -> Iterator[Finding]:
    """A fenced client that ends has stopped."""
    for client in clients.clients_of(event.process if isinstance(event, ProcessEnded) else event.member):
        if client.fenced is not None:
            yield CHECKED


InstanceIdIsSent: Final = of_clients(
    name="wire_instance_id_is_sent",
    claim="a client that joined with an instance id sends it in every JoinGroup, SyncGroup, Heartbeat and OffsetCommit "
    "whose version has a place for it",
    source="KIP-345; AbstractCoordinator, ConsumerCoordinator.sendOffsetCommitRequest",
    fold=form(observed(_instance_is_sent, *OF_MEMBERS), views=(Clients,)),
    opening="""RequestObserved(api="JoinGroup", instance_id="i0")""",
    breaks="""RequestObserved(api="SyncGroup")""",
    holds="""RequestObserved(api="SyncGroup", instance_id="i0")""",
)

StaticRestart: Final = of_clients(
    name="wire_static_restart",
    claim="a process that was a static member comes back, when it is started again, with the same instance id and "
    "without a member id",
    source="KIP-345; GroupMetadataManager.classicGroupJoinNewStaticMember",
    premises=("the harness starts a process of one name with one instance id",),
    fold=form(observed(_comes_back_as, Api.JOIN_GROUP), views=(Clients,)),
    opening="""
        ProcessStarted()
        RequestObserved(api="JoinGroup", instance_id="i0")
        ProcessStarted(run=2)
    """,
    breaks="""RequestObserved(connection=2, api="JoinGroup", instance_id="i1")""",
    holds="""RequestObserved(connection=2, api="JoinGroup", instance_id="i0")""",
)

StaticMemberStays: Final = of_clients(
    name="wire_static_member_stays",
    claim="a client that joined with an instance id sends no LeaveGroup about itself",
    source="KIP-345; AbstractCoordinator.maybeLeaveGroup",
    premises=("the application does not ask for it (CloseOptions of KIP-1092)",),
    fold=form({**requests(_stays, Api.LEAVE_GROUP), ProcessEnded: _stayed, MemberLeft: _stayed}, views=(Clients,)),
    breaks="""
        RequestObserved(api="JoinGroup", instance_id="i0")
        RequestObserved(api="LeaveGroup", leaving=(("m", "i0"),))
    """,
    holds="""
        ProcessStarted()
        RequestObserved(api="JoinGroup", instance_id="i0")
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        ProcessSignalled(signal="terminate")
        ProcessEnded(exit_status=0)
    """,
)

FencedMemberStops: Final = of_clients(
    name="wire_fenced_member_stops",
    claim="a client that is answered FENCED_INSTANCE_ID does not join under that instance id again, and sends nothing "
    "under it a session timeout later",
    source="KIP-345; AbstractCoordinator.HeartbeatResponseHandler, JoinGroupResponseHandler",
    premises=(
        DISTURBED,
        "the application ends at an error that its client calls fatal",
        "what was on its way when the member was fenced does not count",
    ),
    fold=form({**requests(_stops, *OF_MEMBERS), ProcessEnded: _stopped, MemberLeft: _stopped}, views=(Clients,)),
    breaks="""
        RequestObserved(api="JoinGroup", member_id="m", instance_id="i0")
        ReplyObserved(api="JoinGroup", error="FENCED_INSTANCE_ID")
        RequestObserved(api="JoinGroup", member_id="m", instance_id="i0")
    """,
    holds="""
        ProcessStarted()
        RequestObserved(api="JoinGroup", member_id="m", instance_id="i0")
        ReplyObserved(api="JoinGroup", error="FENCED_INSTANCE_ID")
        ProcessEnded(exit_status=1)
    """,
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
