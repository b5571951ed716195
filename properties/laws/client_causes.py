"""Causes: a client does what costs its group work only where something asked for it."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    MembershipLost,
    PartitionsLost,
    RequestObserved,
)
from rebalance_check.properties.engines import CHECKED, Excused, Findings, broken, form
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.laws.asking import DISTURBANCES, ONE_MEMBER, recorded, requests, verdict
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import Client
from rebalance_check.properties.views.clients import Clients
from rebalance_check.properties.views.errors import CONSUMER, COORDINATOR_ERRORS

FAMILY: Final = "causes"

# ---------------------------------------------------------------------------------------------- clients: joins

_MOVED: Final = "its coordinator moved"
_UNSETTLED: Final = "it has no assignment yet"


def _causes(client: Client, join: RequestObserved) -> set[str]:
    """The reasons for a settled client to join again; `_MOVED` where they are about the coordinator alone."""
    last, since = client.round, client.since
    if last is None or client.join is not last.join or last.synced is None or join.protocol_type != CONSUMER:
        return {_UNSETTLED}
    could_be = {
        "the metadata that it has is unknown": not client.process.has_metadata,
        "it was refused": any(error not in COORDINATOR_ERRORS for error in since.errors),
        "the topics that it wants, or what it offers, changed": _offers(join) != _offers(last.join),
        "it gave partitions up": bool(last.revoked),
        "it was assigned what it does not want": not last.fits(),
        "it was listed other partitions": since.metadata is not None,
        "it was paused": since.paused is not None,
        "its application asked for it": since.asked is not None,
        "it left": since.left is not None,
        "it missed a reply": since.unseen is not None,
        "it closed a connection itself": since.closed_itself,
        "its session may have expired": client.may_count_as_lost(join.time_ms),
        _MOVED: bool(since.errors) or since.closed is not None or since.moved is not None,
    }
    return {cause for cause, is_so in could_be.items() if is_so}


def _offers(join: RequestObserved) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    return tuple(sorted(join.topics)), join.protocols, join.instance_id


def _asked_for(client: Client, sent: RequestObserved) -> Findings:
    """Each JoinGroup of a client that has its assignment has a cause."""
    found = _causes(client, sent)
    if _UNSETTLED in found:
        return None
    if found:
        return Excused(min(found)) if found == {_MOVED} else CHECKED
    return verdict(
        f"{client.name} joins again, and nothing asked for it",
        (f"it received its assignment at {STEP};", client.round.synced if client.round else None),
        at=sent,
    )


def _not_for_a_move(client: Client, sent: RequestObserved) -> Findings:
    """A heartbeat after the move shows that the client goes on; a JoinGroup needs another cause."""
    round_, since = client.round, client.since
    if round_ is None or round_.synced is None or client.join is not round_.join:
        return None
    moved = next((each.reply for name, each in since.errors.items() if name in COORDINATOR_ERRORS), None)
    sign = moved or since.closed or since.moved
    if sign is None:
        return None
    alone = sent.api == Api.JOIN_GROUP and _causes(client, sent) == {_MOVED}
    return verdict(
        f"{client.name} joins again because its coordinator moved" if alone else "",
        (f"it received its assignment at {STEP};", round_.synced),
        (f"its coordinator moved, or was unreachable, at {STEP}, which ends no membership;", sign),
        at=sent,
    )


# ---------------------------------------------------------------------------------------------- clients: giving up

_ENDS_MEMBERSHIP: Final = frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID"})


def _for_a_reason(event: MembershipLost, clients: Clients) -> Findings:
    """A reason that is an error must be one of three, and have been answered to a request of that generation."""
    if not event.reason.isupper():
        return None  # the member left by itself
    if event.reason not in _ENDS_MEMBERSHIP:
        return broken(
            f"{event.member} gave generation {event.generation} up because of {event.reason}",
            (f"{event.reason} does not end a membership; {event.member} lost it at {STEP}: contradiction.", event),
        )
    client = clients.client
    refused = client.since.errors.get(event.reason) if client is not None else None
    if refused is None or refused.request.api not in {Api.HEARTBEAT, Api.SYNC_GROUP}:
        return CHECKED
    if refused.request.request_generation == event.generation:
        return CHECKED
    return recorded(
        broken(
            f"{event.member} gave generation {event.generation} up because of an answer to an older one",
            (f"{event.reason} was answered at {STEP} to a request of an earlier generation.", refused.reply),
            (f"{event.member} gave generation {event.generation} up at {STEP}: contradiction.", event),
        )
    )


def _not_while_settled(event: PartitionsLost, clients: Clients) -> Findings:
    """A member that has its assignment, and belongs to its generation, revokes its partitions when it leaves."""
    clients.up_to_date()
    client = clients.member(event.member)
    if client is None or not event.partitions or client.applied is None or client.join is not client.applied.join:
        return None
    if client.lost is not None or not client.is_member:
        return CHECKED
    kept_from_it = client.since.paused or client.since.closed or client.since.unseen or client.since.left
    if kept_from_it or client.may_count_as_lost(event.time_ms) or client.disturbed_ms > client.applied.join.time_ms:
        return Excused("may have given its membership up while it was disturbed")
    return recorded(
        broken(
            f"{event.member} loses {', '.join(event.partitions)}, and nothing ended its membership",
            (f"{event.member} was answered its SyncGroup at {STEP};", client.applied.synced),
            (f"it loses {', '.join(event.partitions)} at {STEP}, before any answer that ends its membership: "
             "contradiction.", event),
        )
    )  # fmt: skip


NoNeedlessJoin: Final = Invariant(
    name="wire_no_needless_join",
    family=FAMILY,
    claim="a consumer that has its assignment joins again only for a cause: it was refused, its subscription or the "
    "metadata of topics changed, it gave partitions up, it was paused, silent or disconnected, or it left",
    source="ConsumerCoordinator.rejoinNeededOrPending",
    premises=(
        ONE_MEMBER,
        "the application enforces no rebalance (Consumer.enforceRebalance), and no client has a rack",
    ),
    exempted_by=DISTURBANCES,
    evidence=Evidence.CONCERNED,
    fold=form(requests(_asked_for, Api.JOIN_GROUP), views=(Clients,)),
    opening="""
        RequestObserved(api="JoinGroup", protocol_type="consumer", session_timeout_ms=1000)
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="SyncGroup", member_id="m", request_generation=1)
        ReplyObserved(api="SyncGroup")
    """,
    breaks="""RequestObserved(api="JoinGroup", protocol_type="consumer", member_id="m", session_timeout_ms=1000)""",
    holds="""
        RequestObserved(api="Heartbeat", member_id="m", request_generation=1)
        ReplyObserved(api="Heartbeat", error="REBALANCE_IN_PROGRESS")
        RequestObserved(api="JoinGroup", protocol_type="consumer", session_timeout_ms=1000, member_id="m")
    """,
)

MoveNeedsNoJoin: Final = Invariant(
    name="wire_move_needs_no_join",
    family=FAMILY,
    claim="a consumer that has its assignment and whose coordinator moves, or is not reached for less than a session, "
    "goes on as the same member of the same generation, without JoinGroup",
    source="AbstractCoordinator.HeartbeatResponseHandler, markCoordinatorUnknown",
    premises=(ONE_MEMBER, "a client that is not answered for a session timeout may give its membership up"),
    exempted_by=DISTURBANCES,
    evidence=Evidence.CONCERNED,
    fold=form(requests(_not_for_a_move, Api.JOIN_GROUP, Api.HEARTBEAT), views=(Clients,)),
    opening="""
        RequestObserved(api="JoinGroup", protocol_type="consumer", session_timeout_ms=1000)
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="SyncGroup", member_id="m", request_generation=1)
        ReplyObserved(api="SyncGroup")
        RequestObserved(api="Heartbeat", member_id="m", request_generation=1)
        ReplyObserved(api="Heartbeat", error="NOT_COORDINATOR")
    """,
    breaks="""
        RequestObserved(connection=2, api="JoinGroup", protocol_type="consumer", member_id="m",
                        session_timeout_ms=1000)
    """,
    holds="""RequestObserved(connection=2, api="Heartbeat", member_id="m", request_generation=1)""",
)

MembershipEndsForAReason: Final = Invariant(
    name="membership_ends_for_a_reason",
    family=FAMILY,
    claim="a member gives its generation up, and loses its partitions, only when an answer to a request of that "
    "generation says that it is over, or it leaves by itself",
    source="AbstractCoordinator.resetStateOnResponseError; ConsumerCoordinator.OffsetCommitResponseHandler; "
    "KAFKA-8487, KAFKA-9823, KAFKA-13214, KAFKA-14016",
    premises=(
        "MembershipLost names Kafka's error, or says in other words that the member left by itself",
        "an answer to OffsetCommit may be late: Kafka's client believes it all the same",
    ),
    exempted_by=DISTURBANCES,
    evidence=Evidence.CONCERNED,
    fold=form({MembershipLost: _for_a_reason, PartitionsLost: _not_while_settled}, views=(Clients,)),
    breaks="""MembershipLost(member="m0", generation=1, reason="REBALANCE_IN_PROGRESS")""",
    holds="""MembershipLost(member="m0", generation=1, reason="UNKNOWN_MEMBER_ID")""",
)

LAWS: Final = (NoNeedlessJoin, MoveNeedsNoJoin, MembershipEndsForAReason)
"""In the order in which reports name them."""
