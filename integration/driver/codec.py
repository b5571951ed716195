"""The requests of a member and its connections as messages of kafka-python, and the responses."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    FindCoordinatorRequest,
    MemberReply,
    MemberRequest,
)
from rebalance_check.integration.wire.kafka_python import ApiMessage, metadata
from rebalance_check.integration.wire.replies import error_from_wire, reply_from_wire
from rebalance_check.integration.wire.requests import request_to_wire

KEYS_VERSION: Final = 4
"""From this version one FindCoordinator asks for many keys (KIP-699)."""

GROUP_KEY: Final = 0
METADATA_VERSION: Final = 7
API_VERSIONS_VERSION: Final = 0

Address = tuple[str, int]
Ranges = dict[int, tuple[int, int]]
"""The lowest and the highest version of each API that a node serves, by API key."""


class ClusterMetadata(NamedTuple):
    """The nodes by id, and how many partitions each topic has that exists."""

    nodes: dict[int, Address]
    partitions: dict[str, int]


def to_wire(request: MemberRequest) -> ApiMessage:
    """A member's request."""
    if not isinstance(request, FindCoordinatorRequest):
        return request_to_wire(request)
    named: dict[str, Any] = {"key": request.group_id}
    if request.version >= KEYS_VERSION:
        named = {"coordinator_keys": [request.group_id]}
    message = metadata.FindCoordinatorRequest(key_type=GROUP_KEY, **named)
    message.API_VERSION = request.version
    return message


def from_wire(response: Any, request: MemberRequest) -> MemberReply:
    """The reply inside a message. `RebalanceCheckError` for an error code that no group API documents."""
    if not isinstance(request, FindCoordinatorRequest):
        return reply_from_wire(response, request)
    found = response.coordinators[0] if request.version >= KEYS_VERSION else response
    return FindCoordinatorReply(
        error=error_from_wire(found.error_code), node_id=found.node_id, host=found.host, port=found.port
    )


def api_versions_request() -> ApiMessage:
    """The first request of a new connection."""
    return _versioned(metadata.ApiVersionsRequest(), API_VERSIONS_VERSION)


def served(response: Any) -> Ranges:
    """The versions by api key, from an ApiVersions response."""
    return {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}


def metadata_request(topics: tuple[str, ...] | None) -> ApiMessage:
    """The nodes, and these topics; None asks for all topics."""
    topic = metadata.MetadataRequest.MetadataRequestTopic
    wanted = None if topics is None else [topic(name=name) for name in topics]
    request = metadata.MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
    return _versioned(request, METADATA_VERSION)


def cluster_in(response: Any) -> ClusterMetadata:
    """The cluster by a Metadata response; a topic with an error is left out."""
    nodes = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
    topics = {topic.name: len(topic.partitions) for topic in response.topics if not topic.error_code}
    return ClusterMetadata(nodes, topics)


def _versioned(message: ApiMessage, version: int) -> ApiMessage:
    message.API_VERSION = version
    return message
