"""Under which member id and generation a client speaks: those of the last replies."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import MemberJoined, ReplyObserved, RequestObserved
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.engines import CHECKED, Excused, Findings, broken, form
from rebalance_check.properties.kinds import declared
from rebalance_check.properties.laws.asking import DISTURBED, in_time, of_clients, requests, verdict
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.assignments import OF_TASKS
from rebalance_check.properties.views.client import CHAIN, Client
from rebalance_check.properties.views.clients import OF_MEMBERS, Clients
from rebalance_check.properties.views.errors import ILLEGAL_GENERATION, MEMBER_ID_REQUIRED, UNKNOWN_MEMBER_ID
from rebalance_check.properties.views.members import Members
from rebalance_check.properties.views.rounds import Answered, Round

_GENERATION_SINCE: Final = 2
"""The first version of a subscription with the generation of its claims (KIP-792)."""

# ---------------------------------------------------------------------------------------------- member id


def _under(join: RequestObserved) -> str:
    """Under which member id a client joins, in words."""
    return f"under the id {join.member_id}" if join.member_id else "without a member id"


def _id_is_kept(client: Client, sent: RequestObserved) -> Findings:
    """Only an id that the client has used since, or whose reply it must have received, is one that it knows."""
    if not client.member_id or not client.is_member or client.round is None:
        return None
    exemption = _why_dropped(client, sent)
    if sent.member_id == client.member_id:
        return CHECKED if not exemption else None
    if exemption:
        return Excused(exemption)
    return verdict(
        f"{client.name} joins {_under(sent)}, and its id is {client.member_id}",
        (f"it was accepted as {client.member_id} at {STEP}, and no later reply took the id away;", client.round.joined),
        at=sent,
    )


def _joined_as(event: MemberJoined, clients: Clients, members: Members) -> Findings:
    """The same where a member's requests are not recorded, as those of most libraries are not."""
    before = members.of(event.member).joined
    if clients.member(event.member) is not None or before is None or not (before.member_id and event.member_id):
        return None
    if event.member_id == before.member_id:
        return CHECKED
    reset = members.of(event.member).reset
    if reset is not None and reset.reason != ILLEGAL_GENERATION:
        return Excused("lost its membership")
    return broken(
        f"{event.member} joined as {event.member_id} and had been {before.member_id}",
        (f"{event.member} joined as {before.member_id} at {STEP}, and lost no membership since.", before),
        (f"it joined as {event.member_id} at {STEP}, and leaves its former member id behind in the group: "
         "contradiction.", event),
    )  # fmt: skip


def _why_dropped(client: Client, join: RequestObserved) -> str:
    """A reply may be lost with its connection; a client that is refused while it completes a join resets itself."""
    refused = client.since.errors.get(ILLEGAL_GENERATION)
    if refused is not None and not OF_TASKS.isdisjoint(join.protocols):
        return "is a worker, which gives its id up without a request where it cannot read the config topic"
    if client.is_own and client.since.completed is not None and client.lost is refused is not None:
        return ""
    if client.is_overtaken:
        return "lost its membership before the reply to its JoinGroup came"
    if client.may_count_as_lost(join.time_ms):
        return "was not answered for a session timeout"
    if client.round is not client.applied and (client.since.closed is not None or client.since.unseen is not None):
        return "may not have received its id"
    if client.round is not client.applied and client.since.asked is not None:
        return "its application unsubscribed while it joined"
    if refused is not None and refused.request.api not in CHAIN and _came_early(client, refused):
        return "was refused before it had completed its join"
    return ""


def _came_early(client: Client, refused: Answered) -> bool:
    """Whether the client may not have completed its join yet when it was refused: its own record says when it has."""
    if client.is_own:
        return client.since.completed is None
    last = client.round
    return last is None or last.synced is None or refused.time_ms - last.synced.time_ms < last.join.rebalance_timeout_ms


def _required_ms(_client: Client, request: RequestObserved, got: ReplyObserved) -> int:
    """A pending member id is forgotten after the session timeout."""
    return request.session_timeout_ms if got.error == MEMBER_ID_REQUIRED else 0


def _the_required_id(client: Client, sent: RequestObserved) -> Findings:
    """Under that id, and no other."""
    required = client.since.errors.get(MEMBER_ID_REQUIRED)
    given = required.reply.assigned_member_id if required else ""
    if required is None or sent.member_id == given or not given:
        return None
    if client.since.closed is not None:
        return Excused("may not have received the id")
    return verdict(
        f"{client.name} joins {_under(sent)}, and was assigned the id {given}",
        (f"{client.name} received MEMBER_ID_REQUIRED and the id {given} at {STEP};", required.reply),
        at=sent,
    )


# ---------------------------------------------------------------------------------------------- membership


OF_OTHER_THREADS: Final = frozenset({Api.OFFSET_COMMIT, Api.HEARTBEAT})
"""Requests that another thread may send while one leaves."""


def _not_lost(client: Client, sent: RequestObserved) -> Findings:
    """A request may have been on its way when the membership was lost; the next JoinGroup was not."""
    if client.left is not None:
        return _not_left(client, sent)
    lost = client.lost
    if lost is None or lost is client.fenced:
        return None
    if sent.member_id != lost.request.member_id:
        return CHECKED if sent.api == Api.JOIN_GROUP else None
    by_id = lost.reply.error != ILLEGAL_GENERATION
    if not by_id and sent.request_generation != lost.request.request_generation:
        return None
    late = not client.may_be_paused and sent.time_ms - max(lost.time_ms, client.disturbed_ms) > client.session_ms
    knows = sent.api == Api.JOIN_GROUP and _knows(client, sent.member_id)
    gone = lost.request.member_id if by_id else f"generation {lost.request.request_generation}"
    return verdict(
        f"{client.name} sends {sent.api} as {gone}, which it has lost" if late or knows else "",
        (f"{client.name} received {lost.reply.error} in reply to its {lost.request.api} at {STEP};", lost.reply),
        at=sent,
    )


def _not_left(client: Client, sent: RequestObserved) -> Findings:
    """The connection keeps the order: what follows LeaveGroup there was sent after it.

    Clients leave from their heartbeat thread when the application does not poll in time, and the application may commit
    at the same time.
    """
    left = client.left
    if left is None or sent.connection != left.connection:
        return None
    if client.since.left_late and left.request in client.open and sent.api in OF_OTHER_THREADS:
        return Excused("its heartbeat thread may have left for want of polls: the LeaveGroup is not answered yet")
    if sent.request_generation == NO_GENERATION:
        return CHECKED if sent.api == Api.JOIN_GROUP else None
    return verdict(
        f"{client.name} sends {sent.api} for generation {sent.request_generation} after it had left",
        (f"{client.name} sent LeaveGroup at {STEP};", left),
        at=sent,
    )


def _knows(client: Client, member_id: str) -> bool:
    """Whether a rebalance ended on the loss of this id, and no other refusal came meanwhile."""
    last = client.chain
    return (
        last is not None
        and last.reply.error == UNKNOWN_MEMBER_ID
        and last.request.member_id == member_id
        and set(client.since.errors) == {UNKNOWN_MEMBER_ID}
    )


def _last_generation(client: Client, sent: RequestObserved) -> Findings:
    return _claimed_generation(client, sent) if sent.api == Api.JOIN_GROUP else _spoken_generation(client, sent)


def _spoken_generation(client: Client, sent: RequestObserved) -> Findings:
    """An older generation may be in a request that was on its way, on another connection."""
    last, generation = client.round, sent.request_generation
    if last is None or sent.member_id != last.joined.assigned_member_id or generation == NO_GENERATION:
        return None
    if client.since.left:
        return Excused("has left, and may have received a reply since")
    fault = ""
    if generation not in client.rounds:
        fault = f"{client.name} speaks for generation {generation}, which no reply gave it"
    elif generation < client.used.get(sent.connection, NO_GENERATION):
        fault = f"{client.name} speaks for generation {generation} again"
    return verdict(
        fault, (f"{client.name} was accepted into generation {last.generation} at {STEP};", last.joined), at=sent
    )


def _claimed_generation(client: Client, sent: RequestObserved) -> Findings:
    """The generation of the last assignment, or a later one that the client was accepted into.

    Where the log lost its tail, the later one may have the lower number.
    """
    last, newest = client.applied, client.round
    if sent.subscription_version < _GENERATION_SINCE or not sent.owned or last is None or not client.is_member:
        return None
    if client.lost is not None or newest is None or _may_be_older(client, last):
        return None
    known = {newest.generation, *(generation for generation in client.rounds if generation >= last.generation)}
    said = f"generation {sent.owned_generation}" if sent.owned_generation >= 0 else "no generation"
    fits = sent.owned_generation in known
    return verdict(
        "" if fits else f"{client.name} claims {', '.join(sorted(sent.owned))} for {said}",
        (f"{client.name} received its last assignment in generation {last.generation} at {STEP};", last.synced),
        at=sent,
    )


def _may_be_older(client: Client, last: Round) -> bool:
    """The reply to the last SyncGroup may not have arrived."""
    return last.join is client.join and (client.since.closed is not None or client.since.unseen is not None)


# ---------------------------------------------------------------------------------------------- the invariants

MemberIdIsKept: Final = of_clients(
    name="wire_member_id_is_kept",
    claim="a member joins again under the id that it has: REBALANCE_IN_PROGRESS and ILLEGAL_GENERATION keep it, only "
    "UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, a LeaveGroup and the end of the process take it away",
    source="AbstractCoordinator.resetStateOnResponseError, resetStateAndRejoin",
    premises=(
        "a client whose connection breaks during a rebalance may not have received its id; one that is refused within "
        "a rebalance timeout of its SyncGroup, or before its record says that it has completed its join, resets itself",
        "a client that is not answered for a session timeout may give its membership up",
        "a client that loses its membership while it waits for a JoinGroup may throw the reply away",
        "a Connect worker that is in no generation and cannot read its config topic gives its id up "
        "(WorkerCoordinator.maybeLeaveGroup)",
    ),
    fold=form({**requests(_id_is_kept, Api.JOIN_GROUP), MemberJoined: _joined_as}, views=(Clients, Members)),
    breaks="""
        RequestObserved(api="JoinGroup")
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="JoinGroup")
    """,
    holds="""
        RequestObserved(api="JoinGroup", session_timeout_ms=1000)
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="JoinGroup", member_id="m", session_timeout_ms=1000)
    """,
    excuses="""
        RequestObserved(api="JoinGroup", session_timeout_ms=1000, time_ms=1)
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m", time_ms=1)
        RequestObserved(api="JoinGroup", session_timeout_ms=1000, time_ms=2000)
    """,
)

RequiredMemberIdIsUsed: Final = of_clients(
    name="wire_required_member_id_is_used",
    claim="a client that is answered MEMBER_ID_REQUIRED joins again under the id in the reply, within its session "
    "timeout",
    source="KIP-394; AbstractCoordinator.JoinGroupResponseHandler",
    premises=(DISTURBED,),
    fold=in_time(
        _required_ms,
        "join again under the id that it was assigned",
        Api.JOIN_GROUP,
        after=(Api.JOIN_GROUP,),
        right=_the_required_id,
    ),
    opening="""
        RequestObserved(api="JoinGroup", session_timeout_ms=1000)
        ReplyObserved(api="JoinGroup", error="MEMBER_ID_REQUIRED", assigned_member_id="m")
    """,
    breaks="""RequestObserved(api="JoinGroup", session_timeout_ms=1000)""",
    holds="""RequestObserved(api="JoinGroup", member_id="m", session_timeout_ms=1000)""",
)

LostMembershipIsNotUsed: Final = of_clients(
    name="wire_lost_membership_is_not_used",
    claim="a client that is answered UNKNOWN_MEMBER_ID does not join under that id again, and sends nothing under it, "
    "or under a generation that was refused with ILLEGAL_GENERATION, a session timeout later; behind its LeaveGroup it "
    "sends nothing for the generation that it left",
    source="AbstractCoordinator.HeartbeatResponseHandler, JoinGroupResponseHandler, SyncGroupResponseHandler; "
    "ConsumerCoordinator.close",
    premises=(
        DISTURBED,
        "what was on its way when the membership was lost does not count",
        "where the application did not poll in time the heartbeat thread leaves, and a commit of the application may "
        "follow until the LeaveGroup is answered",
    ),
    fold=form(requests(_not_lost, *OF_MEMBERS), views=(Clients,)),
    opening="""
        RequestObserved(api="JoinGroup", member_id="m")
        ReplyObserved(api="JoinGroup", error="UNKNOWN_MEMBER_ID")
    """,
    breaks="""RequestObserved(api="JoinGroup", member_id="m")""",
    holds="""RequestObserved(api="JoinGroup")""",
)

GenerationIsTheLast: Final = of_clients(
    name="wire_generation_is_the_last",
    claim="Heartbeat, SyncGroup and OffsetCommit carry a generation that the member was accepted into, and none older "
    "than an earlier request on the connection; claims of partitions are for the generation of the last assignment, "
    "or a later one that the member was accepted into",
    source="AbstractCoordinator.generation, generationIfStable; KIP-792; ConsumerCoordinator.metadata",
    premises=("a request without a generation is made outside of the group",),
    fold=form(requests(_last_generation, *OF_MEMBERS), views=(Clients,)),
    opening="""
        RequestObserved(api="JoinGroup")
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
    """,
    breaks="""RequestObserved(api="Heartbeat", member_id="m", request_generation=2)""",
    holds="""RequestObserved(api="Heartbeat", member_id="m", request_generation=1)""",
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
