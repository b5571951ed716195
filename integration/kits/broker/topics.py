"""Topics that the kit needs on the broker, also on one that creates topics only when they are asked for."""

from __future__ import annotations

from typing import Any, Final

from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.kits.broker.target import DEADLINE_S
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import admin, metadata
from rebalance_check.integration.wire.served import capped_version

METADATA_VERSION: Final = 5
PAUSE_S: Final = 0.05


def ensure_topic(broker: Broker, name: str, partitions: int) -> None:
    """Have a topic of this name on the broker: the one that is there, or a new one.

    A broker without CreateTopics creates it, with as many partitions as it likes, because Metadata asks for it.

    Raises: RebalanceCheckError when there is none in the end.
    """
    if int(admin.CreateTopicsRequest.API_KEY) not in broker.served:
        await_until(
            lambda: _led(broker, name, may_create=True) or NotYet(), timeout_s=DEADLINE_S, pause_s=PAUSE_S,
            otherwise=f"the broker at {broker.bootstrap} neither serves CreateTopics nor creates the topic {name!r} "
            "when Metadata asks for it", hint=f"create the topic {name!r}",
        )  # fmt: skip
    elif not _led(broker, name, may_create=False):
        create_topic(broker.bootstrap, name, partitions)


def _led(broker: Broker, name: str, *, may_create: bool) -> bool:
    """Whether the topic is there, and each of its partitions has a leader."""
    topics: list[Any] = [metadata.MetadataRequest.MetadataRequestTopic(name=name)]
    request = metadata.MetadataRequest(topics=topics, allow_auto_topic_creation=may_create)
    with Connection(broker.bootstrap, timeout_s=DEADLINE_S) as connection:
        (topic,) = connection.call(request, capped_version(request, METADATA_VERSION, broker.served)).topics
    return bool(topic.partitions) and topic.error_code == 0 and all(p.leader_id >= 0 for p in topic.partitions)
