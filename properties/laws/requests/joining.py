"""The rebalance, one step after the other: when a client joins, when it must, and what follows."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import MemberStarted, ReplyObserved, RequestObserved, RequestSent
from rebalance_check.properties.engines import CHECKED, Excused, Findings, OfApis, broken, form
from rebalance_check.properties.features import Feature
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.laws.asking import DISTURBED, FAMILY, in_time, of_clients, requests, verdict
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import CHAIN, Client
from rebalance_check.properties.views.clients import Clients
from rebalance_check.properties.views.errors import NONE, REBALANCE_IN_PROGRESS


def _one_at_a_time(client: Client, sent: RequestObserved) -> Findings:
    """A request that is open for as long as a member may take to join counts as given up."""
    before = client.waits_for(*CHAIN)
    patience_ms = client.join.rebalance_timeout_ms if client.join else 0
    if before is None:
        return _not_given_up(client, sent, patience_ms)
    if sent.time_ms - before.time_ms > patience_ms:
        return Excused("waited for its rebalance timeout")
    return verdict(
        f"{client.name} sends {sent.api} while its {before.api} is open",
        (f"{client.name} sent {before.api} at {STEP}, and no reply passed;", before),
        at=sent,
    )


def _not_given_up(client: Client, sent: RequestObserved, patience_ms: int) -> Findings:
    """It closed the connection on which its JoinGroup was open, and joins again: it waited for the others too short."""
    closed, since = client.since.gave_up, client.since
    if closed is None or client.join is None or sent.api != Api.JOIN_GROUP:
        return CHECKED
    if since.errors or since.left or since.paused or since.moved or client.is_ending:
        return Excused("had another reason to close its connection")
    waited_ms = closed.time_ms - client.join.time_ms
    if waited_ms >= patience_ms:
        return Excused("waited for its rebalance timeout")
    return verdict(
        f"{client.name} gives its JoinGroup up after {waited_ms} ms of {patience_ms} ms",
        (f"{client.name} sent JoinGroup with a rebalance timeout of {patience_ms} ms at {STEP};", client.join),
        (f"it closed the connection {waited_ms} ms later, at {STEP}, before any reply passed;", closed),
        at=sent,
    )


def _rejoin_ms(client: Client, request: RequestObserved, got: ReplyObserved) -> int:
    """While it joins already, an earlier heartbeat may still be answered so."""
    if got.error != REBALANCE_IN_PROGRESS or client.join is None or client.since.left:
        return 0
    is_older = request is not client.join and abs(request.request) < abs(client.join.request)
    is_joining = is_older or (request.api == Api.HEARTBEAT and client.waits_for(*CHAIN))
    return 0 if is_joining else client.join.rebalance_timeout_ms


def _sync_ms(client: Client, request: RequestObserved, got: ReplyObserved) -> int:
    """A member sends SyncGroup within its rebalance timeout; one that learns of the next rebalance may join again."""
    return request.rebalance_timeout_ms if got.error == NONE and client.join is request else 0


def _takes_it_up(client: Client, sent: RequestObserved) -> Findings:
    """A member that is accepted enters the generation: a JoinGroup in the place of its SyncGroup needs a reason."""
    round_, since = client.round, client.since
    is_seen = client.is_own and client.shows_bytes and sent.api == Api.JOIN_GROUP
    if not is_seen or round_ is None or client.join is not round_.join:
        return None
    if round_.generation < 0:
        return None
    is_refused = any(each.request.request_generation == round_.generation for each in since.errors.values())
    is_hindered = since.closed or since.unseen or since.paused or since.metadata or since.asked
    is_over = round_.synced or since.left or since.reset
    if is_refused or is_hindered or is_over or client.disturbed_ms > round_.joined.time_ms:
        return Excused("learned of another rebalance, or was kept from it")
    return verdict(
        f"{client.name} was accepted into generation {round_.generation} and did not enter it",
        (f"{client.name} sent JoinGroup at {STEP};", round_.join),
        (f"it was accepted into generation {round_.generation} at {STEP}, and nothing ended its membership;",
         round_.joined),
        at=sent,
    )  # fmt: skip


def _as_configured(event: RequestSent, clients: Clients) -> Findings:
    """The assignors of its configuration, most preferred first."""
    started = clients.records.settings_of(event.member)
    if started is None or not started.assignors or not event.protocols:
        return None
    if event.protocols == started.assignors:
        return CHECKED
    offered = ", ".join(event.protocols)
    return broken(
        f"{event.member} offers {offered}",
        (f"{event.member} is configured with {', '.join(started.assignors)}, most preferred first, at {STEP};",
         started),
        (f"its JoinGroup lists {offered} at {STEP}: contradiction.", event),
    )  # fmt: skip


JoinsOneAtATime: Final = of_clients(
    name="wire_joins_one_at_a_time",
    claim="a client has one JoinGroup or SyncGroup open at a time, and gives no JoinGroup up before its rebalance "
    "timeout",
    source="AbstractCoordinator.joinFuture; JOIN_GROUP_TIMEOUT_LAPSE",
    premises=("a request that is open for longer than the rebalance timeout was given up by the client",),
    fold=form(requests(_one_at_a_time, *CHAIN), views=(Clients,)),
    breaks="""
        RequestObserved(api="JoinGroup", rebalance_timeout_ms=60000)
        RequestObserved(api="JoinGroup", rebalance_timeout_ms=60000)
    """,
    holds="""
        RequestObserved(api="JoinGroup", rebalance_timeout_ms=60000)
        ReplyObserved(api="JoinGroup", error="MEMBER_ID_REQUIRED", assigned_member_id="m")
        RequestObserved(api="JoinGroup", member_id="m", rebalance_timeout_ms=60000)
    """,
    excuses="""
        RequestObserved(api="JoinGroup", rebalance_timeout_ms=1000)
        RequestObserved(api="JoinGroup", rebalance_timeout_ms=1000, time_ms=1001)
    """,
)

RejoinsWhenRebalancing: Final = of_clients(
    name="wire_rejoins_when_rebalancing",
    claim="a client that is answered REBALANCE_IN_PROGRESS sends JoinGroup, or leaves, within its rebalance timeout",
    source="AbstractCoordinator.HeartbeatResponseHandler, SyncGroupResponseHandler; KIP-62",
    premises=(DISTURBED, "a static member may fall silent instead"),
    fold=in_time(_rejoin_ms, "join the rebalance", Api.JOIN_GROUP, after=(*CHAIN, Api.HEARTBEAT)),
    opening="""
        RequestObserved(api="JoinGroup", rebalance_timeout_ms=1000)
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="Heartbeat", member_id="m")
        ReplyObserved(api="Heartbeat", error="REBALANCE_IN_PROGRESS")
    """,
    breaks="""RequestObserved(api="Heartbeat", member_id="m", time_ms=1001)""",
    holds="""RequestObserved(api="JoinGroup", member_id="m", time_ms=1000)""",
)

SyncFollowsJoin: Final = of_clients(
    name="wire_sync_follows_join",
    claim="a client whose JoinGroup is accepted sends SyncGroup, joins again or leaves, within its rebalance timeout",
    source="AbstractCoordinator.JoinGroupResponseHandler; KAFKA-12890",
    premises=(DISTURBED, "a static member may fall silent instead"),
    relies_on=frozenset({Feature.SYNC_GROUP}),
    fold=in_time(_sync_ms, "send SyncGroup", *CHAIN, after=(Api.JOIN_GROUP,), right=_takes_it_up),
    opening="""
        RequestObserved(api="JoinGroup", rebalance_timeout_ms=1000)
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
    """,
    breaks="""RequestObserved(api="Heartbeat", member_id="m", time_ms=1001)""",
    holds="""RequestObserved(api="SyncGroup", member_id="m", time_ms=1000)""",
)

OffersItsAssignors: Final = Invariant(
    name="offers_its_assignors",
    family=FAMILY,
    claim="a JoinGroup lists the protocols that its member is configured with, most preferred first",
    source="KIP-795; ConsumerCoordinator.metadata (partition.assignment.strategy)",
    premises=("a member's settings are recorded (MemberStarted.assignors), and its requests",),
    exempted_by=(MemberStarted,),
    evidence=Evidence.CONCERNED,
    fold=form({RequestSent: OfApis(_as_configured, Api.JOIN_GROUP)}, views=(Clients,), needs=((MemberStarted,),)),
    opening="""MemberStarted(member="m0", assignors=("range", "cooperative-sticky"))""",
    breaks="""RequestSent(member="m0", api="JoinGroup", request=0, protocols=("cooperative-sticky", "range"))""",
    holds="""RequestSent(member="m0", api="JoinGroup", request=0, protocols=("range", "cooperative-sticky"))""",
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
