"""Frames: a length, a header, a body. Bytes that are none raise `MalformedFrame`, and nothing else.

A frame is an int32 length and that many bytes; a request starts with api key, api version and correlation id, so these
three can be read before the version is known to be served (Kafka's ``RequestHeader``).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.integration.wire.decoder import Cursor, decode_body, read_client_id
from rebalance_check.integration.wire.kafka_python import ApiMessage
from rebalance_check.integration.wire.malformed import MalformedFrame

__all__ = ["MalformedFrame", "Prefix", "decode_request", "encode_response", "frame_length", "read_prefix"]

_PREFIX: Final = struct.Struct(">hhi")
PREFIX_BYTES: Final = _PREFIX.size
LENGTH_BYTES: Final = 4
"""The size of the length before each frame."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first eight bytes of every request."""

    api_key: int
    api_version: int
    correlation_id: int


def frame_length(header: bytes, most: int) -> int:
    """The length of the frame that follows these four bytes; it may have ``most`` bytes.

    Raises:
        MalformedFrame: it cannot be one, or is longer.
    """
    length = int.from_bytes(header, "big", signed=True)
    if not PREFIX_BYTES <= length <= most:
        raise MalformedFrame(f"a frame of {length} bytes (expected {PREFIX_BYTES} to {most})")
    return length


def read_prefix(frame: bytes) -> Prefix:
    """Api key, version and correlation id of a frame."""
    return Prefix(*_PREFIX.unpack_from(frame))


def decode_request(message: type[ApiMessage], prefix: Prefix, frame: bytes) -> Any:
    """The request in ``frame``, of the class that its api key names.

    Raises:
        MalformedFrame: the bytes are no request that Kafka would read.
    """
    cursor = Cursor(frame, PREFIX_BYTES)
    is_flexible = bool(message.flexible_version_q(prefix.api_version))
    client_id = read_client_id(cursor, is_flexible=is_flexible)
    request = decode_body(message, prefix.api_version, cursor)
    request.with_header(correlation_id=prefix.correlation_id, client_id=client_id)
    return request


def encode_response(response: ApiMessage, version: int, correlation_id: int) -> bytes:
    """``response`` as a whole frame."""
    response.API_VERSION = version
    response.with_header(correlation_id=correlation_id)
    encoded: bytes = response.encode(header=True, framed=True)
    return encoded
