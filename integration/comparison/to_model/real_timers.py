"""A conformance run on a socket with sessions that really run out: slower, and nothing is simulated."""

from __future__ import annotations

import time
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
)
from rebalance_check.integration.comparison.to_model.socket import SocketTransport
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.integration.wire.served import Served
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

KEEPER: Final = -3
"""The connection on which the harness sends heartbeats in the name of members that are to live on."""

HEARTBEAT_VERSION: Final = 4
SLACK_S: Final = 5.0
MAX_UNHEARD_GENERATIONS: Final = 20


class RealTimeTransport(SocketTransport):
    """Sessions last ``session_timeout_ms``, which must lie within the broker's limits.

    All members, also dead ones whose session is not to expire yet, are kept alive by heartbeats of the harness; the one
    that `expire` names is left out until the broker has removed it. A member that waits for the answer to its first
    JoinGroup needs none (Kafka gives it five minutes), and one would shorten that time. A pending id (KIP-394)
    cannot be kept alive, so the bounds may not ask for one.
    """

    def __init__(self, bootstrap: str, served: Served = MappingProxyType({}), session_timeout_ms: int = 3_000) -> None:
        super().__init__(bootstrap, served)
        self._session_timeout_ms = session_timeout_ms
        self._answered: set[str] = set()
        self._disconnected: set[str] = set()
        self._generation = 1
        self._kept_at = 0.0

    def open(self, bounds: Bounds) -> None:
        """Begin with a new group. Raises `RebalanceCheckError` when the bounds require member ids."""
        if bounds.member_id_required:
            raise RebalanceCheckError(
                "with real timers a member id that was handed out expires before it is used: replay schedules of "
                "bounds with member_id_required=False"
            )
        self._answered.clear()
        self._disconnected.clear()
        self._generation = 1
        self._kept_at = time.monotonic()
        super().open(bounds)

    def request(self, connection: int, request: GroupRequest) -> None:
        """Send a request, a JoinGroup with the short session."""
        if isinstance(request, JoinGroupRequest):
            request = replace(request, session_timeout_ms=self._session_timeout_ms)
        super().request(connection, request)

    def answers(self, at_least: int) -> list[tuple[int, GroupReply]]:
        """The answers, after which everybody's session is good for a while."""
        found = super().answers(at_least)
        for _connection, reply in found:
            if isinstance(reply, JoinGroupReply) and reply.error is Error.NONE:
                self._answered.add(reply.member_id)
                self._generation = max(self._generation, reply.generation_id)
        if time.monotonic() - self._kept_at > self._session_timeout_ms / 4000:
            self._keep_alive(but="")
        return found

    def disconnect(self, connection: int) -> None:
        """Close the member's connections: whether it was answered on them is not known any more."""
        self._disconnected.add(f"m{connection}")
        super().disconnect(connection)

    def expire(self, member_id: str) -> None:
        """Wait until the broker has removed this member, and keep the others alive meanwhile.

        Raises `RebalanceCheckError` when the member is not removed in time.
        """

        def probe() -> NotYet | bool:
            if all(member.member_id != member_id for member in self.observe().described.members):
                return True
            self._keep_alive(but=member_id)
            return NotYet()

        await_until(
            probe, timeout_s=self._session_timeout_ms / 1000 + SLACK_S, pause_s=self._session_timeout_ms / 8000,
            otherwise=f"the session of {member_id}, {self._session_timeout_ms} ms, has not expired",
            hint="check group.max.session.timeout.ms, or replay without real timers",
        )  # fmt: skip

    def _keep_alive(self, *, but: str) -> None:
        """A heartbeat for each member of the group that may need one."""
        for member in self.observe().described.members:
            known = member.member_id in self._answered or member.client_id in self._disconnected
            if known and member.member_id != but:
                self._beat(member.member_id)
        self._kept_at = time.monotonic()

    def _beat(self, member_id: str) -> None:
        """A heartbeat in the group's generation, which may be one that no member lived to hear of."""
        for _ in range(MAX_UNHEARD_GENERATIONS):
            beat = HeartbeatRequest(
                group_id=self.group_id,
                version=HEARTBEAT_VERSION,
                generation_id=self._generation,
                member_id=member_id,
            )
            self._open_group.request(KEEPER, beat)
            if self._await_reply_on(KEEPER).error is not Error.ILLEGAL_GENERATION:
                return
            self._generation += 1
