"""Under which member id and generation a client speaks: what the last replies gave it, until they take it away."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import Event, ReplyObserved, RequestObserved
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.wire.client import CHAIN, Client
from rebalance_check.properties.wire.clients import OF_MEMBERS
from rebalance_check.properties.wire.errors import ILLEGAL_GENERATION, MEMBER_ID_REQUIRED, UNKNOWN_MEMBER_ID
from rebalance_check.properties.wire.rounds import Answered
from rebalance_check.properties.wire.wire_fold import DISTURBANCES, DISTURBED, FAMILY, ONE_MEMBER, DueFold, RequestFold

_JOIN: Final = frozenset({Api.JOIN_GROUP})


class MemberIdIsKeptViolated(Violation):
    """A client that was assigned a member id joined without it, and nothing had taken it away."""


class RequiredMemberIdIsUsedViolated(Violation):
    """A client that must join again under the id that it was assigned did not."""


class LostMembershipIsNotUsedViolated(Violation):
    """A client went on under a member id or a generation that it had lost."""


class GenerationIsTheLastViolated(Violation):
    """A client spoke for a generation that it was not accepted into last."""


def under(join: RequestObserved) -> str:
    """Under which member id a client joins, in words."""
    return f"under the id {join.member_id}" if join.member_id else "without a member id"


class _Kept(RequestFold):
    apis = _JOIN

    def look(self, client: Client, event: RequestObserved) -> None:
        """Only an id that the client has used since, or whose reply it must have received, is one that it knows."""
        if not client.member_id or not client.is_member or client.round is None or self._may_be_dropped(client, event):
            return
        other = event.member_id != client.member_id
        self.test(
            f"{client.name} joins {under(event)}, and its id is {client.member_id}" if other else "",
            (
                f"it was accepted as {client.member_id} at {STEP}, and no later reply took the id away;",
                client.round.joined,
            ),
            at=event,
        )

    def _may_be_dropped(self, client: Client, join: RequestObserved) -> bool:
        """A reply may be lost with its connection; a client that is refused while it completes a join resets itself."""
        if client.may_count_as_lost(join.time_ms):
            return True
        unsettled = client.round is not client.applied
        unsure = unsettled and (client.since.closed is not None or client.since.unseen is not None)
        refused = client.since.errors.get(ILLEGAL_GENERATION)
        return unsure or (refused is not None and refused.request.api not in CHAIN and _came_early(client, refused))


def _came_early(client: Client, refused: Answered) -> bool:
    """Whether the client may not have completed its join yet when it was refused."""
    synced = client.round.synced if client.round else None
    return synced is None or refused.time_ms - synced.time_ms < client.session_ms


class _Required(DueFold):
    ends = _JOIN
    must = "join again under the id that it was assigned"

    def length_ms(self, client: Client, request: RequestObserved, reply: ReplyObserved) -> int:
        """A pending member id is forgotten after the session timeout."""
        del client
        return request.session_timeout_ms if reply.error == MEMBER_ID_REQUIRED else 0

    def on_request(self, event: RequestObserved) -> None:
        """Under that id, and no other."""
        client = self.memory.client
        due = self._due.get(client) if client is not None else None
        if client is not None and due is not None and event.api == Api.JOIN_GROUP:
            given = due.since.assigned_member_id
            if event.member_id != given and client.since.closed is None:
                del self._due[client]
                self.test(
                    f"{client.name} joins {under(event)}, and was assigned the id {given}",
                    (f"{client.name} received MEMBER_ID_REQUIRED and the id {given} at {STEP};", due.since),
                    at=event,
                )
        super().on_request(event)


class _Lost(RequestFold):
    apis = OF_MEMBERS

    def look(self, client: Client, event: RequestObserved) -> None:
        """A request may have been on its way when the membership was lost; the next JoinGroup was not."""
        lost = client.lost
        if lost is None or lost is client.fenced:
            return
        if event.member_id != lost.request.member_id:
            self.tested(event.api == Api.JOIN_GROUP)
            return
        by_id = lost.reply.error != ILLEGAL_GENERATION
        if not by_id and event.request_generation != lost.request.request_generation:
            return
        late = not client.may_be_paused and event.time_ms - max(lost.time_ms, client.disturbed_ms) > client.session_ms
        knows = event.api == Api.JOIN_GROUP and _knows(client, event.member_id)
        what = lost.request.member_id if by_id else f"generation {lost.request.request_generation}"
        self.test(
            f"{client.name} sends {event.api} as {what}, which it has lost" if late or knows else "",
            (f"{client.name} received {lost.reply.error} in reply to its {lost.request.api} at {STEP};", lost.reply),
            at=event,
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


class _Generation(RequestFold):
    apis = frozenset({Api.HEARTBEAT, Api.SYNC_GROUP, Api.OFFSET_COMMIT})

    def look(self, client: Client, event: RequestObserved) -> None:
        """An older generation may be in a request that was on its way, on another connection."""
        last, generation = client.round, event.request_generation
        if last is None or event.member_id != last.joined.assigned_member_id or generation == NO_GENERATION:
            return
        known: Event | None = last.joined
        fault = ""
        if generation not in client.rounds:
            fault = f"{client.name} speaks for generation {generation}, which no reply gave it"
        elif generation < client.used.get(event.connection, NO_GENERATION):
            fault = f"{client.name} speaks for generation {generation} again"
        self.test(
            fault,
            (f"{client.name} was accepted into generation {last.generation} at {STEP};", known),
            at=event,
        )


MemberIdIsKept: Final = Invariant(
    name="wire_member_id_is_kept",
    family=FAMILY,
    claim="a member joins again under the id that it has: REBALANCE_IN_PROGRESS and ILLEGAL_GENERATION keep it, only "
    "UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, a LeaveGroup and the end of the process take it away",
    source="AbstractCoordinator.resetStateOnResponseError, resetStateAndRejoin",
    premises=(
        ONE_MEMBER,
        "a client whose connection breaks during a rebalance may not have received its id; one that is refused within "
        "a session timeout of its SyncGroup may not have completed its join, and resets itself",
        "a client that is not answered for a session timeout may give its membership up",
    ),
    exempted_by=DISTURBANCES,
    violation=MemberIdIsKeptViolated,
    fold=_Kept,
)
"""A member joins again under the id that it has, until a reply, a LeaveGroup or the end of the process takes it away.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="JoinGroup", version=9)
"""

RequiredMemberIdIsUsed: Final = Invariant(
    name="wire_required_member_id_is_used",
    family=FAMILY,
    claim="a client that is answered MEMBER_ID_REQUIRED joins again under the id in the reply, within its session "
    "timeout",
    source="KIP-394; AbstractCoordinator.JoinGroupResponseHandler",
    premises=(ONE_MEMBER, DISTURBED),
    exempted_by=DISTURBANCES,
    violation=RequiredMemberIdIsUsedViolated,
    fold=_Required,
)
"""A client that is answered MEMBER_ID_REQUIRED joins again under the id in the reply, within its session timeout.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, session_timeout_ms=1000)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", error="MEMBER_ID_REQUIRED",
                  assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="JoinGroup", version=9, session_timeout_ms=1000)
"""

LostMembershipIsNotUsed: Final = Invariant(
    name="wire_lost_membership_is_not_used",
    family=FAMILY,
    claim="a client that is answered UNKNOWN_MEMBER_ID does not join under that id again, and sends nothing under it, "
    "or under a generation that was refused with ILLEGAL_GENERATION, a session timeout later",
    source="AbstractCoordinator.HeartbeatResponseHandler, JoinGroupResponseHandler, SyncGroupResponseHandler",
    premises=(ONE_MEMBER, DISTURBED, "what was on its way when the membership was lost does not count"),
    exempted_by=DISTURBANCES,
    violation=LostMembershipIsNotUsedViolated,
    fold=_Lost,
)
"""A client does not go on under a member id or a generation that it has lost.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, member_id="m")
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", error="UNKNOWN_MEMBER_ID")
    RequestObserved(connection=1, process="p0", request=2, api="JoinGroup", version=9, member_id="m")
"""

GenerationIsTheLast: Final = Invariant(
    name="wire_generation_is_the_last",
    family=FAMILY,
    claim="Heartbeat, SyncGroup and OffsetCommit carry a generation that the member was accepted into, and none older "
    "than an earlier request on the connection",
    source="AbstractCoordinator.generation, generationIfStable",
    premises=(ONE_MEMBER, "a request without a generation is made outside of the group"),
    exempted_by=DISTURBANCES,
    violation=GenerationIsTheLastViolated,
    fold=_Generation,
)
"""Heartbeat, SyncGroup and OffsetCommit carry a generation that the member was accepted into, and no older one again.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="Heartbeat", version=4, member_id="m",
                    request_generation=2)
"""

CLAIMS: Final = (MemberIdIsKept, RequiredMemberIdIsUsed, LostMembershipIsNotUsed, GenerationIsTheLast)
"""In the order in which reports name them."""
