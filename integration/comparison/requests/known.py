"""Requests after which Kafka and the embedded broker are known to go separate ways: a short list, with reasons.

They are not sent; `tests/integration/virtual/test_joins_that_stop_kafka.py` shows the effect of each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rebalance_check.impl.comparison.known import KnownDifference
from rebalance_check.impl.protocol.consumer_protocol import PROTOCOL_TYPE, read_topics
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.integration.wire.frames import read_prefix
from rebalance_check.integration.wire.kafka_python import consumer
from rebalance_check.integration.wire.messages import read_request
from rebalance_check.integration.wire.requests import OFFSET_FETCH_BATCH_VERSION

HEADER_BYTES: Final = 6
"""Version and number of topics: Kafka survives metadata that end before."""


def _of(applies: Callable[[Any], bool]) -> Callable[[bytes], bool]:
    """Foresees a difference in a frame that holds such a request."""

    def foresees(frame: bytes) -> bool:
        request = read_request(read_prefix(frame), frame)
        return request is not None and applies(request)

    return foresees


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


def _names_no_group(request: Any) -> bool:
    is_fetch = isinstance(request, consumer.OffsetFetchRequest)
    return is_fetch and request.API_VERSION >= OFFSET_FETCH_BATCH_VERSION and not request.groups


_STOPS: Final = "the timer of Kafka's join phase throws and does not run again, so that no member is answered"

KNOWN: Final = (
    KnownDifference(
        "a JoinGroup that lists a protocol twice",
        _STOPS,
        subjects="every coordinator of Kafka",
        source="TRACK_RECORD.md",
        foresees=_of(_names_twice),
    ),
    KnownDifference(
        "metadata of a consumer that cannot be read",
        _STOPS,
        subjects="every coordinator of Kafka",
        source="TRACK_RECORD.md",
        foresees=_of(_is_unreadable),
    ),
)
"""Requests that are spared: no run could go on after them."""

OF_LIVE_KAFKA_3: Final = (
    KnownDifference(
        "an OffsetFetch of no groups",
        "a broker of Kafka 3 never answers it; the coordinator is not asked",
        subjects="live brokers of Kafka 3",
        source="KafkaApis of Kafka 3: handleOffsetFetchRequest",
        foresees=_of(_names_no_group),
    ),
)
"""Differences of a live broker of Kafka 3 from its coordinator in virtual time."""
