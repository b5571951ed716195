"""Heartbeats (KIP-62): as a member only, not while joining, and often enough while settled."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import Event, ReplyObserved, RequestObserved
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.wire.client import CHAIN, Client
from rebalance_check.properties.wire.clients import OF_MEMBERS
from rebalance_check.properties.wire.wire_fold import DISTURBANCES, DISTURBED, FAMILY, ONE_MEMBER, RequestFold, WireFold

_HEARTBEAT: Final = frozenset({Api.HEARTBEAT})


class HeartbeatsAsAMemberViolated(Violation):
    """A client sent a heartbeat before a JoinGroup of its own was accepted."""


class NoHeartbeatWhileJoiningViolated(Violation):
    """A client sent heartbeats while its JoinGroup was open."""


class HeartbeatsKeepTheSessionViolated(Violation):
    """A settled member was silent for longer than its session timeout."""


class _AsMember(RequestFold):
    apis = _HEARTBEAT

    def look(self, client: Client, event: RequestObserved) -> None:
        """A recording that begins in the middle shows no JoinGroup of the member: then nothing is known."""
        anonymous = event.member_id == "" or event.request_generation == NO_GENERATION
        pending = event.member_id == client.member_id and not client.is_member and client.fenced is None
        if client.join is None and not anonymous:
            return
        under = f"under the id {event.member_id}" if event.member_id else "without a member id"
        self.test(
            f"{client.name} sends a heartbeat {under}, and is no member" if anonymous or pending else "",
            self._why(client),
            at=event,
        )

    def _why(self, client: Client) -> tuple[str, Event | None]:
        if client.lost is None:
            return "no JoinGroup of its own was accepted so far;", None
        return f"{client.name} received {client.lost.reply.error} at {STEP};", client.lost.reply


class _WhileJoining(RequestFold):
    apis = _HEARTBEAT

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant)
        self._before: dict[Client, RequestObserved] = {}

    def look(self, client: Client, event: RequestObserved) -> None:
        """One heartbeat may have been on its way, on another connection."""
        join = client.joining
        if join is None:
            self._before.pop(client, None)
            self.tested()
            return
        again = self._before.get(client) is join
        self._before[client] = join
        self.test(
            f"{client.name} sends a heartbeat while its JoinGroup is open"
            if again or join.connection == event.connection else "",
            (f"{client.name} sent JoinGroup at {STEP}, and no reply passed;", join),
            at=event,
        )  # fmt: skip


class _KeepsSession(WireFold):
    """Per client, from its assignment on: the time since its last request."""

    def __init__(self, invariant: Invariant) -> None:
        super().__init__(invariant, {RequestObserved: self.on_event, ReplyObserved: self.on_event})
        self._blamed: dict[Client, RequestObserved | None] = {}
        self._next_ms = 0

    def on_event(self, event: RequestObserved | ReplyObserved) -> None:
        """Look at the sender, and at all others once the first of them may have been silent for too long."""
        client = self.memory.client
        is_own = isinstance(event, RequestObserved) and event.api in OF_MEMBERS
        if client is not None and is_own and self._is_settled(client) and not client.may_be_paused:
            self.tested(event.api == Api.HEARTBEAT)
            self._look(client, event)
        if event.time_ms > self._next_ms:
            self._look_at_all(event)

    def _look_at_all(self, event: RequestObserved | ReplyObserved) -> None:
        """Static members may fall silent after the poll timeout."""
        judged = [client for client in self.memory.clients.values() if self._must_speak(client)]
        for client in judged:
            self._look(client, event)
        self._next_ms = min((self._since(client) + client.session_ms for client in judged), default=event.time_ms)

    def _must_speak(self, client: Client) -> bool:
        is_running = client.process.is_known and not client.is_ending
        return is_running and not client.is_static and self._is_settled(client) and not self._is_blamed(client)

    def _is_blamed(self, client: Client) -> bool:
        return client in self._blamed and self._blamed[client] is client.spoke

    def _is_settled(self, client: Client) -> bool:
        """Whether heartbeats alone keep it in the group; a JoinGroup or SyncGroup that is open keeps it, too."""
        has_assignment = client.applied is not None and client.applied is client.round
        return (
            client.session_ms > 0
            and has_assignment
            and client.is_member
            and client.lost is None
            and not client.waits_for(*CHAIN)
        )

    def _since(self, client: Client) -> int:
        spoke_ms = client.spoke.time_ms if client.spoke else 0
        synced = client.applied.synced if client.applied else None
        return max(spoke_ms, synced.time_ms if synced else 0, client.disturbed_ms)

    def _look(self, client: Client, event: RequestObserved | ReplyObserved) -> None:
        silent_ms = event.time_ms - self._since(client)
        if silent_ms <= client.session_ms or client.is_hindered or self._is_blamed(client):
            return
        self._blamed[client] = client.spoke
        self.contradiction(
            f"{client.name} was silent for {silent_ms} ms, and its session timeout is {client.session_ms} ms",
            (f"{client.name} sent its last request at {STEP};", client.spoke),
            (f"it was a member of the group and is silent until {STEP}: contradiction.", event),
        )


HeartbeatsAsAMember: Final = Invariant(
    name="wire_heartbeats_as_a_member",
    family=FAMILY,
    claim="a client sends heartbeats only after a JoinGroup of its own was accepted, with member id and generation",
    source="KIP-62; AbstractCoordinator.HeartbeatThread",
    premises=(ONE_MEMBER,),
    exempted_by=DISTURBANCES,
    violation=HeartbeatsAsAMemberViolated,
    fold=_AsMember,
)
"""A client sends heartbeats only after a JoinGroup of its own was accepted.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", error="MEMBER_ID_REQUIRED",
                  assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="Heartbeat", version=4, member_id="m")
"""

NoHeartbeatWhileJoining: Final = Invariant(
    name="wire_no_heartbeat_while_joining",
    family=FAMILY,
    claim="a client sends no heartbeat while its JoinGroup is open",
    source="KIP-62; AbstractCoordinator.HeartbeatThread (disabled in PREPARING_REBALANCE)",
    premises=(ONE_MEMBER, "one heartbeat on another connection may have been on its way"),
    exempted_by=DISTURBANCES,
    violation=NoHeartbeatWhileJoiningViolated,
    fold=_WhileJoining,
)
"""A client sends no heartbeat while its JoinGroup is open: the coordinator expires no session meanwhile.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="Heartbeat", version=4, member_id="m")
"""

HeartbeatsKeepTheSession: Final = Invariant(
    name="wire_heartbeats_keep_the_session",
    family=FAMILY,
    claim="a member that has its assignment is not silent for longer than its session timeout, until it leaves",
    source="KIP-62; Heartbeat, session.timeout.ms",
    premises=(ONE_MEMBER, DISTURBED, "a static member may fall silent for good"),
    exempted_by=DISTURBANCES,
    violation=HeartbeatsKeepTheSessionViolated,
    fold=_KeepsSession,
)
"""A member that has its assignment is not silent for longer than its session timeout.

The smallest history that breaks it::

    RequestObserved(connection=1, process="p0", request=1, api="JoinGroup", version=9, session_timeout_ms=1000)
    ReplyObserved(connection=1, process="p0", request=1, api="JoinGroup", reply_generation=1, assigned_member_id="m")
    RequestObserved(connection=1, process="p0", request=2, api="SyncGroup", version=5, member_id="m",
                    request_generation=1)
    ReplyObserved(connection=1, process="p0", request=2, api="SyncGroup")
    RequestObserved(connection=1, process="p0", request=3, api="Heartbeat", version=4, member_id="m",
                    request_generation=1, time_ms=1001)
"""

CLAIMS: Final = (HeartbeatsAsAMember, NoHeartbeatWhileJoining, HeartbeatsKeepTheSession)
"""In the order in which reports name them."""
