"""Answers about the cluster: what the broker speaks, which topics it has, who coordinates (always itself).

Each function takes the decoded request and returns the response; the address is where clients reach this broker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, errors
from rebalance_check.integration.wire.kafka_python import metadata as wire
from rebalance_check.model.vocabulary.errors import Error

NODE_ID: Final = 1
CLUSTER_ID: Final = "rebalance-check"
COORDINATOR_BATCH_VERSION: Final = 4
"""From this version one FindCoordinator asks for many keys (KIP-699)."""
MAX_PARTITIONS: Final = 1000


@dataclass(frozen=True, slots=True)
class Address:
    """Where the broker listens."""

    host: str
    port: int


def api_versions(served: dict[int, tuple[int, int]], *, error: Error = Error.NONE) -> ApiMessage:
    """The apis with their lowest and highest version, sorted by key."""
    api = wire.ApiVersionsResponse.ApiVersion
    keys = [api(api_key=key, min_version=low, max_version=high) for key, (low, high) in sorted(served.items())]
    return wire.ApiVersionsResponse(error_code=int(error), api_keys=keys)


def metadata(request: Any, topics: Topics, address: Address) -> ApiMessage:
    """The one broker, and the topics asked for; null (in v0 an empty list) asks for all of them."""
    wanted = [topic.name for topic in request.topics or ()]
    ask_all = request.topics is None or (request.API_VERSION == 0 and not wanted)
    names = topics.names() if ask_all else wanted
    broker_of = wire.MetadataResponse.MetadataResponseBroker
    return wire.MetadataResponse(
        brokers=[broker_of(node_id=NODE_ID, host=address.host, port=address.port, rack=None)],
        cluster_id=CLUSTER_ID,
        controller_id=NODE_ID,
        topics=[_topic_metadata(name, topics.partitions(name)) for name in names],
    )


def _topic_metadata(name: str, partitions: int | None) -> Any:
    topic = wire.MetadataResponse.MetadataResponseTopic
    if partitions is None:
        return topic(error_code=int(Error.UNKNOWN_TOPIC_OR_PARTITION), name=name, is_internal=False, partitions=[])
    partition = topic.MetadataResponsePartition
    return topic(
        error_code=0,
        name=name,
        is_internal=False,
        partitions=[
            partition(
                error_code=0,
                partition_index=index,
                leader_id=NODE_ID,
                leader_epoch=0,
                replica_nodes=[NODE_ID],
                isr_nodes=[NODE_ID],
                offline_replicas=[],
            )
            for index in range(partitions)
        ],
    )


def find_coordinator(request: Any, address: Address, *, error: Error = Error.NONE) -> ApiMessage:
    """This broker, for every key; or ``error`` for every key."""
    here = (
        {"node_id": NODE_ID, "host": address.host, "port": address.port}
        if error is Error.NONE
        else {"node_id": -1, "host": "", "port": -1}
    )
    if request.API_VERSION < COORDINATOR_BATCH_VERSION:
        return wire.FindCoordinatorResponse(error_code=int(error), error_message=None, **here)
    coordinator = wire.FindCoordinatorResponse.Coordinator
    return wire.FindCoordinatorResponse(
        coordinators=[
            coordinator(key=key, error_code=int(error), error_message=None, **here) for key in request.coordinator_keys
        ]
    )


def create_topics(request: Any, topics: Topics) -> ApiMessage:
    """Create each topic, or say why not; with ``validate_only`` only say."""
    result = admin.CreateTopicsResponse.CreatableTopicResult
    results = []
    for topic in request.topics:
        partitions = max(len(topic.assignments), 1) if topic.num_partitions == -1 else topic.num_partitions
        code = _creation_error(topics, topic.name, partitions)
        if code == 0 and not request.validate_only:
            topics.create(topic.name, partitions)
        results.append(
            result(
                name=topic.name,
                error_code=code,
                error_message=None,
                num_partitions=partitions,
                replication_factor=1,
                configs=[],
            )
        )
    return admin.CreateTopicsResponse(topics=results)


def _creation_error(topics: Topics, name: str, partitions: int) -> int:
    code: int = 0
    if not name:
        code = errors.InvalidTopicError.errno
    elif topics.partitions(name) is not None:
        code = errors.TopicAlreadyExistsError.errno
    elif not 1 <= partitions <= MAX_PARTITIONS:
        code = errors.InvalidPartitionsError.errno
    return code
