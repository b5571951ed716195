"""The messages that can be read: every api of which kafka-python has request and response, and how each is decoded.

`integration.wire.apis` lists what the embedded broker serves; this is what a recorder between any client and any broker
understands. Anything unknown stays unknown: nothing here raises on bytes of a newer protocol.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final, NamedTuple

from rebalance_check.integration.wire.frames import Prefix, decode_request
from rebalance_check.integration.wire.kafka_python import (
    ApiKey,
    ApiMessage,
    admin,
    consumer,
    errors,
    metadata,
    producer,
)
from rebalance_check.integration.wire.malformed import MalformedFrame
from rebalance_check.model.vocabulary.errors import Error


class Message(NamedTuple):
    """One api: the classes of its request and its response, which have the versions from 0 up to ``high``."""

    request: type[ApiMessage]
    response: type[ApiMessage]

    @property
    def key(self) -> int:
        """Kafka's api key."""
        return int(self.request.API_KEY)

    @property
    def high(self) -> int:
        """The highest version that can be read."""
        return int(min(self.request.max_version, self.response.max_version))


def _all_messages() -> list[Message]:
    modules = (admin, consumer, metadata, producer)
    requests = [(module, name) for module in modules for name in dir(module) if name.endswith("Request")]
    pairs = [
        Message(getattr(module, name), getattr(module, f"{name.removesuffix('Request')}Response"))
        for module, name in requests
    ]
    return sorted(pairs, key=lambda pair: pair.key)


MESSAGES: Final[dict[int, Message]] = {message.key: message for message in _all_messages()}
"""The readable messages, by api key."""

KEY_OF: Final[dict[str, int]] = {str(key.name): int(key) for key in ApiKey}
"""The key of each api that has a name (``JoinGroup``), readable or not."""

_NAMES: Final = {key: name for name, key in KEY_OF.items()}


def name_of(api_key: int) -> str:
    """Kafka's name of an api, or its number where the name is unknown."""
    return _NAMES.get(api_key, str(api_key))


def read_request(prefix: Prefix, frame: bytes) -> Any | None:
    """The decoded request; None for an api, a version or bytes that cannot be read."""
    message = MESSAGES.get(prefix.api_key)
    if message is None or not 0 <= prefix.api_version <= message.high:
        return None
    with contextlib.suppress(MalformedFrame):
        return decode_request(message.request, prefix, frame)
    return None


def read_response(prefix: Prefix, frame: bytes) -> Any | None:
    """The decoded response (without its length) to the request of this prefix; None for one that cannot be read."""
    message = MESSAGES.get(prefix.api_key)
    if message is None or prefix.api_version < 0:
        return None
    # Of ApiVersions alone a version that is not served is answered: in version 0 (KIP-511).
    is_readable = prefix.api_version <= message.high
    if not is_readable and message.request is not metadata.ApiVersionsRequest:
        return None
    try:
        return message.response.decode(frame, version=prefix.api_version if is_readable else 0, header=True)
    except Exception:  # the decoder meets arbitrary bytes and may fail in any way
        return None


def error_name(code: int) -> str:
    """Kafka's name of an error code, or the code where it is unknown."""
    if code in _ERRORS:
        return _ERRORS[code]
    known = errors.for_code(code)
    return str(code) if issubclass(known, errors.UnknownError) else str(known.message)


_ERRORS: Final = {int(error): error.name for error in Error}
