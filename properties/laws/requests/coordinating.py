"""How a client deals with a coordinator that moves, loads or refuses, and how a member leaves its group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    ConnectionClosed,
    Event,
    LookUpAnswered,
    LookUpSent,
    MemberLeft,
    MembershipLost,
    ProcessEnded,
    ReplyObserved,
    RequestAnswered,
    RequestObserved,
    RequestSent,
)
from rebalance_check.properties.engines import CHECKED, Due, Excused, Finding, Findings, deadline, form
from rebalance_check.properties.kinds import declared
from rebalance_check.properties.laws.asking import DISTURBED, of_clients, verdict
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import CHAIN, GIVEN_UP_FREELY, NOT_NOTIFIED, Client
from rebalance_check.properties.views.clients import OF_MEMBERS, Clients
from rebalance_check.properties.views.errors import NONE, NOT_THE_COORDINATOR, TERMINATE, UNSEEN
from rebalance_check.properties.views.refusals import REFUSALS, WINDOW_MS, RefusedForNow

# ---------------------------------------------------------------------------------------------- looking it up


def _refused(_event: Event, clients: Clients) -> Due | None:
    """A refused client looks for its coordinator; a client whose process is unknown may do so unseen."""
    client, got = clients.client, clients.got
    is_refused = got is not None and got.error in NOT_THE_COORDINATOR and got.fault not in UNSEEN
    if client is None or got is None or not is_refused or not client.process.is_known or got.api not in OF_MEMBERS:
        return None
    says = f"{client.name} received {got.error} in reply to its {got.api} at {STEP}"
    must = f"{client.name} goes on with a node that is not its coordinator, and does not look for another"
    return Due((client.number, got.connection), got, client.session_ms, says, must)


def _looked_up(_event: RequestObserved | LookUpSent, clients: Clients) -> list[tuple[int, int]] | None:
    """A look-up by its process ends what is due on each of its connections."""
    sent = clients.sent
    if sent is None or sent.api != Api.FIND_COORDINATOR:
        return None
    return [(client.number, each) for client in clients.clients_of(sent.process) for each in sorted(client.connections)]


def _became_it(_event: Event, clients: Clients) -> tuple[int, int] | None:
    """Where a request is accepted, the node has become the coordinator."""
    client, got = clients.client, clients.got
    if client is None or got is None or got.error != NONE or got.fault in UNSEEN or got.api not in OF_MEMBERS:
        return None
    return client.number, got.connection


def _closed(event: ConnectionClosed, clients: Clients) -> tuple[int, int] | None:
    return None if clients.client is None else (clients.client.number, event.connection)


def _goes_on_since(due: Due, _event: Event, clients: Clients) -> int | None:
    """Only a request of the client to that node shows that it goes on with it."""
    client, sent = clients.client, clients.sent
    if client is None or sent is None or sent.api not in OF_MEMBERS:
        return None
    if due.key != (client.number, sent.connection):
        return None
    return max(due.since.time_ms, client.resumed_ms)


def _pauses(event: Event, refusals: RefusedForNow) -> Findings:
    """The requests that a client repeats by itself; commits are repeated by the application."""
    run = refusals.run
    if run is None or len(run) < 2:
        return None
    first, last = run[0], run[-1]
    took_ms = last.time_ms - first.time_ms
    fast = len(run) == REFUSALS and took_ms < WINDOW_MS
    return verdict(
        f"{last.process or 'a client'} sent {last.api} {REFUSALS} times in {took_ms} ms, refused each time"
        if fast
        else "",
        (f"the first of these replies was {first.error} at {STEP};", first),
        at=event,
    )


# ---------------------------------------------------------------------------------------------- leaving


def _left_at_the_end(event: ProcessEnded, clients: Clients) -> Iterator[Finding]:
    """It was asked to end, and ended with status 0."""
    for client in clients.clients_of(event.process):
        if event.exit_status == 0 and _can_leave(client):
            yield verdict(
                f"{client.name} ends without LeaveGroup" if client.is_member else "",
                (f"{client.name} was asked to end at {STEP};", client.process.asked),
                at=event,
            )


def _can_leave(client: Client) -> bool:
    """It has joined as a dynamic member, joins no rebalance right now, and its coordinator was reachable."""
    process, was_member = client.process, client.is_member or client.since.left is not None
    is_asked = process.asked is not None and process.asked.signal == TERMINATE and process.paused is None
    is_kept = client.is_static or client.is_cut_off or client.waits_for(*CHAIN) is not None
    return is_asked and was_member and not is_kept


def _left_by_itself(event: MembershipLost, clients: Clients) -> Findings:
    """Its application does not poll, unsubscribed, or takes too long: a dynamic member says so, if it can."""
    client = clients.client
    if client is None or event.reason == NOT_NOTIFIED or not any(words in event.reason for words in GIVEN_UP_FREELY):
        return None
    return _says_so(client, event, clients)


def _left_and_ended(event: MemberLeft, clients: Clients) -> Iterator[Finding]:
    """It closed."""
    found = (_says_so(client, event, clients) for client in clients.clients_of(event.member))
    yield from (each for each in found if each is not None)


def _says_so(client: Client, event: MembershipLost | MemberLeft, clients: Clients) -> Finding | None:
    started = clients.records.settings_of(event.member)
    if client.is_static or not client.shows_bytes or (client.left is None and not client.is_member):
        return None
    if client.left is not None:
        return CHECKED
    in_a_rebalance = client.waits_for(*CHAIN) is not None or client.round is not client.applied
    if client.is_cut_off or in_a_rebalance or client.may_count_as_lost(event.time_ms):
        return Excused("waits in a rebalance, or may not reach its coordinator")
    if isinstance(event, MemberLeft) and started is not None and started.leaves_silently:
        return Excused("is to keep quiet when it closes")
    round_ = client.round
    return verdict(
        f"{client.name} leaves its group and sends no LeaveGroup",
        (f"{client.name} belongs to a generation since {STEP}, and reached its coordinator;",
         round_.joined if round_ is not None else None),
        at=event,
    )  # fmt: skip


LooksUpTheCoordinator: Final = of_clients(
    name="wire_looks_up_the_coordinator",
    claim="a client that is answered NOT_COORDINATOR or COORDINATOR_NOT_AVAILABLE goes on with that node for a session "
    "timeout at most before it sends FindCoordinator",
    source="AbstractCoordinator.markCoordinatorUnknown, ensureCoordinatorReady",
    premises=(DISTURBED, "a client whose process is unknown may look its coordinator up unseen"),
    fold=deadline(
        dict.fromkeys((ReplyObserved, RequestAnswered), _refused),
        dict.fromkeys((RequestObserved, LookUpSent), _looked_up),
        cancels={**dict.fromkeys((ReplyObserved, RequestAnswered), _became_it), ConnectionClosed: _closed},
        looks=(RequestSent,),
        counts_from=_goes_on_since,
        views=(Clients,),
    ),
    opening="""
        RequestObserved(api="JoinGroup", session_timeout_ms=1000)
        ReplyObserved(api="JoinGroup", error="NOT_COORDINATOR")
    """,
    breaks="""RequestObserved(api="JoinGroup", session_timeout_ms=1000, time_ms=1001)""",
    holds="""
        RequestObserved(connection=2, api="FindCoordinator")
        RequestObserved(api="JoinGroup", session_timeout_ms=1000, time_ms=1001)
    """,
)

PausesAfterRefusals: Final = of_clients(
    name="wire_pauses_after_refusals",
    claim="a client that is refused for now (COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR; "
    f"REBALANCE_IN_PROGRESS to its heartbeats) pauses: it is not refused {REFUSALS} times within {WINDOW_MS} ms",
    source="retry.backoff.ms; AbstractCoordinator.joinGroupIfNeeded, lookupCoordinator",
    premises=("commits are repeated by the application, and do not count",),
    fold=form(dict.fromkeys((ReplyObserved, RequestAnswered, LookUpAnswered), _pauses), views=(RefusedForNow,)),
    breaks=REFUSALS * 'ReplyObserved(api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE")\n',
    holds="\n".join(
        f'ReplyObserved(api="FindCoordinator", error="COORDINATOR_NOT_AVAILABLE", time_ms={100 * number})'
        for number in range(1, REFUSALS + 1)
    ),
)

LeavesOnClose: Final = of_clients(
    name="wire_leaves_on_close",
    claim="a dynamic member that leaves its group sends LeaveGroup: its process is asked to end and ends with status "
    "0, it closes, unsubscribes, or its application does not poll",
    source="AbstractCoordinator.close, maybeLeaveGroup; internal.leave.group.on.close",
    premises=(
        "the application closes its client before it ends, and does not ask it to stay (internal.leave.group.on.close)",
        "a client that waits in a rebalance, or does not reach its coordinator, may end without",
    ),
    fold=form(
        {ProcessEnded: _left_at_the_end, MemberLeft: _left_and_ended, MembershipLost: _left_by_itself}, views=(Clients,)
    ),
    opening="""RequestObserved(api="JoinGroup")""",
    breaks="""
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        ProcessSignalled(signal="terminate")
        ProcessEnded(exit_status=0)
    """,
    holds="""
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="LeaveGroup", leaving=(("m", ""),))
        ProcessSignalled(signal="terminate")
        ProcessEnded(exit_status=0)
    """,
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
