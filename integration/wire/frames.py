"""Frames: a length, a header, a body. Bytes that are none raise `MalformedFrame`, and nothing else.

A frame is an int32 length and that many bytes; a request starts with api key, api version and correlation id, so these
three can be read before the version is known to be served (Kafka's ``RequestHeader``).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.integration.wire.kafka_python import ApiMessage

MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
"""A longer request is refused; Kafka's own limit, ``socket.request.max.bytes``, is 100 MiB."""

_PREFIX: Final = struct.Struct(">hhi")
PREFIX_BYTES: Final = _PREFIX.size


class MalformedFrame(Exception):  # noqa: N818 - named for what was received, like Kafka's own exceptions
    """The peer sent bytes that are no request; the message says what was wrong. Its connection is closed."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first eight bytes of every request."""

    api_key: int
    api_version: int
    correlation_id: int


def frame_length(header: bytes) -> int:
    """The length of the frame that follows these four bytes; `MalformedFrame` when it cannot be one."""
    length = int.from_bytes(header, "big", signed=True)
    if not PREFIX_BYTES <= length <= MAX_FRAME_BYTES:
        raise MalformedFrame(f"a frame of {length} bytes (expected {PREFIX_BYTES} to {MAX_FRAME_BYTES})")
    return length


def read_prefix(frame: bytes) -> Prefix:
    """Api key, version and correlation id of a frame."""
    return Prefix(*_PREFIX.unpack_from(frame))


def decode_request(message: type[ApiMessage], prefix: Prefix, frame: bytes) -> Any:
    """The request in ``frame``, of the class that its api key names; `MalformedFrame` when the bytes do not parse.

    A decoder fed with random bytes may fail in any way, so every exception of it means the same here.
    """
    try:
        request = message.decode(frame, version=prefix.api_version, header=True)
    except Exception as error:
        raise MalformedFrame(
            f"{message.name} v{prefix.api_version} of {len(frame)} bytes cannot be decoded ({error!r})"
        ) from error
    request.API_VERSION = prefix.api_version
    return request


def encode_response(response: ApiMessage, version: int, correlation_id: int) -> bytes:
    """``response`` as a whole frame."""
    response.API_VERSION = version
    response.with_header(correlation_id=correlation_id)
    encoded: bytes = response.encode(header=True, framed=True)
    return encoded
