"""The raw driver: group requests on sockets, exactly as given, without a client's opinions in between.

A broker handles one request of a connection at a time, so a JoinGroup that it parks blocks whatever is sent behind it.
Each request therefore gets a connection with nothing in flight: the member's last one when it is idle, else a new one.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque
from dataclasses import replace
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from rebalance_check.impl.protocol.messages import GroupReply, GroupRequest
from rebalance_check.integration.wire.call import Connection, reading, split_address
from rebalance_check.integration.wire.kafka_python import KafkaProtocol, admin, metadata
from rebalance_check.integration.wire.replies import reply_from_wire
from rebalance_check.integration.wire.requests import request_to_wire
from rebalance_check.integration.wire.served import Served, capped
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

RECEIVE_BYTES: Final = 1 << 16
CONNECT_TIMEOUT_S: Final = 10.0

BARRIER_ROUND_TRIPS: Final = 2
"""See `RawGroup.barrier`."""


class MemberConnection:
    """One connection of one member: what is in flight on it, and the bytes that have come back."""

    __slots__ = ("in_flight", "member", "protocol", "socket")

    def __init__(self, member: int, address: tuple[str, int], client_id: str) -> None:
        self.member = member
        self.in_flight: deque[GroupRequest] = deque()
        self.protocol: Any = KafkaProtocol(client_id=client_id)
        self.socket = socket.create_connection(address, timeout=CONNECT_TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._await_registration()

    def _await_registration(self) -> None:
        """One round trip. A new connection passes from the broker's acceptor to a network thread at its leisure; before
        that a request would lie unread, and `RawGroup.barrier` would not wait for it."""
        request = metadata.ApiVersionsRequest()
        request.API_VERSION = 0
        self.protocol.send_request(request)
        self.socket.sendall(self.protocol.send_bytes())
        while not self.protocol.receive_bytes(data := self.socket.recv(RECEIVE_BYTES)):
            if not data:
                raise ConnectionError("the broker closed a new connection")

    def send(self, request: GroupRequest) -> None:
        """Send a request."""
        self.in_flight.append(request)
        self.protocol.send_request(request_to_wire(request))
        self.socket.sendall(self.protocol.send_bytes())

    def receive(self) -> list[GroupReply]:
        """The replies in the bytes that are there; `ConnectionError` at the end of the stream."""
        data = self.socket.recv(RECEIVE_BYTES)
        if not data:
            raise ConnectionError("the broker closed the connection")
        awaited = next((f"{type(each).__name__} v{each.version}" for each in self.in_flight), "no request")
        with reading(awaited):
            received = self.protocol.receive_bytes(data)
            return [reply_from_wire(response, self.in_flight.popleft()) for _correlation_id, response in received]


class RawGroup:
    """One group on one broker, driven request by request; members are numbers. One thread at a time, a context manager.

    ``bootstrap`` is the address of the coordinator, ``group_id`` replaces the group of every request, and member ``n``
    sends under the client id ``m<n>``. No request is sent in a later version than ``served`` says.
    """

    def __init__(self, bootstrap: str, group_id: str, served: Served = MappingProxyType({})) -> None:
        self.group_id = group_id
        self._served = served
        self.sent = 0
        self._bootstrap = bootstrap
        self._address = split_address(bootstrap)
        self._selector = selectors.DefaultSelector()
        self._connections: dict[int, list[MemberConnection]] = {}
        self._control: Connection | None = None

    def request(self, member: int, request: GroupRequest) -> None:
        """Send a request; it has arrived in the broker's socket when this returns, and is not yet handled."""
        self.sent += 1
        self._idle_connection(member).send(capped(replace(request, group_id=self.group_id), self._served))

    def replies(self, *, at_least: int, timeout_s: float) -> list[tuple[int, GroupReply]]:
        """The replies that arrive until there are ``at_least`` so many or the time is over, then all that are there.

        Each comes with its member, in the order of arrival. `RebalanceCheckError` when the broker closes a connection
        that a request is in flight on.
        """
        found: list[tuple[int, GroupReply]] = []
        deadline = time.monotonic() + timeout_s
        while True:
            left = max(deadline - time.monotonic(), 0) if len(found) < at_least else 0
            ready = self._selector.select(left)
            for key, _events in ready:
                found.extend(self._receive(key.data))
            if not ready and (len(found) >= at_least or time.monotonic() >= deadline):
                return found

    def barrier(self) -> None:
        """Return when every request sent before was handled, even one that the broker parks without an answer.

        A DescribeGroups goes through the coordinator's queue behind what was enqueued before it. A first round trip
        may overtake a request that lies unread in its socket (a network thread reads all sockets that are ready, in no
        certain order, before it looks again); a second one cannot. With one network and one request handler thread,
        as our brokers are set up, this is an order, not a likelihood.
        """
        if self._control is None:
            self._control = Connection(self._bootstrap)
        for _ in range(BARRIER_ROUND_TRIPS):
            self._control.call(admin.DescribeGroupsRequest(groups=[self.group_id]), 1)

    def disconnect(self, member: int) -> None:
        """Close all connections of a member: what is in flight on them is never answered."""
        for connection in self._connections.pop(member, []):
            self._selector.unregister(connection.socket)
            connection.socket.close()

    def close(self) -> None:
        """Close every connection."""
        for member in list(self._connections):
            self.disconnect(member)
        self._selector.close()
        if self._control is not None:
            self._control.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _idle_connection(self, member: int) -> MemberConnection:
        connections = self._connections.setdefault(member, [])
        for connection in connections:
            if not connection.in_flight:
                return connection
        connection = MemberConnection(member, self._address, f"m{member}")
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        connections.append(connection)
        return connection

    def _receive(self, connection: MemberConnection) -> list[tuple[int, GroupReply]]:
        try:
            return [(connection.member, reply) for reply in connection.receive()]
        except ConnectionError as error:
            pending = ", ".join(type(request).__name__ for request in connection.in_flight) or "nothing"
            raise RebalanceCheckError(
                f"the broker at {self._bootstrap} closed the connection of m{connection.member} with {pending} in "
                "flight: see the broker's log"
            ) from error
