"""The topics of a run: created and filled through the plain protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rebalance_check.integration.live.kafka_python_api import KafkaProducer
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import admin, errors, metadata
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

CREATE_TIMEOUT_MS: Final = 10_000
PAUSE_S: Final = 0.05
CREATE_VERSION: Final = 4
METADATA_VERSION: Final = 5


def create_topic(
    bootstrap: str, name: str, partitions: int, *, replicas: int = 1, compacted: bool = False,
    configs: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Create a topic and return when it has leaders; `RebalanceCheckError` when the broker refuses.

    ``configs`` are further settings of the topic, by Kafka's names. ``bootstrap`` are the addresses of nodes, with
    commas between them. Each of them knows the leaders then: a client
    that learned of them later, from another node, would take that for a change.
    """
    first, *others = bootstrap.split(",")
    topic_of = admin.CreateTopicsRequest.CreatableTopic
    config_of = topic_of.CreatableTopicConfig
    chosen = {**({"cleanup.policy": "compact"} if compacted else {}), **(configs or {})}
    settings = [config_of(name=key, value=value) for key, value in chosen.items()]
    topic = topic_of(
        name=name, num_partitions=partitions, replication_factor=replicas, assignments=[], configs=settings
    )
    request = admin.CreateTopicsRequest(topics=[topic], timeout_ms=CREATE_TIMEOUT_MS, validate_only=False)
    with Connection(first) as broker:
        result = broker.call(request, CREATE_VERSION).topics[0]
        if result.error_code:
            raise RebalanceCheckError(
                f"the broker at {first} refuses to create the topic {name!r}: "
                f"{errors.for_code(result.error_code).__name__}"
            )
        _await_leaders(broker, name, partitions)
    for address in others:
        with Connection(address) as node:
            _await_leaders(node, name, partitions)


def _await_leaders(broker: Connection, name: str, partitions: int) -> None:
    def probe() -> NotYet | bool:
        topics: list[Any] = [metadata.MetadataRequest.MetadataRequestTopic(name=name)]
        request = metadata.MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        topic = broker.call(request, METADATA_VERSION).topics[0]
        led = [p for p in topic.partitions if p.error_code == 0 and p.leader_id >= 0]
        return True if topic.error_code == 0 and len(led) == partitions else NotYet(f"{len(led)} of {partitions}")

    await_until(
        probe, timeout_s=CREATE_TIMEOUT_MS / 1000, pause_s=PAUSE_S,
        otherwise=f"the partitions of the topic {name!r} have no leaders",
    )  # fmt: skip


def fill(bootstrap: str, name: str, partitions: int, records: int) -> None:
    """Append ``records`` records to each partition, so that consumers have something to read and commit."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=False, acks=1)
    try:
        for index in range(partitions):
            for number in range(records):
                producer.send(name, value=b"%d" % number, partition=index)
        producer.flush(timeout=30)
    finally:
        producer.close()
