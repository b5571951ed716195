"""Answers about the cluster: what the broker speaks, which topics it has, who coordinates (always itself).

Each function takes the decoded request and returns the response; the address is where clients reach this broker.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.wire.apis import VERSIONS
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, errors
from rebalance_check.integration.wire.kafka_python import metadata as wire
from rebalance_check.model.vocabulary.errors import Error

NODE_ID: Final = 1
CLUSTER_ID: Final = "rebalance-check"
COORDINATOR_BATCH_VERSION: Final = 4
"""From this version one FindCoordinator asks for many keys (KIP-699)."""
MAX_PARTITIONS: Final = 1000
MAX_TOPICS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Address:
    """Where the broker listens."""

    host: str
    port: int


KEY_TYPES: Final = frozenset({0, 1})
"""What a coordinator is looked up for: a group, or a transaction (KIP-98)."""
MAX_TOPIC_NAME: Final = 249
INVALID_REQUEST: Final[int] = errors.InvalidRequestError.errno

_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_TOPIC_NAME: Final = re.compile(r"[a-zA-Z0-9._-]+")
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


async def metadata(request: Any, topics: Topics, address: Address) -> ApiMessage:
    """The one broker, and the topics asked for, each once; null (in v0 an empty list) asks for all of them."""
    wanted = [*dict.fromkeys([topic.name async for topic in paced(request.topics or ())])]
    ask_all = request.topics is None or (request.API_VERSION == 0 and not wanted)
    names = topics.names() if ask_all else wanted
    broker_of = wire.MetadataResponse.MetadataResponseBroker
    return wire.MetadataResponse(
        brokers=[broker_of(node_id=NODE_ID, host=address.host, port=address.port, rack=None)],
        cluster_id=CLUSTER_ID,
        controller_id=NODE_ID,
        topics=[_topic_metadata(name, topics.partitions(name)) async for name in paced(names)],
    )


def _topic_metadata(name: str, partitions: int | None) -> Any:
    topic = wire.MetadataResponse.MetadataResponseTopic
    if partitions is None:
        code = int(Error.UNKNOWN_TOPIC_OR_PARTITION) if is_topic_name(name) else errors.InvalidTopicError.errno
        return topic(error_code=code, name=name, is_internal=False, partitions=[])
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


async def find_coordinator(request: Any, address: Address, *, error_code: int = 0) -> ApiMessage:
    """This broker, for every key; or ``error_code`` for every key."""
    code = INVALID_REQUEST if error_code == 0 and request.key_type not in KEY_TYPES else error_code
    here = (
        {"node_id": NODE_ID, "host": address.host, "port": address.port}
        if code == 0
        else {"node_id": -1, "host": "", "port": -1}
    )
    if request.API_VERSION < COORDINATOR_BATCH_VERSION:
        return wire.FindCoordinatorResponse(error_code=code, error_message=None, **here)
    coordinator = wire.FindCoordinatorResponse.Coordinator
    return wire.FindCoordinatorResponse(
        coordinators=[
            coordinator(key=key, error_code=code, error_message=None, **here)
            async for key in paced(request.coordinator_keys)
        ]
    )


async def create_topics(request: Any, topics: Topics) -> ApiMessage:
    """Create each topic, or say why not; with ``validate_only`` only say. One that is named twice is not."""
    result = admin.CreateTopicsResponse.CreatableTopicResult
    named = Counter([topic.name async for topic in paced(request.topics)])
    results = []
    async for topic in paced({topic.name: topic for topic in request.topics}.values()):
        partitions = max(len(topic.assignments), 1) if topic.num_partitions == -1 else topic.num_partitions
        code = INVALID_REQUEST if named[topic.name] > 1 else _creation_error(topics, topic.name, partitions)
        if code == 0 and not request.validate_only:
            topics.create(topic.name, partitions)
        results.append(
            result(
                name=topic.name,
                error_code=code,
                error_message=None,
                num_partitions=partitions if code == 0 else -1,
                replication_factor=1 if code == 0 else -1,
                configs=[],
            )
        )
    return admin.CreateTopicsResponse(topics=results)


def _creation_error(topics: Topics, name: str, partitions: int) -> int:
    code: int = 0
    if not is_topic_name(name):
        code = errors.InvalidTopicError.errno
    elif topics.partitions(name) is not None:
        code = errors.TopicAlreadyExistsError.errno
    elif not 1 <= partitions <= MAX_PARTITIONS or len(topics) >= MAX_TOPICS:
        code = errors.InvalidPartitionsError.errno
    return code


def is_topic_name(name: str) -> bool:
    """Whether a topic may be called so (``Topic.validate``)."""
    return _TOPIC_NAME.fullmatch(name) is not None and len(name) <= MAX_TOPIC_NAME and name not in (".", "..")
