"""The rebalance, one step after the other: who joins, when it must, when it need not, and what follows."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import ReplyObserved, RequestObserved
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.wire.client import CHAIN, Client
from rebalance_check.properties.wire.errors import CONSUMER, COORDINATOR_ERRORS, NONE, REBALANCE_IN_PROGRESS
from rebalance_check.properties.wire.wire_fold import DISTURBANCES, DISTURBED, FAMILY, ONE_MEMBER, DueFold, RequestFold


class JoinsOneAtATimeViolated(Violation):
    """A client sent JoinGroup or SyncGroup while another JoinGroup or SyncGroup of its own was open."""


class RejoinsWhenRebalancingViolated(Violation):
    """A client learned of a rebalance and did not join it in time."""


class SyncFollowsJoinViolated(Violation):
    """A client was accepted into a generation and did not ask for its assignment in time."""


class NoNeedlessJoinViolated(Violation):
    """A settled client joined again although nothing on the wire asked for it."""


class MoveNeedsNoJoinViolated(Violation):
    """A settled client joined again for no other reason than that its coordinator moved."""


class _OneAtATime(RequestFold):
    apis = CHAIN

    def look(self, client: Client, event: RequestObserved) -> None:
        """A request that is open for as long as a member may take to join counts as given up."""
        before = client.waits_for(*CHAIN)
        patience_ms = client.join.rebalance_timeout_ms if client.join else 0
        if before is None or event.time_ms - before.time_ms > patience_ms:
            self.tested()
            return
        self.test(
            f"{client.name} sends {event.api} while its {before.api} is open",
            (f"{client.name} sent {before.api} at {STEP}, and no reply passed;", before),
            at=event,
        )


class _Rejoins(DueFold):
    ends = frozenset({Api.JOIN_GROUP})
    must = "join the rebalance"

    def length_ms(self, client: Client, request: RequestObserved, reply: ReplyObserved) -> int:
        """While it joins already, an earlier heartbeat may still be answered so."""
        if reply.error != REBALANCE_IN_PROGRESS or request.api == Api.OFFSET_COMMIT or client.join is None:
            return 0
        is_joining = request.request < client.join.request or (
            request.api == Api.HEARTBEAT and client.waits_for(*CHAIN)
        )
        return 0 if is_joining else client.join.rebalance_timeout_ms


class _Syncs(DueFold):
    ends = CHAIN
    must = "send SyncGroup"

    def length_ms(self, client: Client, request: RequestObserved, reply: ReplyObserved) -> int:
        """It may join once more instead, where it learned of the next rebalance meanwhile."""
        accepted = request.api == Api.JOIN_GROUP and reply.error == NONE and client.join is request
        return request.rebalance_timeout_ms if accepted else 0


MOVED: Final = "its coordinator moved"
UNSETTLED: Final = "it has no assignment yet"


def causes(client: Client, join: RequestObserved) -> set[str]:
    """What on the wire may have made a settled client join again; `MOVED` where it is about the coordinator alone."""
    last, since = client.round, client.since
    if last is None or client.join is not last.join or last.synced is None or join.protocol_type != CONSUMER:
        return {UNSETTLED}
    could_be = {
        "its process is unknown, and so is the metadata that it has": not client.process.is_known,
        "it was refused": any(error not in COORDINATOR_ERRORS for error in since.errors),
        "the topics that it wants, or what it offers, changed": _offers(join) != _offers(last.join),
        "it gave partitions up": bool(last.revoked),
        "it was assigned what it does not want": not last.fits_the_subscription,
        "it was listed other partitions": since.metadata is not None,
        "it was paused": since.paused is not None,
        "it left": since.left is not None,
        "it missed a reply": since.unseen is not None,
        "it closed a connection itself": since.closed is not None and since.closed.closed_by == "client",
        "its session may have expired": client.may_count_as_lost(join.time_ms),
        MOVED: bool(since.errors) or since.closed is not None or since.moved is not None,
    }
    return {cause for cause, is_so in could_be.items() if is_so}


def _offers(join: RequestObserved) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    return tuple(sorted(join.topics)), join.protocols, join.instance_id


class _NeedlessJoin(RequestFold):
    apis = frozenset({Api.JOIN_GROUP})

    def look(self, client: Client, event: RequestObserved) -> None:
        """Each JoinGroup of a client that has its assignment has a cause."""
        found = causes(client, event)
        if UNSETTLED not in found:
            self.test(
                "" if found else f"{client.name} joins again, and nothing asked for it",
                (f"it received its assignment at {STEP};", client.round.synced if client.round else None),
                at=event,
            )


class _JoinAfterMove(RequestFold):
    apis = frozenset({Api.JOIN_GROUP, Api.HEARTBEAT})

    def look(self, client: Client, event: RequestObserved) -> None:
        """A heartbeat after the move shows that the client goes on; a JoinGroup needs another cause."""
        round_, since = client.round, client.since
        if round_ is None or round_.synced is None or client.join is not round_.join:
            return
        moved = next((each.reply for name, each in since.errors.items() if name in COORDINATOR_ERRORS), None)
        sign = moved or since.closed or since.moved
        if sign is None:
            return
        alone = event.api == Api.JOIN_GROUP and causes(client, event) == {MOVED}
        self.test(
            f"{client.name} joins again because its coordinator moved" if alone else "",
            (f"it received its assignment at {STEP};", round_.synced),
            (f"its coordinator moved, or was unreachable, at {STEP}, which ends no membership;", sign),
            at=event,
        )


JoinsOneAtATime: Final = Invariant(
    name="wire_joins_one_at_a_time",
    family=FAMILY,
    claim="a client has one JoinGroup or SyncGroup open at a time",
    source="AbstractCoordinator.joinFuture",
    premises=(ONE_MEMBER, "a request that is open for longer than the rebalance timeout was given up by the client"),
    exempted_by=DISTURBANCES,
    violation=JoinsOneAtATimeViolated,
    fold=_OneAtATime,
)
"""A client has one JoinGroup or SyncGroup open at a time; one that is on a closed connection is not open.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, rebalance_timeout_ms=60000)
    RequestObserved(connection=1, process="p0", request=2, api="JoinGroup", version=9, rebalance_timeout_ms=60000)
"""

RejoinsWhenRebalancing: Final = Invariant(
    name="wire_rejoins_when_rebalancing",
    family=FAMILY,
    claim="a client that is answered REBALANCE_IN_PROGRESS sends JoinGroup, or leaves, within its rebalance timeout",
    source="AbstractCoordinator.HeartbeatResponseHandler, SyncGroupResponseHandler; KIP-62",
    premises=(ONE_MEMBER, DISTURBED, "a static member may fall silent instead"),
    exempted_by=DISTURBANCES,
    violation=RejoinsWhenRebalancingViolated,
    fold=_Rejoins,
)
"""A client that is answered REBALANCE_IN_PROGRESS sends JoinGroup, or leaves, within its rebalance timeout.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, rebalance_timeout_ms=1000)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="Heartbeat", version=4, member_id="m")
    ReplyObserved(connection=1, process="p0", request=2, api="Heartbeat", error="REBALANCE_IN_PROGRESS")
    RequestObserved(connection=1, process="p0", request=3, api="Heartbeat", version=4, member_id="m", time_ms=1001)
"""

SyncFollowsJoin: Final = Invariant(
    name="wire_sync_follows_join",
    family=FAMILY,
    claim="a client whose JoinGroup is accepted sends SyncGroup, joins again or leaves, within its rebalance timeout",
    source="AbstractCoordinator.JoinGroupResponseHandler; KAFKA-12890",
    premises=(ONE_MEMBER, DISTURBED, "a static member may fall silent instead"),
    exempted_by=DISTURBANCES,
    violation=SyncFollowsJoinViolated,
    fold=_Syncs,
)
"""A client whose JoinGroup is accepted sends SyncGroup, joins again or leaves, within its rebalance timeout.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, rebalance_timeout_ms=1000)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="Heartbeat", version=4, member_id="m", time_ms=1001)
"""

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
    violation=NoNeedlessJoinViolated,
    fold=_NeedlessJoin,
)
"""A consumer that has its assignment joins again only for a cause that the wire shows.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, protocol_type="consumer",
                    session_timeout_ms=1000)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=1)
    ReplyObserved(connection=1, process="p0", request=2, api="SyncGroup")
    RequestObserved(connection=1, process="p0", request=3, api="JoinGroup", version=9, protocol_type="consumer",
                    member_id="m", session_timeout_ms=1000)
"""

MoveNeedsNoJoin: Final = Invariant(
    name="wire_move_needs_no_join",
    family=FAMILY,
    claim="a consumer that has its assignment and whose coordinator moves, or is not reached for less than a session, "
    "goes on as the same member of the same generation, without JoinGroup",
    source="AbstractCoordinator.HeartbeatResponseHandler, markCoordinatorUnknown",
    premises=(ONE_MEMBER, "a client that is not answered for a session timeout may give its membership up"),
    exempted_by=DISTURBANCES,
    violation=MoveNeedsNoJoinViolated,
    fold=_JoinAfterMove,
)
"""A consumer whose coordinator moves goes on as the same member of the same generation, without JoinGroup.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, protocol_type="consumer",
                    session_timeout_ms=1000)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=1)
    ReplyObserved(connection=1, process="p0", request=2, api="SyncGroup")
    RequestObserved(connection=1, process="p0", request=3, api="Heartbeat", version=4, member_id="m",
                    request_generation=1)
    ReplyObserved(connection=1, process="p0", request=3, api="Heartbeat", error="NOT_COORDINATOR")
    RequestObserved(connection=2, process="p0", request=4, api="JoinGroup", version=9, protocol_type="consumer",
                    member_id="m", session_timeout_ms=1000)
"""

CLAIMS: Final = (JoinsOneAtATime, RejoinsWhenRebalancing, SyncFollowsJoin, NoNeedlessJoin, MoveNeedsNoJoin)
"""In the order in which reports name them."""
