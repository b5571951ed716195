"""A live broker, asked frame by frame, each on a connection on which nothing is in flight."""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Collection
from typing import Any, Final

from rebalance_check.integration.brokers.readiness import COORDINATES_NOT_YET
from rebalance_check.integration.comparison.requests.sides import Answers
from rebalance_check.integration.waiting import ask_until
from rebalance_check.integration.wire.call import Connection, split_address
from rebalance_check.integration.wire.frames import read_prefix
from rebalance_check.integration.wire.kafka_python import admin, consumer, metadata
from rebalance_check.integration.wire.messages import read_request, read_response
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

PATIENCE_S: Final = 5.0
"""How long the broker may take for an answer that the other side gives at once."""
PAUSE_S: Final = 0.002
READY_S: Final = 60.0
NOT_YET: Final = COORDINATES_NOT_YET - {Error.NONE}
"""A broker's errors until its coordinators are there; all its other answers are compared."""
DESCRIBE_VERSION: Final = 4
BARRIER_ROUND_TRIPS: Final = 2
"""As in `rebalance_check.integration.wire.raw_group.RawGroup.barrier`."""

_LENGTH: Final = struct.Struct(">i")
_HELLO: Final = struct.pack(">ihhih", 10, 18, 0, 0, -1)
"""An ApiVersions in version 0: a connection that has answered it is read."""


class FrameConnection:
    """One connection: bytes of a request out, bytes of its answer in."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self.number: int | None = None
        self.socket.sendall(_HELLO)
        while self.receive() == b"":
            continue

    def send(self, number: int, frame: bytes) -> None:
        """Send a request."""
        self.number = number
        self.socket.sendall(_LENGTH.pack(len(frame)) + frame)

    def receive(self) -> bytes | None:
        """The answer, as soon as all of it is there; empty before that; None at the end of the connection."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            return None
        self._received += data
        if len(self._received) < _LENGTH.size:
            return b""
        end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
        if len(self._received) < end:
            return b""
        answer, self._received = self._received[_LENGTH.size : end], self._received[end:]
        return answer


class LiveSide:
    """The broker at an address; time passes there as it does.

    Raises: RebalanceCheckError where it does not coordinate groups and transactions within a minute.
    """

    def __init__(self, bootstrap: str) -> None:
        self._address = split_address(bootstrap)
        self._control = Connection(bootstrap)
        self._selector = selectors.DefaultSelector()
        self._idle: list[FrameConnection] = []
        self._arrived: Answers = {}
        self._known: set[str] = set()
        self._sent = -1
        self._await_coordinators()
        self._control.call(admin.DeleteGroupsRequest(groups_names=[""]), 1)  # perhaps left by another seed

    def _await_coordinators(self) -> None:
        def errors() -> list[int]:
            ask = metadata.FindCoordinatorRequest
            found = [self._control.call(ask(key="wire-random", key_type=kind), 1).error_code for kind in (0, 1)]
            beat = consumer.HeartbeatRequest(group_id="wire-random", generation_id=0, member_id="nobody")
            return [*found, self._control.call(beat, 3).error_code]

        seen = ask_until(errors, NOT_YET.isdisjoint, timeout_s=READY_S, pause_s=0.1)
        if not NOT_YET.isdisjoint(seen):
            raise RebalanceCheckError(
                f"the broker answers look-ups of a group and of a transaction, and a heartbeat, with errors {seen}, as "
                "if it were still starting: see its log"
            )

    # ------------------------------------------------------------------------------------------ requests

    def send(self, number: int, frame: bytes, pass_ms: int = 0) -> None:  # noqa: ARG002 - time passes by itself
        """Send a request."""
        connection = self._idle.pop() if self._idle else FrameConnection(self._address)
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        connection.send(number, frame)
        self._sent = number

    def made_id(self, number: int, frame: bytes) -> str:
        """The member id that the broker made for a JoinGroup without one: its reply has it, or what it shows of the
        group that the member waits in."""
        request: Any = read_request(read_prefix(frame), frame)
        if not isinstance(request, consumer.JoinGroupRequest) or request.member_id or not request.group_id:
            return ""
        is_settled = [False]

        def probe() -> str:
            self._receive()
            is_settled[0] = number in self._arrived
            return self._new_id(frame, self._arrived.get(number), request.group_id)

        made = ask_until(probe, lambda found: bool(found) or is_settled[0], timeout_s=PATIENCE_S, pause_s=PAUSE_S)
        self._known.add(made)
        return made

    def _new_id(self, frame: bytes, answer: bytes | None, group_id: str) -> str:
        reply: Any = read_response(read_prefix(frame), answer) if answer else None
        ids = {reply.member_id} if reply is not None else {member.member_id for member in self._members(group_id)}
        return min(ids - self._known - {""}, default="")

    def _members(self, group_id: str) -> Collection[Any]:
        request = admin.DescribeGroupsRequest(groups=[group_id], include_authorized_operations=False)
        members: Collection[Any] = self._control.call(request, DESCRIBE_VERSION).groups[0].members
        return members

    # ------------------------------------------------------------------------------------------ answers

    def answers(self, due: Collection[int] = ()) -> Answers:
        """The answers since the last call; those to the requests ``due`` are waited for.

        Where the last request is not among these, it waits for another one: it has been handled when this returns, so
        that the next one cannot overtake it.
        """
        for _ in range(BARRIER_ROUND_TRIPS if self._sent not in due else 0):
            self._members("wire-random")
        deadline = time.monotonic() + PATIENCE_S
        self._receive()
        while not {*due} <= self._arrived.keys() and time.monotonic() < deadline:
            self._receive(PAUSE_S)
        taken, self._arrived = self._arrived, {}
        return taken

    def _receive(self, timeout_s: float = 0) -> None:
        for key, _ in self._selector.select(timeout_s):
            connection: FrameConnection = key.data
            answer = connection.receive()
            if answer == b"":
                continue
            assert connection.number is not None
            self._arrived[connection.number] = answer
            self._selector.unregister(connection.socket)
            if answer is None:
                connection.socket.close()
            else:
                self._idle.append(connection)

    def close(self) -> None:
        """Close all connections."""
        busy = [key.data for key in self._selector.get_map().values()]
        for connection in [*self._idle, *busy]:
            connection.socket.close()
        self._selector.close()
        self._control.close()
