"""Requests after which Kafka and the embedded broker are known to go separate ways: a short list, with reasons.

They are not sent; `tests/integration/virtual/test_joins_that_stop_kafka.py` shows what each of them does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.impl.protocol.consumer_protocol import PROTOCOL_TYPE, read_topics
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.integration.wire.frames import read_prefix
from rebalance_check.integration.wire.kafka_python import consumer
from rebalance_check.integration.wire.messages import read_request
from rebalance_check.integration.wire.requests import OFFSET_FETCH_BATCH_VERSION

HEADER_BYTES: Final = 6
"""Version and number of topics: Kafka survives metadata that end before."""


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """A request that is answered otherwise, and why."""

    name: str
    reason: str
    applies: Callable[[Any], bool]


def _names_twice(request: Any) -> bool:
    if not isinstance(request, consumer.JoinGroupRequest):
        return False
    names = [protocol.name for protocol in request.protocols]
    return len({*names}) < len(names)


def _is_unreadable(request: Any) -> bool:
    if not isinstance(request, consumer.JoinGroupRequest) or request.protocol_type != PROTOCOL_TYPE:
        return False
    try:
        for protocol in request.protocols:
            if len(protocol.metadata) >= HEADER_BYTES:
                read_topics(bytes(protocol.metadata))
    except MalformedBytes:
        return True
    return False


KNOWN: Final = (
    KnownDifference(
        "a protocol named twice",
        "the timer of Kafka's join phase throws and does not run again, so that nobody is answered",
        _names_twice,
    ),
    KnownDifference(
        "metadata of a consumer that cannot be read",
        "the timer of Kafka's join phase throws and does not run again, so that nobody is answered",
        _is_unreadable,
    ),
)
"""Joins; TRACK_RECORD.md has what they do to Kafka."""


OF_KAFKA_3: Final = (
    KnownDifference(
        "an OffsetFetch of no groups",
        "a broker of Kafka 3 never answers it; the coordinator is not asked",
        lambda request: isinstance(request, consumer.OffsetFetchRequest) and _names_no_group(request),
    ),
)
"""What a live broker of Kafka 3 does otherwise than its coordinator in virtual time."""


def _names_no_group(request: Any) -> bool:
    return request.API_VERSION >= OFFSET_FETCH_BATCH_VERSION and not request.groups


def known_difference(frame: bytes, known: Sequence[KnownDifference] = KNOWN) -> KnownDifference | None:
    """The known difference that a request would show."""
    request = read_request(read_prefix(frame), frame)
    return next((each for each in known if request is not None and each.applies(request)), None)
