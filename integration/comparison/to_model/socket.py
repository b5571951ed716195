"""A group on a broker's socket as the `Transport` of a conformance run."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from rebalance_check.impl.comparison.to_model.transport import SIDE_CONNECTION
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    MemberIdentity,
)
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.described import described_group
from rebalance_check.integration.wire.kafka_python import admin
from rebalance_check.integration.wire.raw_group import RawGroup
from rebalance_check.integration.wire.replies import error_from_wire
from rebalance_check.integration.wire.served import Served, capped_version
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.group_status import GroupStatus

ANSWER_TIMEOUT_S: Final = 10.0
"""How long an answer that the model predicts may take; without it, the run ends with a difference."""

STRAGGLER_TIMEOUT_S: Final = 0.2
"""How long to wait behind a barrier for an answer that waits for a write (a leader's SyncGroup) and may not be due."""

REPLY_CHECK_S: Final = 0.5
"""The longest single wait on the sockets for the reply on one connection; the waits add up to `ANSWER_TIMEOUT_S`."""

PATIENCE_S: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.6)

LONGEST_SESSION_MS: Final = 300_000
"""The longest session timeout that brokers allow everywhere: kfake refuses more, as Kafka did before 3.0."""

EXPIRY: Final = -2
"""The connection on which sessions are ended in the name of their members."""

DESCRIBE_VERSION: Final = 5
LEAVE_VERSION: Final = 5


class SocketTransport:
    """One group on the broker at ``bootstrap``. Every `open` begins with a group that no run used before.

    A session ends by a LeaveGroup in the member's name: to the coordinator that is the same removal, without the wait.
    No request is sent in a later version than ``served`` says.
    """

    def __init__(self, bootstrap: str, served: Served = MappingProxyType({})) -> None:
        self._bootstrap = bootstrap
        self._served = served
        self._group: RawGroup | None = None
        self._control: Connection | None = None
        self._early: list[tuple[int, GroupReply]] = []
        self.requests = 0

    @property
    def group_id(self) -> str:
        """The group of the present run."""
        return self._open_group.group_id

    @property
    def _open_group(self) -> RawGroup:
        if self._group is None:
            raise RebalanceCheckError("no run is open on this transport: open one first")
        return self._group

    def open(self, bounds: Bounds) -> None:
        """Begin with a new group. The brokers of this suite have no initial delay, so ``bounds`` may have none.

        Raises `RebalanceCheckError` when the bounds have an initial delay.
        """
        if bounds.initial_delay:
            raise RebalanceCheckError(
                "a broker on a socket runs without an initial rebalance delay: replay schedules of bounds with "
                "initial_delay=False"
            )
        self.close()
        self._group = RawGroup(self._bootstrap, f"replay-{uuid.uuid4().hex[:12]}", self._served)
        self._control = Connection(self._bootstrap)

    def request(self, connection: int, request: GroupRequest) -> None:
        """Send a request on a connection that nothing is in flight on."""
        self.requests += 1
        if isinstance(request, JoinGroupRequest):
            request = replace(request, session_timeout_ms=min(request.session_timeout_ms, LONGEST_SESSION_MS))
        self._open_group.request(connection, request)

    def answers(self, at_least: int) -> list[tuple[int, GroupReply]]:
        """The answers since the last call; waits for ``at_least`` of them, or until it is certain that none comes.

        A late copy of a request may be answered on its own connection without being counted in ``at_least``: then it
        takes a barrier to know that nothing is left behind.
        """
        early, self._early = self._early, []
        found = early + self._replies(at_least - len(early), ANSWER_TIMEOUT_S)
        if any(connection == SIDE_CONNECTION for connection, _ in found):
            found += self._replies(0, 0)
            counted = sum(connection != SIDE_CONNECTION for connection, _ in found)
            if counted < at_least:
                found += self._replies(at_least - counted, STRAGGLER_TIMEOUT_S)
        return found

    def _replies(self, at_least: int, timeout_s: float) -> list[tuple[int, GroupReply]]:
        if at_least <= 0:
            self._open_group.barrier()
        return self._open_group.replies(at_least=at_least, timeout_s=timeout_s)

    def disconnect(self, connection: int) -> None:
        """Close the member's connections."""
        self._open_group.disconnect(connection)

    def expire(self, member_id: str) -> None:
        """End the session of a member: a LeaveGroup that names it."""
        leaver = (MemberIdentity(member_id),)
        request = LeaveGroupRequest(group_id=self.group_id, version=LEAVE_VERSION, members=leaver)
        self.request(EXPIRY, request)
        self._await_reply_on(EXPIRY)

    def expire_initial_delay(self) -> None:
        """There is none; see `open`. Raises `RebalanceCheckError` always."""
        raise RebalanceCheckError("a broker on a socket runs without an initial rebalance delay: it cannot pass")

    def expire_rebalance(self) -> None:
        """Unsupported on a socket; raises RebalanceCheckError."""
        raise _too_long("rebalance")

    def expire_sync(self) -> None:
        """Unsupported on a socket; raises RebalanceCheckError."""
        raise _too_long("sync")

    def delete_group(self) -> Error:
        """DeleteGroups."""
        request = admin.DeleteGroupsRequest(groups_names=[self.group_id])
        response = self._call(request, 2)
        return error_from_wire(response.results[0].error_code)

    def observe(self) -> Observation:
        """DescribeGroups; generation and leader cannot be seen from outside, nor, outside Stable, every assignment."""
        response = self._call(admin.DescribeGroupsRequest(groups=[self.group_id]), DESCRIBE_VERSION)
        described = described_group(response.groups[0])
        shows = described.state == GroupStatus.STABLE or any(member.assignment for member in described.members)
        return Observation(described, shows_assignments=shows)

    def may_change(self, patience: int) -> bool:
        """Waits ever longer, a second in all: a join phase that no member is left in, or that has no delay, ends by a
        timer of 0 ms, which a busy machine may keep waiting."""
        if patience >= len(PATIENCE_S):
            return False
        time.sleep(PATIENCE_S[patience])
        return True

    def prefer_leader(self, prefix: str) -> None:
        """Does nothing: a broker elects its leader by itself."""

    def close(self) -> None:
        """Close every connection. The group's remains at the broker end with the broker."""
        if self._group is not None:
            self._group.close()
            self._group = None
        if self._control is not None:
            self._control.close()
            self._control = None
        self._early = []

    def _call(self, request: Any, version: int) -> Any:
        if self._control is None:
            raise RebalanceCheckError("no run is open on this transport: open one first")
        return self._control.call(request, capped_version(request, version, self._served))

    def _await_reply_on(self, connection: int) -> GroupReply:
        """Wait for the reply on one connection; others that come meanwhile are kept for `answers`."""
        replies = await_until(
            lambda: self._replies_on(connection), timeout_s=ANSWER_TIMEOUT_S, pause_s=0,
            otherwise=f"the broker at {self._bootstrap} has not answered a LeaveGroup", hint="see its log",
        )  # fmt: skip
        return replies[0]

    def _replies_on(self, connection: int) -> list[GroupReply] | NotYet:
        found = self._open_group.replies(at_least=1, timeout_s=REPLY_CHECK_S)
        self._early += [pair for pair in found if pair[0] != connection]
        return [reply for each, reply in found if each == connection] or NotYet()


def _too_long(timer: str) -> RebalanceCheckError:
    return RebalanceCheckError(
        f"on a socket the {timer} timeout takes as long as the members asked for, half an hour: replay schedules of "
        "bounds with timeouts=False, or on virtual Kafka"
    )
