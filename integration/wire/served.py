"""The versions of the apis that a broker serves, and requests in the latest version that both sides speak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import admin, consumer, metadata, producer

R = TypeVar("R", bound=msg.GroupRequest)

Served = Mapping[int, int]
"""The latest version that a broker serves of each api, by api key; an api that is missing is not capped."""

_KEYS: Final[Mapping[type[msg.GroupRequest], Any]] = {
    msg.JoinGroupRequest: consumer.JoinGroupRequest,
    msg.SyncGroupRequest: consumer.SyncGroupRequest,
    msg.HeartbeatRequest: consumer.HeartbeatRequest,
    msg.LeaveGroupRequest: consumer.LeaveGroupRequest,
    msg.OffsetCommitRequest: consumer.OffsetCommitRequest,
    msg.OffsetFetchRequest: consumer.OffsetFetchRequest,
    msg.OffsetDeleteRequest: consumer.OffsetDeleteRequest,
    msg.TxnOffsetCommitRequest: producer.TxnOffsetCommitRequest,
}

LEAST: Final[Mapping[str, tuple[Any, int]]] = {
    "JoinGroup": (consumer.JoinGroupRequest, 5),
    "SyncGroup": (consumer.SyncGroupRequest, 3),
    "Heartbeat": (consumer.HeartbeatRequest, 3),
    "LeaveGroup": (consumer.LeaveGroupRequest, 3),
    "OffsetCommit": (consumer.OffsetCommitRequest, 7),
    "OffsetFetch": (consumer.OffsetFetchRequest, 5),
    "OffsetDelete": (consumer.OffsetDeleteRequest, 0),
    "DescribeGroups": (admin.DescribeGroupsRequest, 4),
    "DeleteGroups": (admin.DeleteGroupsRequest, 0),
    "CreateTopics": (admin.CreateTopicsRequest, 2),
}
"""The version of each api that requests of this project need at least: members may have instance ids (KIP-345)."""


class VersionRange(NamedTuple):
    """The lowest and the latest version of an api."""

    lowest: int
    latest: int


def served_ranges(bootstrap: str, timeout_s: float = 10.0) -> Mapping[int, VersionRange]:
    """The versions that the broker says it serves, by api key, from ApiVersions v0.

    Raises: OSError or a protocol error of kafka-python when the broker does not answer.
    """
    with Connection(bootstrap, timeout_s=timeout_s) as connection:
        reply = connection.call(metadata.ApiVersionsRequest(), 0)
    return {int(api.api_key): VersionRange(int(api.min_version), int(api.max_version)) for api in reply.api_keys}


def capped(request: R, served: Served) -> R:
    """The request in its own version, or in the latest that the broker serves."""
    latest = served.get(key_of(request), request.version)
    return request if request.version <= latest else replace(request, version=latest)


def key_of(request: msg.GroupRequest) -> int:
    """Kafka's api key of a group request."""
    return int(_KEYS[type(request)].API_KEY)


def capped_version(message: Any, version: int, served: Served) -> int:
    """``version`` of kafka-python's class ``message``, or the latest that the broker serves."""
    return min(version, served.get(int(message.API_KEY), version))


def lacking(served: Served, apis: Iterable[str]) -> str:
    """The ``apis`` that the broker serves in no version that would do, in a sentence; "" for none."""
    for name in apis:
        message, least = LEAST[name]
        latest = served.get(int(message.API_KEY))
        if latest is None or latest < least:
            has = "not served" if latest is None else f"served up to v{latest}"
            return f"{name} is {has}, and v{least} is needed at least"
    return ""
