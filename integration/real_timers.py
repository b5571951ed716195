"""Lockstep on a socket with sessions that really run out: slower than `SocketTransport`, and nothing is simulated."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from rebalance_check.impl.messages import GroupReply, GroupRequest, HeartbeatRequest, JoinGroupReply, JoinGroupRequest
from rebalance_check.integration.socket_transport import SocketTransport
from rebalance_check.model.bounds import Bounds
from rebalance_check.model.errors import Error, RebalanceCheckError

KEEPER: Final = -3
"""The connection on which the harness sends heartbeats in the name of members that are to live on."""

HEARTBEAT_VERSION: Final = 4
SLACK_S: Final = 5.0


class RealTimeTransport(SocketTransport):
    """Sessions last ``session_timeout_ms``, which must lie within the broker's limits.

    All members, also dead ones whose session is not to expire yet, are kept alive by heartbeats of the harness; the one
    that `expire` names is left out until the broker has removed it. A pending id (KIP-394) cannot be kept alive, so the
    bounds may not ask for one.
    """

    def __init__(self, bootstrap: str, session_timeout_ms: int = 1_500) -> None:
        super().__init__(bootstrap)
        self._session_timeout_ms = session_timeout_ms
        self._generations: dict[str, int] = {}
        self._kept_at = 0.0

    def open(self, bounds: Bounds) -> None:
        """Begin with a fresh group."""
        if bounds.member_id_required:
            raise RebalanceCheckError(
                "with real timers a member id that was handed out expires before it is used: replay schedules of "
                "bounds with member_id_required=False"
            )
        self._generations.clear()
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
                self._generations[reply.member_id] = reply.generation_id
        if time.monotonic() - self._kept_at > self._session_timeout_ms / 4000:
            self._keep_alive(but="")
        return found

    def expire(self, member_id: str) -> None:
        """Wait until the broker has removed this member, and keep the others alive meanwhile."""
        deadline = time.monotonic() + self._session_timeout_ms / 1000 + SLACK_S
        self._generations.pop(member_id, None)
        while any(member.member_id == member_id for member in self.observe().described.members):
            if time.monotonic() >= deadline:
                raise RebalanceCheckError(
                    f"the session of {member_id} has not expired {SLACK_S:g} s after its {self._session_timeout_ms} "
                    "ms: check group.max.session.timeout.ms, or replay without real timers"
                )
            self._keep_alive(but=member_id)
            time.sleep(self._session_timeout_ms / 8000)

    def _keep_alive(self, *, but: str) -> None:
        """A heartbeat for each member of the group. A member that the broker has removed is forgotten."""
        generation = max(self._generations.values(), default=0)
        for member_id in sorted(self._generations):
            if member_id != but:
                self._open_group.request(
                    KEEPER,
                    HeartbeatRequest(
                        group_id=self.group_id, version=HEARTBEAT_VERSION, generation_id=generation, member_id=member_id
                    ),
                )
                if self._await_reply_on(KEEPER).error is Error.UNKNOWN_MEMBER_ID:
                    del self._generations[member_id]
        self._kept_at = time.monotonic()
