"""Sequences of requests about topics, configs, offsets and transactions: each yields what it was answered.

A sequence runs on any broker; what names the broker, an id that it chose, or a time is left out of what it yields.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from kafka.record.memory_records import MemoryRecordsBuilder

from rebalance_check.integration.wire.apis import VERSIONS
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, consumer, metadata, producer

Call = Callable[[ApiMessage, int], Any]
Most = Mapping[int, int]
"""The highest version of each api that may be asked: that of Kafka, which may be older than ours."""
Answers = Iterator[tuple[Any, Any]]
"""The request, for a message, and the answer."""

NOW: Final = int(time.time() * 1000)
ABSENT = "administered-absent"
PATIENCE = 100
LOADING = frozenset({14, 15, 16})
RETRIABLE = LOADING | {51}
"""A coordinator that loads or is not known yet, and a transaction that is still ending."""

LEFT_OUT = frozenset({"throttle_time_ms", "error_message", "topic_config_error_code", "producer_id", "documentation",
                      "log_start_offset"})  # fmt: skip


def error_codes(answer: Any) -> list[int]:
    if isinstance(answer, dict):
        own = [code for name, code in answer.items() if name.endswith("error_code")]
        return own + error_codes([value for value in answer.values() if not isinstance(value, int)])
    return [code for one in answer for code in error_codes(one)] if isinstance(answer, list | tuple) else []


def shown(field: Any) -> Any:
    """An answer without what depends on the broker; lists are in the order of a hash table."""
    if isinstance(field, dict):
        return {name: shown(value) for name, value in field.items() if name not in LEFT_OUT}
    return sorted((shown(one) for one in field), key=str) if isinstance(field, list) else field


# ------------------------------------------------------------------------------------------------ records


def batch(offsets_ms: Sequence[int], *, by: tuple[int, int] = (-1, -1), sequence: int = -1) -> bytes:
    """Records with these timestamps after `NOW`; ``by`` is a transactional producer."""
    is_transactional = by[0] >= 0
    builder = MemoryRecordsBuilder(
        magic=2, compression_type=0, batch_size=1 << 16, transactional=is_transactional,
        producer_id=by[0], producer_epoch=by[1], base_sequence=sequence,
    )  # fmt: skip
    for number, offset_ms in enumerate(offsets_ms):
        builder.append(timestamp=NOW + offset_ms, key=None, value=b"%d" % number)
    builder.close()
    return bytes(builder.buffer())


def produce(call: Call, topic: str, records: bytes, name: str | None = None, index: int = 0) -> Any:
    data = producer.ProduceRequest.TopicProduceData
    part = data.PartitionProduceData(index=index, records=records)
    request = producer.ProduceRequest(
        transactional_id=name, acks=-1, timeout_ms=3_000, topic_data=[data(name=topic, partition_data=[part])]
    )
    for _ in range(PATIENCE):  # the leader may not know yet that it is one
        response = call(request, 9)
        if response.responses[0].partition_responses[0].error_code != 6:
            break
        time.sleep(0.05)
    return shown(response.to_dict())


def listed(call: Call, topic: str, timestamp: int, version: int, *, index: int = 0, epoch: int = -1,
           isolation: int = 0) -> Any:  # fmt: skip
    of = consumer.ListOffsetsRequest.ListOffsetsTopic
    wanted = of.ListOffsetsPartition(partition_index=index, current_leader_epoch=epoch, timestamp=timestamp)
    request = consumer.ListOffsetsRequest(
        replica_id=-1, isolation_level=isolation, timeout_ms=1_000, topics=[of(name=topic, partitions=[wanted])]
    )
    return shown(call(request, version).to_dict())


def versions(api: Any, most: Most, low: int = 0) -> range:
    return range(low, min(VERSIONS[api.API_KEY][1], most[api.API_KEY]) + 1)


def offsets_by_time(call: Call, topic: str, most: Most) -> Answers:
    """ListOffsets by time and by every negative timestamp, in every version; DeleteRecords, and the same again."""
    for times in ([1_000, 5_000, 3_000], [4_000, 2_000], [5_000, 5_000]):
        yield times, produce(call, topic, batch(times))
    for index in (0, 1, 9):
        for offset_ms in (0, 1_000, 1_001, 3_000, 4_500, 5_000, 5_001):
            yield (index, offset_ms), listed(call, topic, NOW + offset_ms, 7, index=index)
    for version in versions(consumer.ListOffsetsRequest, most, 1):
        for timestamp in (0, -1, -2, -3, -4, -5, -6, -7):
            for index in (0, 1, 9):
                yield (version, timestamp, index), listed(call, topic, timestamp, version, index=index)
    for epoch in (0, 1, -2):
        yield f"epoch {epoch}", listed(call, topic, -1, 7, epoch=epoch)
    yield from deletions(call, topic)
    for timestamp in (-1, -2, -3, 0, NOW + 4_500):
        yield f"{timestamp} after deletions", listed(call, topic, timestamp, 7)


def deletions(call: Call, topic: str) -> Answers:
    of = admin.DeleteRecordsRequest.DeleteRecordsTopic

    def delete(*wanted: tuple[str, int, int]) -> Any:
        topics = [of(name=n, partitions=[of.DeleteRecordsPartition(partition_index=i, offset=o)]) for n, i, o in wanted]
        return shown(call(admin.DeleteRecordsRequest(timeout_ms=3_000, topics=topics), 2).to_dict())

    for offset in (4, 2, 100, -2):
        yield f"delete to {offset}", delete((topic, 0, offset))
    yield "absent", delete((ABSENT, 0, 1), (topic, 7, 1), (topic, 0, 0))
    yield "empty", delete((topic, 1, 0), (topic, 1, -1))
    yield "nothing", delete()


# ------------------------------------------------------------------------------------------------ topics and configs


def topics_and_partitions(call: Call, topic: str, _: Most) -> Answers:
    """CreateTopics, CreatePartitions and DeleteTopics, and what each of them refuses."""
    yield from creations(call, f"{topic}-new")
    for version in range(4):
        yield from growth(call, topic, version)
    for version in range(1, 6):
        for names in ([ABSENT], ["a b"], [""], [], [f"{topic}-new", f"{topic}-new"]):
            yield (version, names), deleted(call, names, version)
    yield "deleted", deleted(call, [f"{topic}-new"], 5)
    yield "deleted again", deleted(call, [f"{topic}-new"], 5)


def deleted(call: Call, names: list[str], version: int) -> Any:
    return shown(call(admin.DeleteTopicsRequest(topic_names=names, timeout_ms=3_000), version).to_dict())


def creations(call: Call, new: str) -> Answers:
    of = admin.CreateTopicsRequest.CreatableTopic

    def create(name: str, partitions: int, replicas: int, assigned: Sequence[tuple[int, list[int]]] = (),
               configs: Sequence[tuple[str, str | None]] = (), *, only_tried: bool = True) -> Any:  # fmt: skip
        wanted = of(
            name=name, num_partitions=partitions, replication_factor=replicas,
            assignments=[of.CreatableReplicaAssignment(partition_index=i, broker_ids=b) for i, b in assigned],
            configs=[of.CreatableTopicConfig(name=n, value=v) for n, v in configs],
        )  # fmt: skip
        request = admin.CreateTopicsRequest(topics=[wanted], timeout_ms=3_000, validate_only=only_tried)
        answered = shown(call(request, 5).to_dict())
        for created in answered["topics"]:
            created["configs"] = [each for each in created["configs"] if each["name"] != "min.insync.replicas"]
        return answered

    for set_ in (
        [("cleanup.policy", "compact")], [("cleanup.policy", "foo")], [("nonsense", "1")], [("cleanup.policy", None)],
        [("retention.ms", "a")], [("retention.ms", "-2")],
        [("cleanup.policy", "compact"), ("cleanup.policy", "delete")],
        [("min.cleanable.dirty.ratio", "1.5")], [("compression.gzip.level", "10")], [("preallocate", "maybe")],
        [("segment.bytes", str(1 << 31))], [("retention.bytes", str(1 << 63))], [("message.timestamp.type", "x")],
    ):  # fmt: skip
        yield set_, create(new, 1, 1, configs=set_)
    for counts in ((1, 3), (1, 0), (1, -2), (0, 1), (-2, 1), (-1, -1)):
        yield counts, create(new, *counts)
    by_hand: list[list[tuple[int, list[int]]]] = [
        [(0, [1]), (1, [1])], [(0, [1]), (2, [1])], [(0, [7])], [(0, [])], [(0, [1, 1])]
    ]  # fmt: skip
    for assigned in by_hand:
        yield assigned, create(new, -1, -1, assigned)
    yield "both", create(new, 2, -1, [(0, [1]), (1, [1])])
    for name in ("a b", ".", "..", "", "x" * 250, "x" * 249):
        yield name, create(name, 1, 1)
    yield "created", create(new, 1, 1, configs=[("retention.ms", "50000")], only_tried=False)
    yield "twice", create(new, 1, 1)
    yield "nearly", create(new.replace("-", "_"), 1, 1, only_tried=False)
    yield "collides", create(new.replace("-", "."), 1, 1)


def growth(call: Call, topic: str, version: int) -> Answers:
    of = admin.CreatePartitionsRequest.CreatePartitionsTopic

    def grow(*wanted: tuple[str, int, list[list[int]] | None], only_tried: bool = True) -> Any:
        topics = [
            of(name=n, count=c,
               assignments=None if a is None else [of.CreatePartitionsAssignment(broker_ids=b) for b in a])
            for n, c, a in wanted
        ]  # fmt: skip
        request = admin.CreatePartitionsRequest(topics=topics, timeout_ms=3_000, validate_only=only_tried)
        return shown(call(request, version).to_dict())

    have = 2 + version
    yield "more", grow((topic, have + 1, None), only_tried=False)
    for count in (have + 1, have, 0, -1):
        yield count, grow((topic, count, None))
    by_hand: list[list[list[int]]] = [[[1]], [[1], [1]], [[7]], [], [[]], [[1, 1]]]
    for assigned in by_hand:
        yield assigned, grow((topic, have + 2, assigned))
    yield "twice", grow((topic, 90, None), (topic, 91, None))
    yield "absent", grow((topic, 90, None), (ABSENT, 91, None), ("", 3, None), ("a b", 3, None))
    yield "none", grow()


def configs(call: Call, topic: str, _: Most) -> Answers:
    """DescribeConfigs and IncrementalAlterConfigs of topics, and what they refuse of others."""
    of = admin.DescribeConfigsRequest.DescribeConfigsResource

    def describe(kind: int, name: str, keys: list[str] | None = None, version: int = 4) -> Any:
        resource = of(resource_type=kind, resource_name=name, configuration_keys=keys)
        request = admin.DescribeConfigsRequest(
            resources=[resource, resource], include_synonyms=True, include_documentation=False
        )
        answered = shown(call(request, version).to_dict())
        for each in answered["results"]:  # KRaft sets this one for the whole cluster
            each["configs"] = [one for one in each["configs"] if one["name"] != "min.insync.replicas"]
        return answered

    for version in range(1, 5):
        yield f"all in v{version}", describe(2, topic, version=version)
        yield f"some in v{version}", describe(2, topic, ["cleanup.policy", "nonsense"], version)
    for kind, name in ((2, ABSENT), (2, "a b"), (2, ""), (4, "7"), (4, "x"), (4, ""), (32, ""), (99, "g"), (0, "g")):
        yield (kind, name), describe(kind, name)
    for changes in CHANGES:
        yield (changes, "set"), altered(call, [(2, topic)], changes, is_tried=False)
        time.sleep(0.05)  # Kafka's broker learns of a change from its controller
        yield changes, settled(lambda: describe(2, topic, ["cleanup.policy", "retention.ms", "preallocate"]))
    for kind, name in ((2, ABSENT), (2, "a b"), (99, "1")):
        yield (kind, name), altered(call, [(kind, name)], (("retention.ms", 0, "5"),), True)
    yield "only tried", altered(call, [(2, topic)], (("retention.ms", 0, "12345"),), True)
    yield "still", describe(2, topic, ["retention.ms"])
    yield "a topic twice", altered(call, [(2, topic), (2, topic)], (), True)
    yield "nothing", altered(call, [], (), True)


CHANGES: Final = (
    (("cleanup.policy", 0, "compact"),), (("cleanup.policy", 2, "delete"),), (("cleanup.policy", 2, "delete"),),
    (("cleanup.policy", 3, "compact"),), (("cleanup.policy", 0, "foo"),), (("retention.ms", 0, "x"),),
    (("nonsense", 0, "x"),), (("nonsense", 1, None),), (("retention.ms", 2, "5"),), (("retention.ms", 0, None),),
    (("retention.ms", 0, "77"),), (("retention.ms", 1, None),), (("retention.ms", 0, "5"), ("retention.ms", 1, None)),
    (("retention.ms", 7, "5"),), (("retention.ms", 0, "99"), ("nonsense", 0, "x")), (("preallocate", 0, "maybe"),),
    (("preallocate", 0, "TRUE"),), (("min.insync.replicas", 0, "0"),), (("retention.bytes", 0, ""),),
    (("cleanup.policy", 1, None),), (("cleanup.policy", 2, "compact"),), (),
)  # fmt: skip


def altered(
    call: Call, resources: Sequence[tuple[int, str]], changes: Sequence[tuple[str, int, str | None]], is_tried: bool
) -> Any:
    of = admin.IncrementalAlterConfigsRequest.AlterConfigsResource
    wanted = [
        of(resource_type=kind, resource_name=name,
           configs=[of.AlterableConfig(name=n, config_operation=o, value=v) for n, o, v in changes])
        for kind, name in resources
    ]  # fmt: skip
    request = admin.IncrementalAlterConfigsRequest(resources=wanted, validate_only=is_tried)
    return shown(call(request, 1).to_dict())


def settled(ask: Callable[[], Any]) -> Any:
    """An answer that comes twice in a row."""
    answer = ask()
    for _ in range(PATIENCE):
        before, answer = answer, ask()
        if before == answer:
            break
        time.sleep(0.02)
    return answer


# ------------------------------------------------------------------------------------------------ the cluster


def looks_around(call: Call, topic: str, most: Most) -> Answers:
    """Permissions, DescribeCluster, and FindCoordinator for every type of key, with Kafka's messages."""
    one = metadata.MetadataRequest.MetadataRequestTopic(name=topic)
    for asks in (True, False):
        for version in (8, 9):
            request = metadata.MetadataRequest(
                topics=[one], allow_auto_topic_creation=False, include_cluster_authorized_operations=asks,
                include_topic_authorized_operations=asks,
            )  # fmt: skip
            answer = call(request, version)
            yield (asks, version), (answer.authorized_operations, answer.topics[0].authorized_operations)
        for version in (3, 4, 5):
            groups = call(admin.DescribeGroupsRequest(groups=[topic], include_authorized_operations=asks), version)
            yield ("group", asks, version), groups.groups[0].authorized_operations
        for version in versions(admin.DescribeClusterRequest, most):
            for kind in (1, 2, 3, -1) if version else (1,):
                request = admin.DescribeClusterRequest(include_cluster_authorized_operations=asks, endpoint_type=kind)
                answer = call(request, version)
                broker = [(each.broker_id, each.host, each.rack) for each in answer.brokers]
                yield (
                    ("cluster", asks, version, kind),
                    (answer.error_code, answer.error_message, answer.authorized_operations, broker),
                )
    for version in range(6):
        for kind in (0, 2, 3, -1, 127):
            yield (kind, version), found(call, topic, kind, version)


def found(call: Call, key: str, kind: int, version: int) -> Any:
    request = metadata.FindCoordinatorRequest(key=key, coordinator_keys=[key, ""], key_type=kind)
    answer = call(request, version).to_dict()
    return [
        {name: value for name, value in each.items() if name not in ("port", "throttle_time_ms")}
        for each in answer.get("coordinators", [answer])
    ]
