"""Answers about topics: CreateTopics, DeleteTopics and CreatePartitions, with Kafka's words for errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NamedTuple

from rebalance_check.integration.embedded.answers_configs import shown_configs
from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.embedded.topic_configs import INVALID_CONFIG, canonical, wrong_config
from rebalance_check.integration.embedded.topic_names import collision, wrong_name
from rebalance_check.integration.embedded.topics import Topics
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, errors
from rebalance_check.model.vocabulary.errors import Error

MAX_PARTITIONS: Final = 1000
MAX_TOPICS: Final = 10_000
BROKER_DEFAULT: Final = -1
"""How a request says that the broker may choose how many partitions or replicas there are."""

INVALID_TOPIC: Final[int] = errors.InvalidTopicError.errno
INVALID_PARTITIONS: Final[int] = errors.InvalidPartitionsError.errno
INVALID_REPLICATION_FACTOR: Final[int] = errors.InvalidReplicationFactorError.errno
INVALID_ASSIGNMENT: Final[int] = errors.InvalidReplicationAssignmentError.errno
TOPIC_EXISTS: Final[int] = errors.TopicAlreadyExistsError.errno

MISSING: Final = "This server does not host this topic-partition."
REPEATED: Final = "Duplicate topic name."
ONE_REPLICA: Final = "At most 1 replica of a partition is kept here."

Nodes = Collection[int]
"""The ids of the nodes that there are."""


class Refusal(NamedTuple):
    """Why a topic is not created or changed: an error code, and Kafka's message."""

    code: int
    message: str | None


# ------------------------------------------------------------------------------------------------ CreateTopics


async def create_topics(request: Any, topics: Topics, nodes: Nodes) -> ApiMessage:
    """Create each topic, or say why not; with ``validate_only`` only say. One that is named twice is not."""
    named = Counter([topic.name async for topic in paced(request.topics)])
    results = []
    async for topic in paced({topic.name: topic for topic in request.topics}.values()):
        is_named_twice = named[topic.name] > 1
        refused = (
            Refusal(int(Error.INVALID_REQUEST), REPEATED) if is_named_twice else _creation_refusal(topics, topic, nodes)
        )
        results.append(_refused_topic(topic.name, refused) if refused else _created(request, topics, topic))
    return admin.CreateTopicsResponse(topics=results)


def create_missing(names: Sequence[str], topics: Topics, partitions: int) -> None:
    """Create those topics that do not exist and may, with so many partitions: a client asked for them."""
    for name in names:
        may_exist = not wrong_name(name) and not collision(name, topics.names()) and len(topics) < MAX_TOPICS
        if topics.partitions(name) is None and may_exist:
            topics.create(name, partitions)


def _created(request: Any, topics: Topics, topic: Any) -> Any:
    partitions, configs = _wanted_partitions(topic), _wanted_configs(topic)
    if not request.validate_only:
        topics.create(topic.name, partitions, configs, _assigned_leaders(topic))
    result = admin.CreateTopicsResponse.CreatableTopicResult
    shown = [
        result.CreatableTopicConfigs(
            name=each.name, value=each.value, read_only=False, config_source=each.source, is_sensitive=False
        )
        for each in shown_configs(configs)
    ]
    return result(
        name=topic.name, error_code=0, error_message=None, num_partitions=partitions, replication_factor=1,
        configs=shown,
    )  # fmt: skip


def _refused_topic(name: str, refused: Refusal) -> Any:
    return admin.CreateTopicsResponse.CreatableTopicResult(
        name=name, error_code=refused.code, error_message=refused.message, num_partitions=-1, replication_factor=-1,
        configs=[],
    )  # fmt: skip


def _wanted_partitions(topic: Any) -> int:
    return max(len(topic.assignments), 1) if topic.num_partitions == BROKER_DEFAULT else topic.num_partitions


def _wanted_configs(topic: Any) -> dict[str, str]:
    return {each.name: canonical(each.name, each.value) for each in topic.configs}


def _creation_refusal(topics: Topics, topic: Any, nodes: Nodes) -> Refusal | None:
    """The first of Kafka's checks that a topic does not pass (``ReplicationControlManager.createTopics``)."""
    checks: Sequence[Callable[[Topics, Any, Nodes], Refusal | None]] = (
        _name_refusal, _assignment_refusal, _number_refusal, _config_refusal
    )  # fmt: skip
    return next((refused for check in checks if (refused := check(topics, topic, nodes)) is not None), None)


def _name_refusal(topics: Topics, topic: Any, _: Nodes) -> Refusal | None:
    if why := wrong_name(topic.name):
        return Refusal(INVALID_TOPIC, why)
    if topics.partitions(topic.name) is not None:
        return Refusal(TOPIC_EXISTS, f"Topic '{topic.name}' already exists.")
    if other := collision(topic.name, topics.names()):
        return Refusal(INVALID_TOPIC, f"Topic '{topic.name}' collides with existing topic: {other}")
    return None


def _assignment_refusal(_: Topics, topic: Any, nodes: Nodes) -> Refusal | None:
    if not topic.assignments:
        return None
    if topic.num_partitions != BROKER_DEFAULT:
        why = "A manual partition assignment was specified, but numPartitions was not set to -1."
        return Refusal(int(Error.INVALID_REQUEST), why)
    if topic.replication_factor != BROKER_DEFAULT:
        why = "A manual partition assignment was specified, but replication factor was not set to -1."
        return Refusal(int(Error.INVALID_REQUEST), why)
    indexes = sorted(each.partition_index for each in topic.assignments)
    if indexes != list(range(len(indexes))):
        return Refusal(INVALID_ASSIGNMENT, "partitions should be a consecutive 0-based integer sequence")
    return next((r for each in topic.assignments if (r := _replicas_refusal(each.broker_ids, nodes)) is not None), None)


def _replicas_refusal(brokers: Sequence[int], nodes: Nodes) -> Refusal | None:
    """Replicas of a partition as a request assigns them by hand."""
    start = "The manual partition assignment includes"
    if not brokers:
        return Refusal(INVALID_ASSIGNMENT, f"{start} an empty replica list.")
    unknown = next((each for each in brokers if each not in nodes), None)
    if unknown is not None:
        return Refusal(INVALID_ASSIGNMENT, f"{start} broker {unknown}, but no such broker is registered.")
    repeated = next((each for each, times in Counter(brokers).items() if times > 1), None)
    if repeated is not None:
        return Refusal(INVALID_ASSIGNMENT, f"{start} the broker {repeated} more than once.")
    return Refusal(INVALID_ASSIGNMENT, ONE_REPLICA) if len(brokers) > 1 else None


def _assigned_leaders(topic: Any) -> list[int]:
    """The nodes of a topic's partitions, in their order, as a request assigns them by hand; empty where it does not."""
    assigned = topic.assignments or []
    ordered = sorted(assigned, key=lambda each: getattr(each, "partition_index", 0))
    return [each.broker_ids[0] for each in ordered]


def _number_refusal(topics: Topics, topic: Any, nodes: Nodes) -> Refusal | None:
    partitions, replicas = _wanted_partitions(topic), topic.replication_factor
    if replicas == 0 or replicas < BROKER_DEFAULT:
        why = "Replication factor must be larger than 0, or -1 to use the default value."
        return Refusal(INVALID_REPLICATION_FACTOR, why)
    if partitions < 1:
        return Refusal(INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.")
    if partitions > MAX_PARTITIONS or len(topics) >= MAX_TOPICS:
        why = f"At most {MAX_TOPICS} topics with {MAX_PARTITIONS} partitions each are kept here."
        return Refusal(INVALID_PARTITIONS, why)
    if replicas > 1:
        why = f"Unable to replicate the partition {replicas} time(s): only {len(nodes)} broker(s) are registered."
        return Refusal(INVALID_REPLICATION_FACTOR, ONE_REPLICA if replicas <= len(nodes) else why)
    return None


def _config_refusal(_: Topics, topic: Any, __: Nodes) -> Refusal | None:
    null = next((each.name for each in topic.configs if each.value is None), None)
    if null is not None:
        return Refusal(INVALID_CONFIG, f"Null value not supported for topic configs: {null}")
    why = wrong_config(_wanted_configs(topic))
    return Refusal(INVALID_CONFIG, why) if why else None


# ------------------------------------------------------------------------------------------------ DeleteTopics


async def delete_topics(request: Any, topics: Topics, forget: Callable[[str], None]) -> ApiMessage:
    """Delete each topic, or say why not; ``forget`` makes groups forget its offsets."""
    result = admin.DeleteTopicsResponse.DeletableTopicResult
    named = Counter([name async for name in paced(request.topic_names)])
    results = []
    async for name, times in paced(named.items()):
        refused = None
        if times > 1:
            refused = Refusal(int(Error.INVALID_REQUEST), REPEATED)
        elif topics.partitions(name) is None:
            refused = Refusal(int(Error.UNKNOWN_TOPIC_OR_PARTITION), MISSING)
        else:
            topics.delete(name)
            forget(name)
        code, message = refused or (0, None)
        results.append(result(name=name, error_code=code, error_message=message))
    return admin.DeleteTopicsResponse(responses=results)


# ------------------------------------------------------------------------------------------------ CreatePartitions


async def create_partitions(request: Any, topics: Topics, nodes: Nodes) -> ApiMessage:
    """Add partitions to each topic, or say why not; with ``validate_only`` only say."""
    result = admin.CreatePartitionsResponse.CreatePartitionsTopicResult
    named = Counter([topic.name async for topic in paced(request.topics)])
    results = []
    async for topic in paced({topic.name: topic for topic in request.topics}.values()):
        is_named_twice = named[topic.name] > 1
        refused = (
            Refusal(int(Error.INVALID_REQUEST), REPEATED) if is_named_twice else _growth_refusal(topics, topic, nodes)
        )
        if refused is None and not request.validate_only:
            topics.grow(topic.name, topic.count, _assigned_leaders(topic))
        code, message = refused or (0, None)
        results.append(result(name=topic.name, error_code=code, error_message=message))
    return admin.CreatePartitionsResponse(results=results)


def _growth_refusal(topics: Topics, topic: Any, nodes: Nodes) -> Refusal | None:
    now = topics.partitions(topic.name)
    if now is None:
        return Refusal(int(Error.UNKNOWN_TOPIC_OR_PARTITION), None)
    if topic.count == now:
        return Refusal(INVALID_PARTITIONS, f"Topic already has {now} partition(s).")
    if topic.count < now:
        why = f"The topic {topic.name} currently has {now} partition(s); {topic.count} would not be an increase."
        return Refusal(INVALID_PARTITIONS, why)
    if topic.count > MAX_PARTITIONS:
        return Refusal(INVALID_PARTITIONS, f"At most {MAX_PARTITIONS} partitions of a topic are kept here.")
    added = topic.count - now
    if topic.assignments is None:
        return None
    if len(topic.assignments) != added:
        named = len(topic.assignments)
        why = f"Attempted to add {added} additional partition(s), but only {named} assignment(s) were specified."
        return Refusal(INVALID_ASSIGNMENT, why)
    return next((r for each in topic.assignments if (r := _replicas_refusal(each.broker_ids, nodes)) is not None), None)
