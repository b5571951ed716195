"""One connection to a node, without its socket: its handshake, its messages that wait, and those in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from rebalance_check.impl.protocol.messages import JoinGroupRequest, MemberRequest
from rebalance_check.integration.driver.codec import Address, Ranges, api_versions_request, served
from rebalance_check.integration.wire.kafka_python import ApiMessage, KafkaProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

JOIN_GRACE_MS: Final = 5_000
"""``JOIN_GROUP_TIMEOUT_LAPSE``: a JoinGroup waits so much longer than the rebalance timeout."""


Key = tuple[str, Address]
"""The purpose of a connection (the coordinator has one of its own), and where it leads."""


class LinkState(Enum):
    """How far a connection is."""

    CONNECTING = "connecting"
    HANDSHAKE = "ApiVersions is in flight"
    READY = "ready"
    CLOSED = "closed"


@dataclass(slots=True)
class Request:
    """A message on its way, the receiver of its response (None: there is none), and until when it is waited for."""

    message: ApiMessage
    answered: Callable[[Any], None]
    deadline_ms: int


def patience_ms(request: MemberRequest, request_timeout_ms: int) -> int:
    """How long a request is waited for: a JoinGroup for as long as members may take to join, and some more."""
    if isinstance(request, JoinGroupRequest):
        return max(request_timeout_ms, request.rebalance_timeout_ms + JOIN_GRACE_MS)
    return request_timeout_ms


class Link:
    """A connection with a number of its own. ``setup_until_ms`` is when it must be open.

    Messages wait until the connection is ready; `outgoing` gives the bytes to write now.
    """

    def __init__(self, number: int, key: Key, client_id: str, setup_until_ms: int) -> None:
        self.number = number
        self.key = key
        self.state = LinkState.CONNECTING
        self._setup_until_ms = setup_until_ms
        self._protocol: Any = KafkaProtocol(client_id=client_id)
        self._ranges: Ranges = {}
        self._waiting: list[Request] = []
        self._in_flight: dict[int, Request] = {}

    @property
    def address(self) -> Address:
        """Where it leads."""
        return self.key[1]

    @property
    def load(self) -> int:
        """How many requests wait here."""
        return len(self._waiting) + len(self._in_flight)

    def opened(self, until_ms: int) -> None:
        """The connection stands: shake hands."""
        self.state = LinkState.HANDSHAKE
        self._write(Request(api_versions_request(), self._shake_hands, until_ms))

    def send(self, request: Request) -> None:
        """Send a request as soon as the connection is ready."""
        self._waiting.append(request)
        self._send_waiting()

    def outgoing(self) -> bytes:
        """The bytes to write now."""
        return bytes(self._protocol.send_bytes())

    def received(self, data: bytes) -> None:
        """Bytes came: hand out the responses in them.

        Raises: RebalanceCheckError when the node does not serve a needed version, or its bytes are no response.
        """
        for number, response in self._protocol.receive_bytes(data):
            self._in_flight.pop(number).answered(response)

    def next_ms(self) -> int | None:
        """When the first thing that is waited for is overdue."""
        if self.state is LinkState.CONNECTING:
            return self._setup_until_ms
        return min((request.deadline_ms for request in self._all()), default=None)

    def close(self) -> list[Request]:
        """The connection is gone; the messages that will not be answered any more."""
        self.state = LinkState.CLOSED
        open_requests = list(self._all())
        self._waiting.clear()
        self._in_flight.clear()
        return open_requests

    def _all(self) -> Iterator[Request]:
        yield from self._in_flight.values()
        yield from self._waiting

    def _shake_hands(self, response: Any) -> None:
        if response is None:
            return
        self._ranges = served(response)
        self.state = LinkState.READY
        self._send_waiting()

    def _send_waiting(self) -> None:
        if self.state is LinkState.READY:
            waiting, self._waiting = self._waiting, []
            for request in waiting:
                self._check_version(request.message)
                self._write(request)

    def _write(self, request: Request) -> None:
        self._in_flight[self._protocol.send_request(request.message)] = request

    def _check_version(self, message: ApiMessage) -> None:
        name, version = type(message).__name__.removesuffix("Request"), int(message.API_VERSION)
        low, high = self._ranges.get(int(message.API_KEY), (0, -1))
        if not low <= version <= high:
            serves = f"v{low} to v{high}" if high >= low else "no version of it"
            host, port = self.address
            raise RebalanceCheckError(
                f"{name} v{version} cannot be sent: the node {host}:{port} serves {serves}; choose another version in "
                "the member's ClientConfig, or another broker"
            )
