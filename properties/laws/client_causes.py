"""Causes: a client starts rebalances only where something asked for one."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import MembershipLost, PartitionsLost, RequestObserved
from rebalance_check.properties.engines import CHECKED, Excused, Findings, broken, form
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.laws.asking import DISTURBANCES, of_clients, requests, verdict
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import Client
from rebalance_check.properties.views.clients import Clients
from rebalance_check.properties.views.errors import CONSUMER, COORDINATOR_ERRORS
from rebalance_check.properties.views.rounds import Round

FAMILY: Final = "causes"

# ---------------------------------------------------------------------------------------------- clients: joins


def _is_asked(client: Client, last: Round, join: RequestObserved) -> bool:
    """Whether a settled client has a reason to join again that is not about its coordinator alone."""
    since = client.since
    is_refused = any(error not in COORDINATOR_ERRORS for error in since.errors)
    has_other_partitions = bool(last.revoked) or not last.fits()
    is_listed_anew = since.metadata is not None or since.learned is not None or not client.process.has_metadata
    may_have_left = since.left is not None or since.closed_itself or client.may_count_as_lost(join.time_ms)
    was_kept = since.paused is not None or since.unseen is not None
    was_asked = since.asked is not None or _offers(join) != _offers(last.join)
    return is_refused or has_other_partitions or is_listed_anew or may_have_left or was_kept or was_asked


def _offers(join: RequestObserved) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    return tuple(sorted(join.topics)), join.protocols, join.instance_id


def _asked_for(client: Client, sent: RequestObserved) -> Findings:
    """Each JoinGroup of a client that has its assignment has a cause; a coordinator that moves ends no membership."""
    last, since = client.round, client.since
    if last is None or client.join is not last.join or last.synced is None or sent.protocol_type != CONSUMER:
        return None
    if _is_asked(client, last, sent):
        return CHECKED
    moved = next((each.reply for each in since.errors.values()), None) or since.closed or since.moved
    why = f"its coordinator moved, or was unreachable, at {STEP}, which ends no membership;"
    return verdict(
        f"{client.name} joins again{' because its coordinator moved' if moved else ', and nothing asked for it'}",
        (f"it received its assignment at {STEP};", last.synced),
        *([(why, moved)] if moved else []),
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
    return broken(
        f"{event.member} gave generation {event.generation} up because of an answer to an older one",
        (f"{event.reason} was answered at {STEP} to a request of an earlier generation.", refused.reply),
        (f"{event.member} gave generation {event.generation} up at {STEP}: contradiction.", event),
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
    return broken(
        f"{event.member} loses {', '.join(event.partitions)}, and nothing ended its membership",
        (f"{event.member} was answered its SyncGroup at {STEP};", client.applied.synced),
        (f"it loses {', '.join(event.partitions)} at {STEP}, before any answer that ends its membership: "
         "contradiction.", event),
    )  # fmt: skip


NoNeedlessJoin: Final = of_clients(
    name="wire_no_needless_join",
    family=FAMILY,
    claim="a consumer that has its assignment joins again only for a cause: it was refused, its subscription or the "
    "metadata of topics changed, it gave partitions up, it was paused or silent, or it left; a coordinator that "
    "moves is none",
    source="ConsumerCoordinator.rejoinNeededOrPending; AbstractCoordinator.HeartbeatResponseHandler, "
    "markCoordinatorUnknown",
    premises=(
        "the application enforces no rebalance (Consumer.enforceRebalance), and no client has a rack",
        "a client that is not answered for a session timeout may give its membership up",
        "a leader compares the metadata with those of its assignment, once more after a round that another one leads",
    ),
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

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
