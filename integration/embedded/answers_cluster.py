"""Answers about the cluster: the broker's versions, which topics it has, which node leads and coordinates what.

Each function takes the decoded request and returns the response.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from rebalance_check.integration.embedded.cluster import Cluster
from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.topic_names import wrong_name
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.wire.apis import VERSIONS
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, errors
from rebalance_check.integration.wire.kafka_python import metadata as wire
from rebalance_check.model.vocabulary.errors import Error

CLUSTER_ID: Final = "rebalance-check"
COORDINATOR_BATCH_VERSION: Final = 4
"""From this version one FindCoordinator asks for many keys (KIP-699)."""


GROUP_KEY_TYPE: Final = 0
KEY_TYPES: Final = frozenset({GROUP_KEY_TYPE, 1})
"""The keys by which a coordinator is looked up: a group, or a transaction (KIP-98)."""
SHARE_KEY_TYPE: Final = 2
"""A share group, which FindCoordinator names from v6 on (KIP-932); in older versions Kafka refuses it, like unknown
ones, but in a list of keys without a message."""

INVALID_REQUEST: Final[int] = errors.InvalidRequestError.errno
INVALID_REQUEST_MESSAGE: Final = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an "
    "incompatible broker. See the broker logs for more details."
)
"""Kafka's message of INVALID_REQUEST."""
NO_MESSAGE: Final = "NONE"
"""FindCoordinator's message without an error, up to v3."""

CLUSTER_OPERATIONS: Final = frozenset({5, 7, 8, 9, 10, 11, 12})
TOPIC_OPERATIONS: Final = frozenset({3, 4, 5, 6, 7, 8, 10, 11})
GROUP_OPERATIONS: Final = frozenset({3, 6, 8, 10, 11})
"""Any client's rights (``AclOperation``) where there is no authorizer; null unless the request asks for them."""

BROKER_ENDPOINT: Final = 1
CONTROLLER_ENDPOINT: Final = 2

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_SOFTWARE_NAMED_SINCE: Final = 3


async def served_versions(request: Any) -> ApiMessage:
    """ApiVersions; a client that names its software names it properly (KIP-511, ``ApiVersionsRequest.isValid``)."""
    names = (request.client_software_name, request.client_software_version)
    if request.API_VERSION >= _SOFTWARE_NAMED_SINCE and not all(_SOFTWARE.fullmatch(name) for name in names):
        return api_versions({}, error_code=INVALID_REQUEST)
    return api_versions(VERSIONS)


def api_versions(served: dict[int, tuple[int, int]], *, error_code: int = 0) -> ApiMessage:
    """The apis with their lowest and highest version, sorted by key."""
    api = wire.ApiVersionsResponse.ApiVersion
    keys = [api(api_key=key, min_version=low, max_version=high) for key, (low, high) in sorted(served.items())]
    return wire.ApiVersionsResponse(error_code=error_code, api_keys=keys)


async def metadata(
    request: Any, topics: Topics, cluster: Cluster, create: Callable[[Sequence[str]], None] = lambda _names: None
) -> ApiMessage:
    """The nodes, and the topics asked for, each once; null (in v0 an empty list) asks for all of them.

    Where the request allows it, ``create`` gets the names, to create missing topics; as in Kafka, the reply that
    caused it still says that they are unknown.
    """
    wanted = [*dict.fromkeys([topic.name async for topic in paced(request.topics or ())])]
    ask_all = request.topics is None or (request.API_VERSION == 0 and not wanted)
    names = topics.names() if ask_all else wanted
    allowed = TOPIC_OPERATIONS if request.include_topic_authorized_operations else None
    described = [_topic_metadata(name, topics, cluster, allowed) async for name in paced(names)]
    if request.allow_auto_topic_creation:
        create(names)
    broker_of = wire.MetadataResponse.MetadataResponseBroker
    return wire.MetadataResponse(
        brokers=[broker_of(node_id=node.id, host=node.host, port=node.port, rack=None) for node in cluster.nodes],
        cluster_id=CLUSTER_ID,
        controller_id=cluster.first.id,
        topics=described,
        authorized_operations=CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else None,
    )


def _topic_metadata(name: str, topics: Topics, cluster: Cluster, allowed: frozenset[int] | None) -> Any:
    partitions = topics.partitions(name)
    topic = wire.MetadataResponse.MetadataResponseTopic
    if partitions is None:
        code = errors.InvalidTopicError.errno if wrong_name(name) else int(Error.UNKNOWN_TOPIC_OR_PARTITION)
        return topic(error_code=code, name=name, is_internal=False, partitions=[])
    partition = topic.MetadataResponsePartition
    leaders = [cluster.leader(index, topics.leader(name, index)).id for index in range(partitions)]
    return topic(
        error_code=0,
        name=name,
        is_internal=False,
        partitions=[
            partition(
                error_code=0,
                partition_index=index,
                leader_id=leader,
                leader_epoch=0,
                replica_nodes=[leader],
                isr_nodes=[leader],
                offline_replicas=[],
            )
            for index, leader in enumerate(leaders)
        ],
        authorized_operations=allowed,
    )


async def describe_cluster(request: Any, cluster: Cluster) -> ApiMessage:
    """The nodes; controllers are not listed here, as little as by a broker of Kafka's."""
    if request.endpoint_type != BROKER_ENDPOINT:
        is_controller = request.endpoint_type == CONTROLLER_ENDPOINT
        wrong = errors.MismatchedEndpointTypeError if is_controller else errors.UnsupportedEndpointTypeError
        message = (
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
            if is_controller
            else f"Unsupported endpoint type {request.endpoint_type}"
        )
        return admin.DescribeClusterResponse(error_code=wrong.errno, error_message=message, cluster_id="", brokers=[])
    broker_of = admin.DescribeClusterResponse.DescribeClusterBroker
    return admin.DescribeClusterResponse(
        error_code=0,
        error_message=None,
        endpoint_type=BROKER_ENDPOINT,
        cluster_id=CLUSTER_ID,
        controller_id=cluster.first.id,
        brokers=[
            broker_of(broker_id=node.id, host=node.host, port=node.port, rack=None, is_fenced=False)
            for node in cluster.nodes
        ],
        authorized_operations=CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else None,
    )


async def find_coordinator(request: Any, cluster: Cluster) -> ApiMessage:
    """The node that coordinates each key: of groups their own, of transactions the first; other types are refused."""
    code = 0 if request.key_type in KEY_TYPES else INVALID_REQUEST
    message = _coordinator_message(request, code)
    if request.API_VERSION < COORDINATOR_BATCH_VERSION:
        where = _coordinator(request.key, request.key_type, cluster)
        return wire.FindCoordinatorResponse(error_code=code, error_message=message, **where)
    coordinator = wire.FindCoordinatorResponse.Coordinator
    return wire.FindCoordinatorResponse(
        coordinators=[
            coordinator(key=key, error_code=code, error_message=message, **_coordinator(key, request.key_type, cluster))
            async for key in paced(request.coordinator_keys)
        ]
    )


def _coordinator(key: str, key_type: int, cluster: Cluster) -> dict[str, Any]:
    if key_type not in KEY_TYPES:
        return {"node_id": -1, "host": "", "port": -1}
    node = cluster.coordinator(key) if key_type == GROUP_KEY_TYPE else cluster.first
    return {"node_id": node.id, "host": node.host, "port": node.port}


def _coordinator_message(request: Any, code: int) -> str:
    """Kafka's message."""
    is_list = request.API_VERSION >= COORDINATOR_BATCH_VERSION
    if code == 0:
        return "" if is_list else NO_MESSAGE
    return "" if is_list and request.key_type == SHARE_KEY_TYPE else INVALID_REQUEST_MESSAGE
