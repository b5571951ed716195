"""The codecs on bytes and values that nobody foresaw: versions mix as Kafka's do, and nothing else is ever raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.impl.protocol import connect_protocol as connect
from rebalance_check.impl.protocol import json_converter
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.java_order import hash_map_order, hash_set_order, string_hash
from rebalance_check.impl.protocol.sticky_user_data import read_cooperative, read_sticky, write_sticky
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.protocol.wire import MalformedBytes, Writer
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
int32 = st.integers(-(2**31), 2**31 - 1)
numbers = st.integers(0, 2**31 - 1)
partitions = st.lists(st.builds(TopicPartition, names, int32), max_size=5).map(tuple)
blobs = st.none() | st.binary(max_size=6)
subscriptions = st.builds(
    Subscription,
    topics=st.lists(names, max_size=4).map(tuple),
    user_data=blobs,
    owned=partitions,
    generation=st.none() | numbers,
    rack=st.none() | names.filter(bool),
)
tasks = st.lists(st.builds(connect.ConnectorTask, names, numbers), max_size=4).map(tuple)
connectors = st.lists(names, unique=True, max_size=3).map(tuple)
work = st.builds(
    connect.ConnectAssignment,
    version=st.just(1),
    error=st.integers(0, 1),
    leader=names,
    leader_url=names,
    config_offset=st.integers(-1, 2**40),
    connectors=connectors,
    tasks=tasks,
    revoked_connectors=connectors,
    revoked_tasks=tasks,
    delay_ms=numbers,
)


def canonical(subscription: Subscription, version: int) -> Subscription:
    """A reader's view: sorted lists, and only the fields of the version."""
    order = sorted(subscription.owned, key=lambda tp: (tp.topic.encode("utf-16-be"), tp.partition))
    return Subscription(
        topics=tuple(sorted(subscription.topics, key=lambda topic: topic.encode("utf-16-be"))),
        user_data=subscription.user_data,
        owned=tuple(order) if version >= 1 else (),
        generation=subscription.generation if version >= 2 else None,
        rack=subscription.rack if version >= 3 else None,
    )


@given(subscription=subscriptions, version=st.integers(0, 3))
def test_a_subscription_survives_the_wire_as_far_as_its_version_goes(subscription: Subscription, version: int) -> None:
    assert read_subscription(write_subscription(subscription, version)) == canonical(subscription, version)


@given(subscription=subscriptions, version=st.integers(4, 2**15 - 1), tail=st.binary(max_size=8))
def test_a_newer_version_is_read_as_the_newest_known(subscription: Subscription, version: int, tail: bytes) -> None:
    """Fields may only be appended: whatever follows is ignored."""
    newer = version.to_bytes(2, "big") + write_subscription(subscription)[2:] + tail
    assert read_subscription(newer) == canonical(subscription, 3)


@given(subscription=subscriptions, version=st.integers(0, 3), data=st.data())
def test_a_subscription_that_ends_early_is_refused(
    subscription: Subscription, version: int, data: st.DataObject
) -> None:
    written = write_subscription(subscription, version)
    with pytest.raises(MalformedBytes):
        read_subscription(written[: data.draw(st.integers(0, len(written) - 1))])


@given(given_to=partitions, user_data=blobs)
def test_an_assignment_survives_the_wire_grouped_by_topic(
    given_to: tuple[TopicPartition, ...], user_data: bytes
) -> None:
    topics = list(dict.fromkeys(tp.topic for tp in given_to))
    grouped = tuple(sorted(given_to, key=lambda tp: topics.index(tp.topic)))
    written = write_assignment(Assignment(partitions=given_to, user_data=user_data))
    assert read_assignment(written) == Assignment(partitions=grouped, user_data=user_data)


@given(owned=partitions, generation=int32)
def test_sticky_claims_survive_the_wire(owned: tuple[TopicPartition, ...], generation: int) -> None:
    claim = read_sticky(write_sticky(owned, generation))
    assert (sorted(claim.partitions), claim.generation) == (sorted(owned), generation)


@given(assigned=work, version=st.integers(1, 2))
def test_a_connect_assignment_survives_the_wire_grouped_by_connector(
    assigned: connect.ConnectAssignment, version: int
) -> None:
    written = connect.write_connect_assignment(assigned, version)
    assert written is not None
    read = connect.read_connect_assignment(written)
    assert (read.version, set(read.connectors), sorted(read.tasks)) == (
        version, set(assigned.connectors), sorted(assigned.tasks),
    )  # fmt: skip
    assert sorted(read.revoked_tasks) == sorted(assigned.revoked_tasks)
    assert (read.error, read.leader, read.config_offset) == (assigned.error, assigned.leader, assigned.config_offset)
    assert connect.write_connect_assignment(read, version) is not None
    eager = connect.read_connect_assignment_v0(written)
    assert (eager.connectors, eager.tasks) == (read.connectors, read.tasks), "a v0 reader reads newer bytes, too"


@given(url=names, offset=st.integers(-1, 2**40), claim=work, version=st.integers(0, 2))
def test_worker_metadata_survives_the_wire(
    url: str, offset: int, claim: connect.ConnectAssignment, version: int
) -> None:
    claim = replace(claim, connectors=(), tasks=(), revoked_connectors=(), revoked_tasks=(), version=version)
    state = connect.WorkerState(url=url, config_offset=offset, allocation=claim)
    read = connect.read_worker_state(connect.write_worker_state(state, version))
    assert read == (state if version > 0 else replace(state, allocation=connect.EMPTY))


READERS: list[Callable[[bytes], object]] = [
    read_subscription,
    read_assignment,
    connect.read_worker_state,
    connect.read_worker_state_v0,
    connect.read_connect_assignment,
    connect.read_connect_assignment_v0,
]


@pytest.mark.parametrize("read", READERS)
@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_a_place(read: Callable[[bytes], object], data: bytes) -> None:
    refused = refusal(read, data)
    if refused is not None:
        assert 0 <= refused.offset <= len(data)
        assert refused.field in str(refused)


def refusal(read: Callable[[bytes], object], data: bytes) -> MalformedBytes | None:
    """Any other exception ends the test."""
    try:
        read(data)
    except MalformedBytes as refused:
        return refused
    return None


@given(data=st.binary(max_size=40))
def test_user_data_of_sticky_assignors_is_never_refused(data: bytes) -> None:
    assert read_sticky(data).generation is None or isinstance(read_sticky(data).generation, int)
    assert isinstance(read_cooperative(data), int)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 97), ("polygenelubricants", -(2**31)), ("😀", 1772899)],
)
def test_strings_hash_as_in_java(text: str, expected: int) -> None:
    assert string_hash(text) == expected % 2**32


def test_hash_order_follows_the_size_of_the_table() -> None:
    """Twelve values: a HashSet built from the list has 32 buckets, a HashMap filled one by one still 16."""
    twelve = [f"conn-{n}" for n in range(12)]
    assert hash_set_order(twelve)[:2] == ["conn-9", "conn-8"]
    assert sorted(hash_map_order(twelve)) == sorted(twelve)
    assert hash_map_order(["t1", "t0", "t1"]) == ["t0", "t1"]


def test_a_string_beyond_the_limit_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="32768 bytes"):
        Writer().string("x" * 32_768)


def test_an_unknown_version_of_connects_protocol_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="version 3"):
        connect.write_worker_state(connect.WorkerState(url="u", config_offset=1), 3)


def test_an_assignment_without_a_leader_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="leader is None"):
        connect.write_connect_assignment(connect.ConnectAssignment(error=1), 1)


@given(st.text('01-+.eE"\\a :,[]{}', max_size=12))
def test_a_text_without_zeros_in_front_of_a_number_is_not_rewritten(text: str) -> None:
    """A text that passes the first look is one that the second would leave as it is."""
    if json_converter._ANY_ZEROS.search(text) is None:
        assert json_converter._LEADING_ZEROS.sub(json_converter._without_zeros, text) == text


def test_integers_have_the_64_bits_of_java_at_any_depth() -> None:
    assert json_converter.read_json(b'[{"a": 9223372036854775808}, -007, true, 1.5]') == [
        {"a": -(2**63)},
        -7,
        True,
        1.5,
    ]
