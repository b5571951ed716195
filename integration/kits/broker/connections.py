"""Many groups on few connections: each request goes out on one that nothing is in flight on."""

from __future__ import annotations

import selectors
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType, TracebackType
from typing import Final, Self

from rebalance_check.impl.protocol.messages import DescribedGroup, GroupReply, GroupRequest
from rebalance_check.integration.wire.call import Connection, UnreadableReplyError, split_address
from rebalance_check.integration.wire.described import described_group
from rebalance_check.integration.wire.kafka_python import admin
from rebalance_check.integration.wire.raw_group import MemberConnection
from rebalance_check.integration.wire.served import Served, capped_version

CLIENT_ID: Final = "py"
DESCRIBE_VERSION: Final = 5


class Connections:
    """Connections to one broker, as a context manager. One thread at a time.

    DescribeGroups is sent in no later version than ``served`` says.
    """

    def __init__(self, bootstrap: str, served: Served = MappingProxyType({})) -> None:
        self._served = served
        self._host = split_address(bootstrap)
        self._control = Connection(bootstrap)
        self._selector = selectors.DefaultSelector()
        self._idle: list[MemberConnection] = []
        self._busy: dict[MemberConnection, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in [*self._idle, *self._busy]:
            connection.socket.close()
        self._selector.close()
        self._control.close()

    def send(self, token: int, request: GroupRequest) -> None:
        """Send a request, under a number of its own."""
        connection = self._idle.pop() if self._idle else self._opened()
        self._busy[connection] = token
        connection.send(request)

    def replies(self, timeout_s: float = 0.0) -> list[tuple[int, GroupReply]]:
        """The replies that have arrived; where none has, the first that does within the time."""
        found: list[tuple[int, GroupReply]] = []
        for key, _ in self._selector.select(timeout_s):
            connection: MemberConnection = key.data
            for reply in self._received(connection):
                found.append((self._busy.pop(connection), reply))
                self._idle.append(connection)
        return found

    def describe(self, groups: Sequence[str]) -> dict[str, DescribedGroup]:
        """DescribeGroups of all at once, by group."""
        request = admin.DescribeGroupsRequest(groups=list(groups))
        response = self._control.call(request, capped_version(request, DESCRIBE_VERSION, self._served))
        return {group.group_id: without_hosts(described_group(group)) for group in response.groups}

    def _received(self, connection: MemberConnection) -> list[GroupReply]:
        try:
            return connection.receive()
        except UnreadableReplyError:
            raise
        except ConnectionError as error:
            what = " and ".join(f"{type(each).__name__} v{each.version}" for each in connection.in_flight) or "nothing"
            raise ConnectionError(f"the broker closed the connection with {what} in flight") from error

    def _opened(self) -> MemberConnection:
        connection = MemberConnection(0, self._host, CLIENT_ID)
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        return connection


def without_hosts(group: DescribedGroup) -> DescribedGroup:
    """A group as it looks from anywhere, its members in the order of their ids."""
    members = tuple(sorted((replace(each, client_host="") for each in group.members), key=lambda m: m.member_id))
    return replace(group, group_id="", members=members)
