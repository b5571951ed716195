"""A group on a broker's socket, as scenarios drive a coordinator: a request goes out, and its replies are awaited."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from rebalance_check.impl.protocol.messages import DescribedGroup, GroupReply, GroupRequest
from rebalance_check.impl.steered.coordinator import Answers
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.kits.broker.connections import Connections
from rebalance_check.integration.kits.broker.target import DEADLINE_S
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import admin
from rebalance_check.integration.wire.replies import error_from_wire
from rebalance_check.integration.wire.served import capped, capped_version
from rebalance_check.model.vocabulary.errors import Error

QUIET_S: Final = 0.5
"""A request without a reply for so long counts as parked."""


class SocketCoordinator:
    """A scenario's access to the group ``group_id`` on ``broker``, by any name in the scenario: requests, real time,
    DescribeGroups and DeleteGroups. A context manager.

    The caller says before each line with `expect` how many replies the line is to bring: they are waited for up to
    `DEADLINE_S`. Others are taken as they come.
    """

    def __init__(self, broker: Broker, group_id: str) -> None:
        self._broker = broker
        self._group_id = group_id
        self._connections = Connections(broker.bootstrap, broker.served)
        self._due = 0
        self._now_ms = 0

    def expect(self, replies: int) -> None:
        """So many replies are due on the next line."""
        self._due = replies

    def handle(self, token: Hashable, request: GroupRequest, now_ms: int) -> Answers:  # noqa: ARG002 - time is real
        """Send a request; the replies until all replies that are due are there, or until it is quiet."""
        assert isinstance(token, int)
        mine = capped(replace(request, group_id=self._group_id), self._broker.served)
        self._connections.send(token, mine)
        return self._replies(DEADLINE_S if self._due else QUIET_S)

    def advance(self, now_ms: int) -> Answers:
        """Wait, for real; the replies meanwhile."""
        until = time.monotonic() + (now_ms - self._now_ms) / 1000
        self._now_ms = now_ms
        found: list[tuple[Hashable, GroupReply]] = []
        while (left := until - time.monotonic()) > 0:
            found += self._arrived(left)
        return found

    def describe(self, _group_id: str) -> DescribedGroup:
        """DescribeGroups."""
        return self._connections.describe([self._group_id])[self._group_id]

    def delete(self, _group_id: str) -> Error:
        """DeleteGroups."""
        request = admin.DeleteGroupsRequest(groups_names=[self._group_id])
        with Connection(self._broker.bootstrap, timeout_s=DEADLINE_S) as connection:
            reply = connection.call(request, capped_version(request, 2, self._broker.served))
        return error_from_wire(reply.results[0].error_code)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connections.__exit__(kind, error, trace)

    def _replies(self, timeout_s: float) -> Answers:
        until = time.monotonic() + timeout_s
        found: list[tuple[Hashable, GroupReply]] = []
        while (left := until - time.monotonic()) > 0:
            found += self._arrived(left)
            if found and len(found) >= self._due:
                break
        self._due = max(self._due - len(found), 0)
        return found

    def _arrived(self, timeout_s: float) -> Sequence[tuple[Hashable, GroupReply]]:
        return self._connections.replies(timeout_s)
