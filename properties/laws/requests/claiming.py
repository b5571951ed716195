"""The partitions that a consumer claims and commits: its last assignment, and nothing lost (KIP-429, KIP-792)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import OffsetCommitted, ReplyObserved, RequestObserved
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.engines import CHECKED, Excused, Findings, form
from rebalance_check.properties.engines.rules import Reason
from rebalance_check.properties.kinds import declared
from rebalance_check.properties.laws.asking import (
    DISTURBED,
    in_time,
    observed,
    of_clients,
    requests,
    verdict,
)
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.client import Client
from rebalance_check.properties.views.clients import Clients
from rebalance_check.properties.views.errors import (
    COOPERATIVE,
    COORDINATOR_ERRORS,
    EAGER,
    ILLEGAL_GENERATION,
    LOSSES,
    NONE,
)
from rebalance_check.properties.views.rounds import Round

_CLAIMS_SINCE: Final = 1
"""The first version of a consumer's subscription with owned partitions (KIP-429)."""


def short(partitions: frozenset[str] | set[str]) -> str:
    """The names of partitions, in order."""
    return ", ".join(sorted(partitions)) or "nothing"


def _as_assigned(client: Client, sent: RequestObserved) -> Findings:
    """An assignment of an unsettled rebalance may not have arrived; then the claims before it stand as well."""
    last = client.applied
    if last is None or not client.is_member or not _is_settled(client, sent, last):
        return None
    claimed, taken_up = frozenset(sent.owned), client.used_partitions.union(last.join.owned)
    more = claimed - last.assignment
    join = client.join
    kept = last.assignment if join is None or join is last.join else last.assignment.intersection(join.owned)
    less = frozenset(each for each in taken_up & kept - claimed if topic_of(each) in sent.topics)
    if more and more <= set(last.join.owned) and not last.fits(sent):
        return Excused("may have ignored an assignment of topics that it no longer wanted")
    fault = f"{client.name} claims {short(more)}, which it was not assigned" if more else ""
    if less and not more:
        if _may_have_given_up(client, sent):
            return Excused("may have given partitions up while it was disturbed")
        fault = f"{client.name} no longer claims {short(less)}"
    return verdict(
        fault,
        (f"{client.name} was assigned {short(last.assignment)} in generation {last.generation} at {STEP}, and lost no "
         "membership since;", last.synced),
        at=sent,
    )  # fmt: skip


def _is_settled(client: Client, sent: RequestObserved, last: Round) -> bool:
    """Whether the claims must be those of this round: the client has received it, and applies it."""
    received = last.join is not client.join or (client.since.closed is None and client.since.unseen is None)
    is_cooperative = set(sent.protocols) == {COOPERATIVE} and client.is_cooperative
    lost = client.lost is not None or client.since.left is not None
    versioned = sent.subscription_version >= _CLAIMS_SINCE
    return received and is_cooperative and versioned and not lost and last.fits()


def _may_have_given_up(client: Client, sent: RequestObserved) -> bool:
    """A client that is disturbed may end its work in good order, and begin anew as the same member."""
    since = client.since
    refused = not (LOSSES | COORDINATOR_ERRORS).isdisjoint(since.errors)
    broken = since.closed is not None or since.unseen is not None or since.moved is not None
    return refused or broken or since.paused is not None or client.may_count_as_lost(sent.time_ms)


def _owns_nothing(client: Client, sent: RequestObserved) -> Findings:
    """Without an accepted member id nothing is owned; after a refused SyncGroup neither, nor by an eager member.

    One eager assignor in the list is enough: the group may select it, and it withholds nothing.
    """
    if sent.subscription_version < _CLAIMS_SINCE:
        return None
    last, eager = client.chain, sorted(EAGER.intersection(sent.protocols))
    without_id = sent.member_id == "" or (sent.member_id == client.member_id and not client.is_member)
    refused = last is not None and last.request.api == Api.SYNC_GROUP and last.reply.error == ILLEGAL_GENERATION
    if not (without_id or refused or eager):
        return None
    lost = client.lost.reply if client.lost else None
    reason: Reason = (f"{client.name} has no member id that a JoinGroup was accepted under;", None)
    if eager:
        reason = (f"{client.name} offers {eager[0]};", None)
    elif lost:
        reason = (f"{client.name} received {lost.error} at {STEP}, and owns nothing since;", lost)
    why = f"offers {eager[0]}" if eager else "belongs to no generation"
    return verdict(
        f"{client.name} claims {short(frozenset(sent.owned))}, and {why}" if sent.owned else "", reason, at=sent
    )


def _hand_over_ms(client: Client, request: RequestObserved, got: ReplyObserved) -> int:
    """The partitions that it claimed and was not assigned wait for their new owner until it joins again."""
    round_ = client.rounds.get(request.request_generation)
    if got.error != NONE or round_ is None or round_.joined.protocol != COOPERATIVE:
        return 0
    gone = frozenset(round_.join.owned) - frozenset(got.assignment)
    return round_.join.rebalance_timeout_ms if gone else 0


def _commits_its_own(client: Client, sent: RequestObserved) -> Findings:
    """A partition that it claimed when it joined may be committed too: it is revoked after the assignment arrived."""
    round_ = client.rounds.get(sent.request_generation)
    if round_ is None or round_.synced is None or sent.member_id != round_.joined.assigned_member_id:
        return None
    owned = round_.assignment.union(round_.join.owned)
    others = sorted(partition for partition, _ in sent.offsets if partition not in owned)
    return verdict(
        f"{client.name} commits {others[0]}, which it does not own" if others else "",
        (f"{client.name} was assigned {short(round_.assignment)} in generation {round_.generation} at {STEP};",
         round_.synced),
        at=sent,
    )  # fmt: skip


def _committed_its_own(event: OffsetCommitted, clients: Clients) -> Findings:
    """The same in a record of what was committed in a generation, as that of a kafka-python consumer is."""
    clients.up_to_date()
    client = clients.member(event.member)
    round_ = client.rounds.get(event.generation) if client is not None else None
    if round_ is None or round_.synced is None or event.member_id != round_.joined.assigned_member_id:
        return None
    if event.partition in round_.assignment.union(round_.join.owned):
        return CHECKED
    fault = f"{event.member} commits {event.partition}, which it does not own"
    assigned = f"{event.member} was assigned {short(round_.assignment)} in generation {round_.generation} at {STEP};"
    return verdict(fault, (assigned, round_.synced), at=event)


_SUBSCRIPTION: Final = "what a member claims is that of its first protocol"

ClaimsAreTheAssignment: Final = of_clients(
    name="wire_claims_are_the_assignment",
    claim="a cooperative consumer that lost no membership claims, when it joins again, exactly the partitions that it "
    "was assigned last, but for topics that it no longer wants",
    source="KIP-429; ConsumerCoordinator.onJoinPrepare, onJoinComplete",
    premises=(
        _SUBSCRIPTION,
        "a client whose connection breaks while it waits for an assignment may not have received it",
        "one that is paused, disconnected, refused (REBALANCE_IN_PROGRESS aside) or not answered for a session timeout "
        "may have given partitions up, and claim less",
        "a client may leave out what it has not taken up: what it did not claim before, and whose records and offsets "
        "its process neither fetched nor committed",
        "one that was assigned what it does not want may ignore it",
    ),
    fold=form(requests(_as_assigned, Api.JOIN_GROUP), views=(Clients,)),
    opening="""
        RequestObserved(api="JoinGroup", topics=("t",), protocols=("cooperative-sticky",), subscription_version=3)
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="SyncGroup", member_id="m", request_generation=1)
        ReplyObserved(api="SyncGroup", assignment=("t-0",))
    """,
    breaks="""
        RequestObserved(api="JoinGroup", member_id="m", topics=("t",), protocols=("cooperative-sticky",),
                        subscription_version=3, owned=("t-0", "t-1"))
    """,
    holds="""
        RequestObserved(api="JoinGroup", member_id="m", topics=("t",), protocols=("cooperative-sticky",),
                        subscription_version=3, owned=("t-0",))
    """,
)

LostPartitionsAreNotClaimed: Final = of_clients(
    name="wire_lost_partitions_are_not_claimed",
    claim="a consumer that joins without a member id, under one that was never accepted, or after a SyncGroup that was "
    "answered ILLEGAL_GENERATION, claims no partitions, nor does one that offers an assignor of the eager protocol "
    "(range, roundrobin, sticky)",
    source="KIP-429; ConsumerCoordinator.onJoinPrepare (onPartitionsLost)",
    premises=(_SUBSCRIPTION,),
    fold=form(requests(_owns_nothing, Api.JOIN_GROUP), views=(Clients,)),
    breaks="""
        RequestObserved(api="JoinGroup", topics=("t",), protocols=("cooperative-sticky",), subscription_version=3,
                        owned=("t-0",))
    """,
    holds="""
        RequestObserved(api="JoinGroup", topics=("t",), protocols=("cooperative-sticky",), subscription_version=3)
    """,
)

RevokedPartitionsAreHandedOver: Final = of_clients(
    name="wire_revoked_partitions_are_handed_over",
    claim="a cooperative consumer that is not assigned again all that it claimed joins once more, or leaves, within "
    "its rebalance timeout",
    source="KIP-429; ConsumerCoordinator.onJoinComplete",
    premises=(DISTURBED, "a static member may fall silent instead"),
    fold=in_time(_hand_over_ms, "join again to hand over what it revoked", Api.JOIN_GROUP, after=(Api.SYNC_GROUP,)),
    opening="""
        RequestObserved(api="JoinGroup", member_id="m", owned=("t-0",), rebalance_timeout_ms=1000)
        ReplyObserved(api="JoinGroup", reply_generation=2, assigned_member_id="m", protocol="cooperative-sticky")
        RequestObserved(api="SyncGroup", member_id="m", request_generation=2)
        ReplyObserved(api="SyncGroup")
    """,
    breaks="""RequestObserved(api="Heartbeat", member_id="m", request_generation=2, time_ms=1001)""",
    holds="""RequestObserved(api="JoinGroup", member_id="m", time_ms=1000)""",
)

CommitsWhatItOwns: Final = of_clients(
    name="wire_commits_what_it_owns",
    claim="a member commits, for a generation whose assignment it received, only partitions that it was assigned in "
    "it, or that it claimed when it joined it",
    source="ConsumerCoordinator.sendOffsetCommitRequest; KIP-429",
    premises=("the application commits no partitions that its consumer is not assigned",),
    fold=form({**observed(_commits_its_own, Api.OFFSET_COMMIT), OffsetCommitted: _committed_its_own}, views=(Clients,)),
    opening="""
        RequestObserved(api="JoinGroup")
        ReplyObserved(api="JoinGroup", reply_generation=1, assigned_member_id="m")
        RequestObserved(api="SyncGroup", member_id="m", request_generation=1)
        ReplyObserved(api="SyncGroup", assignment=("t-0",))
    """,
    breaks="""RequestObserved(api="OffsetCommit", member_id="m", request_generation=1, offsets=(("t-1", 5),))""",
    holds="""RequestObserved(api="OffsetCommit", member_id="m", request_generation=1, offsets=(("t-0", 5),))""",
)

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
