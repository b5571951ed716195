"""One request, one reply, on a blocking socket: for set-up and readiness, where nothing happens at once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from rebalance_check.integration.wire.kafka_python import ApiMessage, KafkaProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def split_address(bootstrap: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``; `RebalanceCheckError` when it is none."""
    host, _, port = bootstrap.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise RebalanceCheckError(f"{bootstrap!r} is no broker address: write HOST:PORT, such as 127.0.0.1:9092")
    return host, int(port)


class UnreadableReplyError(ConnectionError):
    """The broker's bytes are no reply to what is in flight; the connection is of no use any more."""


@contextmanager
def reading(awaited: str) -> Iterator[None]:
    """Decode replies inside, the first of which answers the request ``awaited``.

    Raises: UnreadableReplyError for bytes that are no such reply, on which decoders end with all sorts of errors.
    """
    try:
        yield
    except Exception as stumbled:
        raise UnreadableReplyError(
            f"the broker's reply to {awaited} cannot be read ({type(stumbled).__name__}: {stumbled})"
        ) from stumbled


class Connection:
    """A connection to one broker, as a context manager. Its errors are `OSError` and kafka-python's protocol errors."""

    def __init__(self, bootstrap: str, *, timeout_s: float = 10.0) -> None:
        self._socket = socket.create_connection(split_address(bootstrap), timeout=timeout_s)
        self._protocol: Any = KafkaProtocol(client_id="rebalance-check")

    def call(self, request: ApiMessage, version: int) -> Any:
        """Send ``request`` at ``version`` and return the decoded response.

        Raises `ConnectionError` when the broker closes the connection.
        """
        request.API_VERSION = version
        self._protocol.send_request(request)
        self._socket.sendall(self._protocol.send_bytes())
        while True:
            data = self._socket.recv(1 << 16)
            if not data:
                raise ConnectionError("the broker closed the connection instead of answering")
            with reading(f"{type(request).__name__} v{version}"):
                received = self._protocol.receive_bytes(data)
            if received:
                return received[0][1]

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
