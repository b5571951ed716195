"""Static members (KIP-345): the instance id that they send, what a restart changes, and how they end."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import RequestObserved
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.wire.client import Client
from rebalance_check.properties.wire.clients import OF_MEMBERS
from rebalance_check.properties.wire.errors import FENCED_INSTANCE_ID
from rebalance_check.properties.wire.wire_fold import (
    DISTURBANCES,
    DISTURBED,
    FAMILY,
    ONE_MEMBER,
    RequestFold,
    UntilTheEndFold,
)

INSTANCE_SINCE: Final = {Api.JOIN_GROUP: 5, Api.SYNC_GROUP: 3, Api.HEARTBEAT: 3, Api.OFFSET_COMMIT: 7}
"""The first version of each request that has a place for the instance id."""


class InstanceIdIsSentViolated(Violation):
    """A static member sent a request without its instance id, or with another."""


class StaticRestartViolated(Violation):
    """A restarted static member came back under another instance id, or with a member id."""


class StaticMemberStaysViolated(Violation):
    """A static member left its group."""


class FencedMemberStopsViolated(Violation):
    """A member that was fenced went on, or came back."""


def said_instance(request: RequestObserved) -> str:
    """The instance id of a request, in words."""
    return f"the instance id {request.instance_id}" if request.instance_id else "no instance id"


class _Sent(RequestFold):
    apis = OF_MEMBERS

    def look(self, client: Client, event: RequestObserved) -> None:
        """Where the version of the request has a place for it."""
        join = client.join
        if join is None or not join.instance_id or event.version < INSTANCE_SINCE[Api(event.api)]:
            return
        other = event.instance_id != join.instance_id
        self.test(
            f"{client.name} sends {event.api} with {said_instance(event)}, and joined as {join.instance_id}"
            if other
            else "",
            (f"{client.name} joined as {join.instance_id} at {STEP};", join),
            at=event,
        )


class _Restart(RequestFold):
    apis = frozenset({Api.JOIN_GROUP})

    def look(self, client: Client, event: RequestObserved) -> None:
        """The first JoinGroup of a process that was a static member before."""
        before = client.process.joined_before
        if client.join is not None or before is None or not before.instance_id:
            return
        fault = ""
        if event.instance_id != before.instance_id:
            fault = f"{client.name} comes back with {said_instance(event)}"
        elif event.member_id:
            fault = f"{client.name} comes back with the member id {event.member_id}, which this run was not given"
        self.test(
            fault,
            (f"{client.name} joined as {before.instance_id} at {STEP}, before its restart;", before),
            (f"its process was started again at {STEP};", client.process.started),
            at=event,
        )


class _Stays(UntilTheEndFold):
    apis = frozenset({Api.LEAVE_GROUP})

    def concerns(self, client: Client) -> bool:
        """One that was asked to end could have left."""
        return client.is_static and client.is_member and client.is_ending

    def look(self, client: Client, event: RequestObserved) -> None:
        """A LeaveGroup about others is an administrator's."""
        join = client.join
        if join is None or not join.instance_id or not event.leaving:
            return
        if not any(member == client.member_id or instance == join.instance_id for member, instance in event.leaving):
            return
        self.test(
            f"{client.name} leaves the group",
            (
                f"{client.name} joined as {join.instance_id} at {STEP}, so its place is kept until its session ends;",
                join,
            ),
            at=event,
        )


class _Fenced(UntilTheEndFold):
    apis = OF_MEMBERS

    def concerns(self, client: Client) -> bool:
        """A fenced client that ends has stopped."""
        return client.fenced is not None

    def look(self, client: Client, event: RequestObserved) -> None:
        """A request may have been on its way; a JoinGroup that follows a refused one, or drops the id, was not."""
        fenced = client.fenced
        if fenced is None or event.instance_id != fenced.request.instance_id:
            return
        since_ms = max(fenced.time_ms, client.disturbed_ms)
        late = not client.may_be_paused and event.time_ms - since_ms > client.session_ms
        refused = client.chain is not None and client.chain.reply.error == FENCED_INSTANCE_ID
        knows = event.api == Api.JOIN_GROUP and (refused or event.member_id != fenced.request.member_id)
        self.test(
            f"{client.name} sends {event.api} as {event.instance_id}" if late or knows else "",
            (f"{client.name} received FENCED_INSTANCE_ID in reply to its {fenced.request.api} at {STEP}: another "
             f"client has taken the place of {event.instance_id};", fenced.reply),
            at=event,
        )  # fmt: skip


InstanceIdIsSent: Final = Invariant(
    name="wire_instance_id_is_sent",
    family=FAMILY,
    claim="a client that joined with an instance id sends it in every JoinGroup, SyncGroup, Heartbeat and OffsetCommit "
    "whose version has a place for it",
    source="KIP-345; AbstractCoordinator, ConsumerCoordinator.sendOffsetCommitRequest",
    premises=(ONE_MEMBER,),
    exempted_by=DISTURBANCES,
    violation=InstanceIdIsSentViolated,
    fold=_Sent,
)
"""A client that joined with an instance id sends it in every later request of a member.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, instance_id="i0")
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5)
"""

StaticRestart: Final = Invariant(
    name="wire_static_restart",
    family=FAMILY,
    claim="a process that was a static member comes back, when it is started again, with the same instance id and "
    "without a member id",
    source="KIP-345; GroupMetadataManager.classicGroupJoinNewStaticMember",
    premises=(ONE_MEMBER, "the harness starts a process of one name with one instance id"),
    exempted_by=DISTURBANCES,
    violation=StaticRestartViolated,
    fold=_Restart,
)
"""A restarted static member comes back with the same instance id and without a member id.

The smallest history that breaks it::

    ProcessStarted(process="p0")
    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, instance_id="i0")
    ProcessStarted(process="p0", run=2)
    RequestObserved(connection=2, process="p0", request=2, api="JoinGroup", version=9, instance_id="i1")
"""

StaticMemberStays: Final = Invariant(
    name="wire_static_member_stays",
    family=FAMILY,
    claim="a client that joined with an instance id sends no LeaveGroup about itself",
    source="KIP-345; AbstractCoordinator.maybeLeaveGroup",
    premises=(ONE_MEMBER, "the application does not ask for it (CloseOptions of KIP-1092)"),
    exempted_by=DISTURBANCES,
    violation=StaticMemberStaysViolated,
    fold=_Stays,
)
"""A client that joined with an instance id sends no LeaveGroup about itself.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, instance_id="i0")
    RequestObserved(connection=1, process="p0", request=2, api="LeaveGroup", version=5, leaving=(("m", "i0"),))
"""

FencedMemberStops: Final = Invariant(
    name="wire_fenced_member_stops",
    family=FAMILY,
    claim="a client that is answered FENCED_INSTANCE_ID does not join under that instance id again, and sends nothing "
    "under it a session timeout later",
    source="KIP-345; AbstractCoordinator.HeartbeatResponseHandler, JoinGroupResponseHandler",
    premises=(
        ONE_MEMBER,
        DISTURBED,
        "the application ends at an error that its client calls fatal",
        "what was on its way when the member was fenced does not count",
    ),
    exempted_by=DISTURBANCES,
    violation=FencedMemberStopsViolated,
    fold=_Fenced,
)
"""A client that is answered FENCED_INSTANCE_ID stops: another client has taken its place.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, member_id="m", instance_id="i0")
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", error="FENCED_INSTANCE_ID")
    RequestObserved(connection=1, process="p0", request=2, api="JoinGroup", version=9, member_id="m", instance_id="i0")
"""

CLAIMS: Final = (InstanceIdIsSent, StaticRestart, StaticMemberStays, FencedMemberStops)
"""In the order in which reports name them."""
