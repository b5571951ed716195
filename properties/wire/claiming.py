"""What a consumer claims to own when it joins: what it was assigned last, and nothing lost (KIP-429, KIP-792)."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import Event, ReplyObserved, RequestObserved
from rebalance_check.model.vocabulary.ids import topic_of
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.wire.client import Client
from rebalance_check.properties.wire.errors import (
    COOPERATIVE,
    COORDINATOR_ERRORS,
    EAGER,
    ILLEGAL_GENERATION,
    LOSSES,
    NONE,
)
from rebalance_check.properties.wire.rounds import Round
from rebalance_check.properties.wire.wire_fold import DISTURBANCES, DISTURBED, FAMILY, ONE_MEMBER, DueFold, RequestFold

_JOIN: Final = frozenset({Api.JOIN_GROUP})
_CLAIMS_SINCE: Final = 1
"""The first version of a consumer's subscription with owned partitions (KIP-429)."""
_GENERATION_SINCE: Final = 2
"""The first version with the generation of these partitions (KIP-792)."""


class ClaimsAreTheAssignmentViolated(Violation):
    """A cooperative consumer claimed more or less than it was assigned last."""


class LostPartitionsAreNotClaimedViolated(Violation):
    """A consumer without a membership claimed partitions."""


class EagerMembersClaimNothingViolated(Violation):
    """A consumer that offers an eager assignor claimed partitions."""


class RevokedPartitionsAreHandedOverViolated(Violation):
    """A consumer that was not assigned again all that it claimed did not join again."""


class ClaimedGenerationFitsViolated(Violation):
    """A consumer claimed partitions for a generation in which it did not own them."""


def short(partitions: frozenset[str] | set[str]) -> str:
    """The names of partitions, in order."""
    return ", ".join(sorted(partitions)) or "nothing"


class _Claims(RequestFold):
    apis = _JOIN

    def look(self, client: Client, event: RequestObserved) -> None:
        """What an unsettled rebalance assigned may not have arrived; then the claims before it stand as well."""
        last = client.applied
        if last is None or not client.is_member or not self._is_settled(client, event, last):
            return
        claimed, taken_up = frozenset(event.owned), client.used_partitions.union(last.join.owned)
        more = claimed - last.assignment
        less = frozenset(each for each in taken_up & last.assignment - claimed if topic_of(each) in event.topics)
        fault = ""
        if more:
            fault = f"{client.name} claims {short(more)}, which it was not assigned"
        elif less and not self._may_have_given_up(client, event):
            fault = f"{client.name} no longer claims {short(less)}"
        self.test(
            fault,
            (f"{client.name} was assigned {short(last.assignment)} in generation {last.generation} at {STEP}, and lost "
             "no membership since;", last.synced),
            at=event,
        )  # fmt: skip

    def _is_settled(self, client: Client, event: RequestObserved, last: Round) -> bool:
        """Whether the claims must be those of this round: the client has received it, and applies it."""
        received = last.join is not client.join or (client.since.closed is None and client.since.unseen is None)
        is_cooperative = set(event.protocols) == {COOPERATIVE} and client.is_cooperative
        lost = client.lost is not None or client.since.left is not None
        versioned = event.subscription_version >= _CLAIMS_SINCE
        return received and is_cooperative and versioned and not lost and last.fits_the_subscription

    def _may_have_given_up(self, client: Client, event: RequestObserved) -> bool:
        """A client that is disturbed may end its work in good order, and begin anew as the same member."""
        since = client.since
        refused = not (LOSSES | COORDINATOR_ERRORS).isdisjoint(since.errors)
        broken = since.closed is not None or since.unseen is not None or since.moved is not None
        return refused or broken or since.paused is not None or client.may_count_as_lost(event.time_ms)


class _LostClaims(RequestFold):
    apis = _JOIN

    def look(self, client: Client, event: RequestObserved) -> None:
        """Without an accepted member id nothing is owned; after a refused SyncGroup neither."""
        if event.subscription_version < _CLAIMS_SINCE:
            return
        last = client.chain
        without_id = event.member_id == "" or (event.member_id == client.member_id and not client.is_member)
        refused = last is not None and last.request.api == Api.SYNC_GROUP and last.reply.error == ILLEGAL_GENERATION
        lost = client.lost.reply if client.lost else None
        if not (without_id or refused):
            return
        reasons: list[tuple[str, Event | None]] = (
            [(f"{client.name} received {lost.error} at {STEP}, and owns nothing since;", lost)]
            if lost
            else [(f"{client.name} has no member id that a JoinGroup was accepted under;", None)]
        )
        self.test(
            f"{client.name} claims {short(frozenset(event.owned))}, and belongs to no generation"
            if event.owned
            else "",
            *reasons,
            at=event,
        )


class _Eager(RequestFold):
    apis = _JOIN

    def look(self, client: Client, event: RequestObserved) -> None:
        """One eager assignor in the list is enough: the group may select it, and it withholds nothing."""
        eager = sorted(EAGER.intersection(event.protocols))
        if event.subscription_version < _CLAIMS_SINCE or not eager:
            return
        self.test(
            f"{client.name} claims {short(frozenset(event.owned))} and offers {eager[0]}" if event.owned else "",
            at=event,
        )


class _HandOver(DueFold):
    ends = _JOIN
    must = "join again to hand over what it revoked"

    def length_ms(self, client: Client, request: RequestObserved, reply: ReplyObserved) -> int:
        """What it claimed and was not assigned waits for its new owner until it joins again."""
        round_ = client.rounds.get(request.request_generation)
        if (
            request.api != Api.SYNC_GROUP
            or reply.error != NONE
            or round_ is None
            or round_.joined.protocol != COOPERATIVE
        ):
            return 0
        gone = frozenset(round_.join.owned) - frozenset(reply.assignment)
        return round_.join.rebalance_timeout_ms if gone else 0


class _ClaimedGeneration(RequestFold):
    apis = _JOIN

    def look(self, client: Client, event: RequestObserved) -> None:
        """The generation of the last assignment, or a later one that the client was accepted into."""
        last = client.applied
        if event.subscription_version < _GENERATION_SINCE or not event.owned or last is None or not client.is_member:
            return
        if client.lost is not None or self._may_be_older(client, last):
            return
        known = [generation for generation in client.rounds if generation >= last.generation]
        said = f"generation {event.owned_generation}" if event.owned_generation >= 0 else "no generation"
        fits = event.owned_generation in known
        self.test(
            "" if fits else f"{client.name} claims {short(frozenset(event.owned))} for {said}",
            (f"{client.name} received its last assignment in generation {last.generation} at {STEP};", last.synced),
            at=event,
        )

    def _may_be_older(self, client: Client, last: Round) -> bool:
        """The reply to the last SyncGroup may not have arrived."""
        return last.join is client.join and (client.since.closed is not None or client.since.unseen is not None)


_SUBSCRIPTION: Final = "what a member claims is that of its first protocol"

ClaimsAreTheAssignment: Final = Invariant(
    name="wire_claims_are_the_assignment",
    family=FAMILY,
    claim="a cooperative consumer that lost no membership claims, when it joins again, exactly the partitions that it "
    "was assigned last, but for topics that it no longer wants",
    source="KIP-429; ConsumerCoordinator.onJoinPrepare, onJoinComplete",
    premises=(
        ONE_MEMBER,
        _SUBSCRIPTION,
        "a client whose connection breaks while it waits for an assignment may not have received it",
        "one that is paused, disconnected, refused (REBALANCE_IN_PROGRESS aside) or not answered for a session timeout "
        "may have given partitions up, and claim less",
        "a client may leave out what it has not taken up: what it did not claim before, and whose records and offsets "
        "its process neither fetched nor committed",
        "one that was assigned what it does not want may ignore it",
    ),
    exempted_by=DISTURBANCES,
    violation=ClaimsAreTheAssignmentViolated,
    fold=_Claims,
)
"""A cooperative consumer claims exactly what it was assigned last.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, topics=("t",),
                    protocols=("cooperative-sticky",), subscription_version=3)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=1)
    ReplyObserved(connection=1, process="p0", request=2, api="SyncGroup", assignment=("t-0",))
    RequestObserved(connection=1, process="p0", request=3, api="JoinGroup", version=9, member_id="m", topics=("t",),
                    protocols=("cooperative-sticky",), subscription_version=3, owned=("t-0", "t-1"))
"""

LostPartitionsAreNotClaimed: Final = Invariant(
    name="wire_lost_partitions_are_not_claimed",
    family=FAMILY,
    claim="a consumer that joins without a member id, under one that was never accepted, or after a SyncGroup that was "
    "answered ILLEGAL_GENERATION, claims no partitions",
    source="KIP-429; ConsumerCoordinator.onJoinPrepare (onPartitionsLost)",
    premises=(ONE_MEMBER, _SUBSCRIPTION),
    exempted_by=DISTURBANCES,
    violation=LostPartitionsAreNotClaimedViolated,
    fold=_LostClaims,
)
"""A consumer that belongs to no generation claims no partitions: they may have other owners by now.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, topics=("t",),
                    protocols=("cooperative-sticky",), subscription_version=3, owned=("t-0",))
"""

EagerMembersClaimNothing: Final = Invariant(
    name="wire_eager_members_claim_nothing",
    family=FAMILY,
    claim="a consumer that offers an assignor of the eager protocol (range, roundrobin, sticky) claims no partitions",
    source="KIP-429; ConsumerCoordinator.onJoinPrepare",
    premises=(ONE_MEMBER, _SUBSCRIPTION),
    exempted_by=DISTURBANCES,
    violation=EagerMembersClaimNothingViolated,
    fold=_Eager,
)
"""A consumer that offers an assignor of the eager protocol has given all up before it joins.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, member_id="m", topics=("t",),
                    protocols=("range", "cooperative-sticky"), subscription_version=3, owned=("t-0",))
"""

RevokedPartitionsAreHandedOver: Final = Invariant(
    name="wire_revoked_partitions_are_handed_over",
    family=FAMILY,
    claim="a cooperative consumer that is not assigned again all that it claimed joins once more, or leaves, within "
    "its rebalance timeout",
    source="KIP-429; ConsumerCoordinator.onJoinComplete",
    premises=(ONE_MEMBER, DISTURBED, "a static member may fall silent instead"),
    exempted_by=DISTURBANCES,
    violation=RevokedPartitionsAreHandedOverViolated,
    fold=_HandOver,
)
"""A cooperative consumer that is not assigned again all that it claimed joins once more, so that others get the rest.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, member_id="m", owned=("t-0",),
                    rebalance_timeout_ms=1000)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=2, assigned_member_id="m",
                  protocol="cooperative-sticky")
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=2)
    ReplyObserved(connection=1, process="p0", request=2, api="SyncGroup")
    RequestObserved(connection=1, process="p0", request=3, api="Heartbeat", version=4, member_id="m",
                    request_generation=2, time_ms=1001)
"""

ClaimedGenerationFits: Final = Invariant(
    name="wire_claimed_generation_fits",
    family=FAMILY,
    claim="a subscription of version 2 or later that claims partitions names the generation of the last assignment, or "
    "a later one that the member was accepted into",
    source="KIP-792; ConsumerCoordinator.metadata",
    premises=(ONE_MEMBER, _SUBSCRIPTION),
    exempted_by=DISTURBANCES,
    violation=ClaimedGenerationFitsViolated,
    fold=_ClaimedGeneration,
)
"""Claims of a generation that is over lose against others, so the generation of the last assignment belongs to them.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, subscription_version=3)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=2, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=2)
    ReplyObserved(connection=1, process="p0", request=2, api="SyncGroup", assignment=("t-0",))
    RequestObserved(connection=1, process="p0", request=3, api="JoinGroup", version=9, member_id="m",
                    subscription_version=3, owned=("t-0",), owned_generation=1)
"""

CLAIMS: Final = (
    ClaimsAreTheAssignment,
    LostPartitionsAreNotClaimed,
    EagerMembersClaimNothing,
    RevokedPartitionsAreHandedOver,
    ClaimedGenerationFits,
)
"""In the order in which reports name them."""
