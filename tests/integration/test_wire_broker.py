"""The embedded broker on its socket: parking, ordering, malformed bytes, versions, topics and records."""

import logging
import socket
import struct

import pytest

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.wire.call import Connection, split_address
from rebalance_check.integration.wire.kafka_python import admin, consumer, errors, metadata, producer
from rebalance_check.integration.wire.raw_group import RawGroup
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError


def join(member_id: str = "", version: int = 3, session_ms: int = 6_000) -> msg.JoinGroupRequest:
    return msg.JoinGroupRequest(
        group_id="g", version=version, session_timeout_ms=session_ms, rebalance_timeout_ms=6_000, member_id=member_id,
        protocol_type="consumer", protocols=(msg.JoinProtocol("range", b"x"),),
    )  # fmt: skip


def joined(group: RawGroup, member: int, request: msg.JoinGroupRequest) -> msg.JoinGroupReply:
    group.request(member, request)
    ((who, reply),) = group.replies(at_least=1, timeout_s=5)
    assert who == member
    assert isinstance(reply, msg.JoinGroupReply)
    return reply


def test_a_join_is_parked_until_the_other_member_joins(group: RawGroup) -> None:
    first = joined(group, 0, join())
    assert (first.generation_id, first.leader) == (1, first.member_id)
    group.request(1, join())
    group.barrier()
    assert group.replies(at_least=0, timeout_s=0) == []
    group.request(0, join(first.member_id))
    replies = dict(group.replies(at_least=2, timeout_s=5))
    assert sorted(replies) == [0, 1]
    assert {reply.error for reply in replies.values()} == {Error.NONE}


def test_a_new_member_first_learns_its_id__from_version_4(group: RawGroup) -> None:
    reply = joined(group, 0, join(version=4))
    assert (reply.error, reply.member_id[:3]) == (Error.MEMBER_ID_REQUIRED, "m0-")
    assert joined(group, 0, join(reply.member_id, version=4)).error is Error.NONE


def test_sessions_expire_in_real_time(broker: EmbeddedBroker, group: RawGroup) -> None:
    joined(group, 0, join(session_ms=150))
    group.barrier()
    with Connection(broker.bootstrap) as connection:
        for _ in range(100):
            state = connection.call(admin.DescribeGroupsRequest(groups=["g"]), 4).groups[0].group_state
            if state == "Empty":
                return
            group.replies(at_least=1, timeout_s=0.05)
    pytest.fail(f"the group is {state} 5 s after a session of 150 ms")


def test_a_group_is_listed_described_and_deleted(broker: EmbeddedBroker, group: RawGroup) -> None:
    member = joined(group, 0, join())
    with Connection(broker.bootstrap) as connection:
        listed = connection.call(admin.ListGroupsRequest(states_filter=["completingrebalance"]), 4).groups
        assert [(g.group_id, g.group_state) for g in listed] == [("g", "CompletingRebalance")]
        assert connection.call(admin.ListGroupsRequest(states_filter=["Stable"]), 4).groups == []
        refused = connection.call(admin.DeleteGroupsRequest(groups_names=["g", "none"]), 1).results
        assert [r.error_code for r in refused] == [Error.NON_EMPTY_GROUP, Error.GROUP_ID_NOT_FOUND]
        group.request(
            0, msg.LeaveGroupRequest(group_id="g", version=3, members=(msg.MemberIdentity(member.member_id),))
        )
        assert [reply.error for _, reply in group.replies(at_least=1, timeout_s=5)] == [Error.NONE]
        assert connection.call(admin.DeleteGroupsRequest(groups_names=["g"]), 1).results[0].error_code == 0
        assert connection.call(admin.DescribeGroupsRequest(groups=["g"]), 4).groups[0].group_state == "Dead"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        pytest.param(b"\xff\xff\xff\xff", "a frame of -1 bytes", id="negative length"),
        pytest.param(b"\x7f\xff\xff\xff", "a frame of 2147483647 bytes", id="huge length"),
        pytest.param(struct.pack(">i", 3) + b"abc", "a frame of 3 bytes", id="shorter than a header"),
        pytest.param(struct.pack(">ihhi", 8, 999, 0, 1), "api key 999", id="unknown api"),
        pytest.param(struct.pack(">ihhi", 8, 11, 99, 1), "JoinGroup v99", id="unknown version"),
        pytest.param(struct.pack(">ihhih", 10, 11, 5, 1, -1), "ends before its last field", id="no body"),
        pytest.param(struct.pack(">ihhi", 20, 11, 5, 1) + b"\x7f" * 12, "of which the frame has", id="garbage body"),
    ],
)
def test_malformed_bytes_close_their_connection_and_harm_nothing_else(
    broker: EmbeddedBroker, group: RawGroup, caplog: pytest.LogCaptureFixture, sent: bytes, reason: str
) -> None:
    member = joined(group, 0, join())
    with caplog.at_level(logging.WARNING), socket.create_connection(split_address(broker.bootstrap), 5) as peer:
        peer.sendall(sent)
        assert peer.recv(100) == b""
    assert reason in caplog.text
    beat = msg.HeartbeatRequest(group_id="g", version=3, generation_id=1, member_id=member.member_id)
    group.request(0, beat)
    assert [reply.error for _, reply in group.replies(at_least=1, timeout_s=5)] == [Error.NONE]


def test_an_unknown_version_of_api_versions_is_answered_with_what_is_served(broker: EmbeddedBroker) -> None:
    with socket.create_connection(split_address(broker.bootstrap), 5) as peer:
        peer.sendall(struct.pack(">ihhih", 10, 18, 77, 5, -1))
        length, correlation_id, code = struct.unpack(">iih", peer.recv(10))
        assert (correlation_id, code) == (5, Error.UNSUPPORTED_VERSION)
        assert length > 100


def test_a_topic_is_created_once(broker: EmbeddedBroker) -> None:
    create_topic(broker.bootstrap, "new", 3)
    with pytest.raises(RebalanceCheckError, match="TopicAlreadyExistsError"):
        create_topic(broker.bootstrap, "new", 3)
    with Connection(broker.bootstrap) as connection:
        topics = connection.call(metadata.MetadataRequest(topics=None, allow_auto_topic_creation=False), 5).topics
        assert {topic.name: len(topic.partitions) for topic in topics} == {"new": 3, "t": 4}


def test_a_commit_to_a_partition_that_does_not_exist_is_refused__the_others_are_kept(group: RawGroup) -> None:
    offsets = (msg.CommittedOffset("t", 0, 5), msg.CommittedOffset("t", 9, 5), msg.CommittedOffset("none", 0, 5))
    group.request(0, msg.OffsetCommitRequest(group_id="g", version=7, offsets=offsets))
    ((_, reply),) = group.replies(at_least=1, timeout_s=5)
    assert isinstance(reply, msg.OffsetCommitReply)
    missing = Error.UNKNOWN_TOPIC_OR_PARTITION
    assert reply.partitions == (("t", 9, missing), ("t", 0, Error.NONE), ("none", 0, missing))
    group.request(0, msg.OffsetFetchRequest(group_id="g", version=7, partitions=(("t", 0),)))
    ((_, fetched),) = group.replies(at_least=1, timeout_s=5)
    assert isinstance(fetched, msg.OffsetFetchReply)
    assert [(o.topic, o.offset) for o in fetched.offsets] == [("t", 5)]


def test_records_of_no_known_format_are_refused(broker: EmbeddedBroker) -> None:
    data_of = producer.ProduceRequest.TopicProduceData
    data = data_of.PartitionProduceData(index=0, records=b"these are no records, whatever they are taken for")
    request = producer.ProduceRequest(acks=1, timeout_ms=100, topic_data=[data_of(name="t", partition_data=[data])])
    with Connection(broker.bootstrap) as connection:
        answered = connection.call(request, 7).responses[0].partition_responses[0]
        assert answered.error_code == errors.CorruptRecordError.errno
        wanted = consumer.ListOffsetsRequest.ListOffsetsTopic
        partition = wanted.ListOffsetsPartition(partition_index=0, timestamp=-1)
        ends = consumer.ListOffsetsRequest(
            replica_id=-1, isolation_level=0, topics=[wanted(name="t", partitions=[partition])]
        )
        assert connection.call(ends, 2).topics[0].partitions[0].offset == 0


def test_the_limit_of_metadata_counts_units_of_utf_16(group: RawGroup) -> None:
    texts = ("\u00e9" * 4_096, "\U0001f600" * 2_048, "x" * 4_097, "\U0001f600" * 2_049)
    answered = []
    for text in texts:
        commit = msg.OffsetCommitRequest(group_id="g", version=7, offsets=(msg.CommittedOffset("t", 0, 5, text),))
        group.request(0, commit)
        ((_, reply),) = group.replies(at_least=1, timeout_s=5)
        assert isinstance(reply, msg.OffsetCommitReply)
        answered.append(reply.partitions[0][2])
    too_large = Error.OFFSET_METADATA_TOO_LARGE
    assert answered == [Error.NONE, Error.NONE, too_large, too_large]


@pytest.mark.parametrize("partitions", [(), (9,)], ids=["no partition", "a partition that does not exist"])
def test_a_commit_of_nothing_creates_no_group(broker: EmbeddedBroker, partitions: tuple[int, ...]) -> None:
    topic = consumer.OffsetCommitRequest.OffsetCommitRequestTopic
    named = [topic.OffsetCommitRequestPartition(partition_index=index, committed_offset=5) for index in partitions]
    request = consumer.OffsetCommitRequest(
        group_id="g", generation_id_or_member_epoch=-1, member_id="", topics=[topic(name="t", partitions=named)]
    )
    with Connection(broker.bootstrap) as connection:
        connection.call(request, 7)
        assert connection.call(admin.ListGroupsRequest(), 4).groups == []


def test_a_topic_that_does_not_exist_is_answered_without_partitions__one_that_exists_is_not(
    broker: EmbeddedBroker,
) -> None:
    topic = consumer.OffsetCommitRequest.OffsetCommitRequestTopic
    named = [topic(name=name, partitions=[]) for name in ("t", "none", "t")]
    request = consumer.OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=-1, member_id="", topics=named)
    with Connection(broker.bootstrap) as connection:
        assert [each.name for each in connection.call(request, 7).topics] == ["none"]


def test_offsets_of_what_does_not_exist_are_not_deleted(broker: EmbeddedBroker, group: RawGroup) -> None:
    group.request(0, msg.OffsetCommitRequest(group_id="g", version=7, offsets=(msg.CommittedOffset("t", 0, 5),)))
    group.replies(at_least=1, timeout_s=5)
    group.request(0, msg.OffsetDeleteRequest(group_id="g", version=0, partitions=(("t", 0), ("t", 9), ("none", 0))))
    ((_, reply),) = group.replies(at_least=1, timeout_s=5)
    assert isinstance(reply, msg.OffsetDeleteReply)
    missing = Error.UNKNOWN_TOPIC_OR_PARTITION
    assert sorted(reply.partitions) == [("none", 0, missing), ("t", 0, Error.NONE), ("t", 9, missing)]


@pytest.mark.parametrize("version", [1, 3, 4, 5])
def test_a_coordinator_of_an_unknown_kind_is_refused(broker: EmbeddedBroker, version: int) -> None:
    ask = metadata.FindCoordinatorRequest(key="g", coordinator_keys=["g"], key_type=7)
    with Connection(broker.bootstrap) as connection:
        answer = connection.call(ask, version)
    found = answer.coordinators[0] if version >= 4 else answer
    assert (found.error_code, found.node_id) == (errors.InvalidRequestError.errno, -1)
    assert found.error_message.startswith("This most likely occurs because of a request being malformed")


def test_a_group_that_is_named_twice_is_deleted_once(broker: EmbeddedBroker) -> None:
    with Connection(broker.bootstrap) as connection:
        results = connection.call(admin.DeleteGroupsRequest(groups_names=["g", "h", "g"]), 1).results
    assert [each.group_id for each in results] == ["g", "h"]


@pytest.mark.parametrize(("protocol_type", "name"), [(None, "range"), ("consumer", None), (None, None)])
def test_a_sync_without_protocol_type_or_name_is_refused__from_version_5(
    group: RawGroup, protocol_type: str | None, name: str | None
) -> None:
    member = joined(group, 0, join())
    for version, expected in ((5, Error.INCONSISTENT_GROUP_PROTOCOL), (4, Error.NONE)):
        request = msg.SyncGroupRequest(
            group_id="g", version=version, generation_id=1, member_id=member.member_id, protocol_type=protocol_type,
            protocol_name=name,
        )  # fmt: skip
        group.request(0, request)
        ((_, reply),) = group.replies(at_least=1, timeout_s=5)
        assert reply.error is expected


def test_a_fetch_of_all_offsets_needs_version_2(broker: EmbeddedBroker) -> None:
    everything = consumer.OffsetFetchRequest(group_id="g", topics=None)
    with Connection(broker.bootstrap) as connection:
        assert connection.call(everything, 2).topics == []
    with Connection(broker.bootstrap) as connection, pytest.raises(ConnectionError, match="closed the connection"):
        connection.call(everything, 1)
