"""Requests that name a topic, a partition or a group twice or not at all, or have null where it may stand."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kafka.record.memory_records import MemoryRecordsBuilder

from rebalance_check.integration.wire.apis import VERSIONS
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, consumer, metadata, producer

ONE, TWO, ABSENT = "repeated-one", "repeated-two", "repeated-absent"
"""Two topics with two partitions, and one that does not exist."""

GROUP = "repeated-values"

Named = Sequence[tuple[str, Sequence[Any]]]
"""Topics in the order of the request, each with its partitions."""

Case = tuple[str, ApiMessage, int]
"""The name of the repeated value, the request, and its version."""


def batch(records: int = 1) -> bytes:
    builder = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 16)
    for number in range(records):
        builder.append(timestamp=int(time.time() * 1000), key=None, value=b"%d" % number)
    builder.close()
    return bytes(builder.buffer())


def produce(topics: Named, acks: int = -1) -> ApiMessage:
    topic = producer.ProduceRequest.TopicProduceData
    data = [
        topic(name=n, partition_data=[topic.PartitionProduceData(index=i, records=r) for i, r in named])
        for n, named in topics
    ]
    return producer.ProduceRequest(transactional_id=None, acks=acks, timeout_ms=3_000, topic_data=data)


NULL_RECORDS = produce([(ONE, [(0, batch()), (1, None)])])


def produces() -> Iterable[tuple[str, ApiMessage]]:
    yield "no records", produce([(ONE, [(0, b"")])])
    yield "a partition", produce([(ONE, [(0, batch()), (0, batch(2))])])
    yield "a topic", produce([(ONE, [(0, batch())]), (TWO, [(0, batch())]), (ONE, [(1, batch())])])
    yield "a topic and its partition", produce([(ONE, [(0, batch())]), (TWO, [(0, batch())]), (ONE, [(0, batch(3))])])
    yield "a batch", produce([(ONE, [(0, batch() + batch())])])
    yield "an absent topic", produce([(ABSENT, [(0, batch())]), (ONE, [(0, batch())]), (ABSENT, [(0, batch())])])
    yield "nothing", produce([])
    yield "no partition", produce([(ONE, [])])
    yield "unknown acks", produce([(ONE, [(0, batch())])], acks=5)


def commits() -> Iterable[tuple[str, ApiMessage]]:
    topic = consumer.OffsetCommitRequest.OffsetCommitRequestTopic
    partition = topic.OffsetCommitRequestPartition

    def commit(topics: Named, text: str | None = "") -> ApiMessage:
        wanted = [
            topic(name=n, partitions=[
                partition(partition_index=i, committed_offset=7, committed_leader_epoch=-1, committed_metadata=text)
                for i in named
            ])
            for n, named in topics
        ]  # fmt: skip
        return consumer.OffsetCommitRequest(
            group_id=GROUP, generation_id_or_member_epoch=-1, member_id="", group_instance_id=None, topics=wanted
        )

    yield "a partition", commit([(ONE, [0, 0])])
    yield "a topic", commit([(ONE, [0]), (TWO, [0, 1]), (ONE, [1])])  # TWO-1 keeps the group from being empty
    yield "a topic, next to itself", commit([(ONE, [0]), (ONE, [1])])
    yield "a topic, and one is absent", commit([(ONE, [0]), (ABSENT, [0]), (ONE, [1, 9])])
    yield "an absent topic", commit([(ABSENT, [0]), (ONE, [0]), (ABSENT, [1])])
    yield "null metadata", commit([(ONE, [0])], text=None)
    yield "no partition", commit([(ONE, []), (TWO, [])])
    yield "nothing", commit([])


def fetches() -> Iterable[tuple[str, ApiMessage]]:
    group = consumer.OffsetFetchRequest.OffsetFetchRequestGroup
    of_group = group.OffsetFetchRequestTopics
    plain = consumer.OffsetFetchRequest.OffsetFetchRequestTopic

    def fetch(topics: Named, groups: Sequence[str] = (GROUP,)) -> ApiMessage:
        """The same question in the fields of old versions and in those of new ones."""
        return consumer.OffsetFetchRequest(
            group_id=GROUP,
            topics=[plain(name=n, partition_indexes=[*named]) for n, named in topics],
            groups=[
                group(group_id=name, member_id=None, member_epoch=-1,
                      topics=[of_group(name=n, partition_indexes=[*named]) for n, named in topics])
                for name in groups
            ],
            require_stable=False,
        )  # fmt: skip

    yield "a partition", fetch([(ONE, [0, 0])])
    yield "a topic", fetch([(ONE, [0]), (TWO, [0]), (ONE, [1, 0])])
    yield "an absent topic", fetch([(ABSENT, [0]), (ONE, [0]), (ABSENT, [1])])
    yield "a group", fetch([(ONE, [0])], groups=[GROUP, "another", GROUP])
    yield "no group", fetch([(ONE, [0])], groups=[])
    yield "no partition", fetch([(ONE, [])])
    yield "nothing", fetch([])


def deletions() -> Iterable[tuple[str, ApiMessage]]:
    topic = consumer.OffsetDeleteRequest.OffsetDeleteRequestTopic
    partition = topic.OffsetDeleteRequestPartition

    def delete(topics: Named, group: str = GROUP) -> ApiMessage:
        wanted = [topic(name=n, partitions=[partition(partition_index=i) for i in named]) for n, named in topics]
        return consumer.OffsetDeleteRequest(group_id=group, topics=wanted)

    yield "a partition", delete([(ONE, [0, 0])])
    yield "a topic", delete([(ONE, [0]), (TWO, [0]), (ONE, [1])])
    yield "an absent topic", delete([(ABSENT, [0]), (ONE, [0, 9]), (ABSENT, [1])])
    yield "an absent group", delete([(ONE, [0])], group="repeated-absent-group")
    yield "no partition", delete([(ONE, [])])
    yield "nothing", delete([])


def reads() -> Iterable[tuple[str, ApiMessage]]:
    topic = consumer.FetchRequest.FetchTopic

    def read(topics: Named) -> ApiMessage:
        wanted = [
            topic(topic=n, partitions=[
                topic.FetchPartition(partition=i, current_leader_epoch=-1, fetch_offset=0, last_fetched_epoch=-1,
                                     log_start_offset=-1, partition_max_bytes=1 << 20)
                for i in named
            ])
            for n, named in topics
        ]  # fmt: skip
        return consumer.FetchRequest(
            replica_id=-1, max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, isolation_level=0, session_id=0,
            session_epoch=-1, topics=wanted, forgotten_topics_data=[], rack_id="",
        )  # fmt: skip

    yield "a partition", read([(TWO, [0]), (ONE, [1]), (TWO, [0])])
    yield "an absent topic", read([(ABSENT, [0]), (ONE, [9]), (ABSENT, [1])])
    yield "no partition", read([(ONE, [])])
    yield "nothing", read([])


def offsets() -> Iterable[tuple[str, ApiMessage]]:
    topic = consumer.ListOffsetsRequest.ListOffsetsTopic
    partition = topic.ListOffsetsPartition

    def ask(topics: Named) -> ApiMessage:
        wanted = [
            topic(name=n, partitions=[
                partition(partition_index=i, current_leader_epoch=-1, timestamp=-1) for i in named
            ])
            for n, named in topics
        ]  # fmt: skip
        return consumer.ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=wanted)

    yield "a partition", ask([(ONE, [0, 0, 1])])
    yield "a topic", ask([(ONE, [0]), (TWO, [0]), (ONE, [1])])
    yield "an absent topic", ask([(ABSENT, [0]), (ONE, [1]), (ABSENT, [0])])
    yield "no partition", ask([(ONE, [])])
    yield "nothing", ask([])


def others() -> Iterable[tuple[str, ApiMessage]]:
    names = [metadata.MetadataRequest.MetadataRequestTopic(name=n) for n in (ONE, TWO, ONE, ABSENT, ABSENT)]
    yield "a topic", metadata.MetadataRequest(topics=names, allow_auto_topic_creation=False)
    twice = ["repeated-nowhere", "repeated-elsewhere", "repeated-nowhere"]
    yield "a group", admin.DescribeGroupsRequest(groups=twice, include_authorized_operations=False)
    yield "nothing", admin.DescribeGroupsRequest(groups=[], include_authorized_operations=False)
    yield "a group", admin.DeleteGroupsRequest(groups_names=twice)
    yield "nothing", admin.DeleteGroupsRequest(groups_names=[])
    topic = admin.CreateTopicsRequest.CreatableTopic
    new = [topic(name=n, num_partitions=1, replication_factor=1, assignments=[], configs=[]) for n in twice]
    yield "a topic", admin.CreateTopicsRequest(topics=new, timeout_ms=3_000, validate_only=True)
    yield "nothing", admin.CreateTopicsRequest(topics=[], timeout_ms=3_000, validate_only=True)


def cases(most: Mapping[int, int]) -> Iterator[Case]:
    """Every request in every version that the embedded broker serves, up to the highest that Kafka does (``most``)."""
    for requests in (produces, commits, fetches, deletions, reads, offsets, others):
        for repeated, request in requests():
            low, high = VERSIONS[request.API_KEY]
            yield from ((repeated, request, version) for version in range(low, min(high, most[request.API_KEY]) + 1))
