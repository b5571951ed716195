"""Assignors where members and replicas have racks (KIP-881): balance first, then nearness, then stickiness."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.racks import Nearness
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.sticky import StickyAssignor
from rebalance_check.impl.protocol.consumer_protocol import Subscription, read_subscription, write_subscription
from rebalance_check.impl.protocol.java_order import PartitionSet
from rebalance_check.impl.protocol.sticky_user_data import write_sticky
from rebalance_check.impl.protocol.topic_partition import TopicPartition

RACKS = ("r0", "r1", "r2")


def partitions(*numbers: int, topic: str = "a") -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(topic, number) for number in numbers)


def member(rack: str | None, *owned: int, topics: Sequence[str] = ("a",)) -> Subscription:
    claims = partitions(*owned)
    return Subscription(topics=tuple(topics), owned=claims, generation=3, rack=rack, user_data=write_sticky(claims, 3))


def test_free_partitions_go_to_who_is_near__when_all_subscribe_alike() -> None:
    racks = {"a": (["r1"], ["r1"], ["r0"], ["r0"])}
    assigned = StickyAssignor().assign({"a": 4}, {"m0": member("r0"), "m1": member("r1")}, racks)
    assert assigned == {"m0": partitions(2, 3), "m1": partitions(0, 1)}


def test_free_partitions_go_to_who_is_near__when_subscriptions_differ() -> None:
    members = {"m0": member("r0"), "m1": member("r1", topics=("a", "b"))}
    assigned = StickyAssignor().assign({"a": 2}, members, {"a": (["r1"], ["r0"])})
    assert assigned == {"m0": partitions(1), "m1": partitions(0)}


def test_a_partition_with_one_member_near_is_dealt_before_one_with_two() -> None:
    members = {"m0": member("r0"), "m1": member("r1")}
    assigned = StickyAssignor().assign({"a": 2}, members, {"a": (["r0", "r1"], ["r0"])})
    assert assigned == {"m0": partitions(1), "m1": partitions(0)}


@pytest.mark.parametrize("topics", [("a",), ("a", "b")])
def test_a_cooperative_owner_that_is_far_gives_up_first__and_the_next_round_hands_over(topics: tuple[str, ...]) -> None:
    racks = {"a": (["r1"], ["r0"])}
    members = {"m0": member("r0", 0), "m1": member("r1", 1, topics=topics)}
    assert CooperativeStickyAssignor().assign({"a": 2}, members, racks) == {"m0": (), "m1": ()}
    members = {"m0": member("r0"), "m1": member("r1", topics=topics)}
    assert CooperativeStickyAssignor().assign({"a": 2}, members, racks) == {"m0": partitions(1), "m1": partitions(0)}


def test_an_owner_that_is_far_keeps_its_partition__when_nobody_is_near() -> None:
    members = {"m0": member("r0", 0), "m1": member("r1", 1)}
    assigned = CooperativeStickyAssignor().assign({"a": 2}, members, {"a": (["r2"], ["r1"])})
    assert assigned == {"m0": partitions(0), "m1": partitions(1)}


def test_balance_comes_before_nearness() -> None:
    members = {"m0": member("r0"), "m1": member("r1")}
    assigned = StickyAssignor().assign({"a": 4}, members, {"a": (["r0"], ["r0"], ["r0"], ["r2"])})
    assert [len(given_to) for given_to in assigned.values()] == [2, 2]


racks_of_partitions = st.lists(st.lists(st.sampled_from(RACKS), unique=True, max_size=3), min_size=1, max_size=9)
racks_of_members = st.lists(st.none() | st.sampled_from((*RACKS, "elsewhere")), min_size=1, max_size=5)
each_assignor = pytest.mark.parametrize("make", [StickyAssignor, CooperativeStickyAssignor])


@each_assignor
@given(replicas=racks_of_partitions, members=racks_of_members, data=st.data())
def test_a_partition_goes_far_only_when_all_who_are_near_have_their_share_of_near_ones(
    make: type[StickyAssignor | CooperativeStickyAssignor],
    replicas: list[list[str]],
    members: list[str | None],
    data: st.DataObject,
) -> None:
    racks = {"a": data.draw(st.permutations(replicas))}
    group = {f"m{n}": member(rack) for n, rack in enumerate(members)}
    assigned = make().assign({"a": len(replicas)}, group, racks)
    nearness = Nearness.of(partitions(*range(len(replicas))), group, racks)
    share = len(replicas) // len(members)
    for name, given_to in assigned.items():
        for partition in given_to:
            for other in group:
                if nearness.far(name, partition) and nearness.near(other, partition):
                    assert sum(nearness.near(other, one) for one in assigned[other]) >= share


@each_assignor
@given(members=racks_of_members, owned=st.lists(st.integers(0, 4), max_size=12))
def test_racks_change_nothing__where_every_partition_is_in_every_rack(
    make: type[StickyAssignor | CooperativeStickyAssignor], members: list[str | None], owned: list[int]
) -> None:
    claims: dict[int, list[int]] = {}
    for number, owner in enumerate(owned):
        claims.setdefault(owner % len(members), []).append(number)
    group = {f"m{n}": member(rack, *claims.get(n, ())) for n, rack in enumerate(members)}
    assigned = make().assign({"a": 12}, group, {"a": [RACKS] * 12})
    assert assigned == make().assign({"a": 12}, group)


def test_range_keeps_partitions_of_one_number_together__though_their_replicas_are_in_different_racks() -> None:
    racks = {"a": (["r1"], ["r0"]), "b": (["r0"], ["r1"])}
    members = {"m0": member("r0", topics=("a", "b")), "m1": member("r1", topics=("a", "b"))}
    assigned = RangeAssignor().assign({"a": 2, "b": 2}, members, racks)
    assert assigned == {f"m{n}": partitions(n) + partitions(n, topic="b") for n in (0, 1)}


def test_the_rack_is_read_from_version_3_of_the_subscription_alone() -> None:
    one = member("r1", 0)
    racks = [read_subscription(write_subscription(one, version)).rack for version in range(4)]
    assert racks == [None, None, None, "r1"]


def test_a_set_of_partitions_is_iterated_as_in_java__also_after_it_has_shrunk() -> None:
    """Seen in Java 17: of 13 partitions of topic a the iterator's first, then of the 12 that are left, and so on."""
    some = PartitionSet()
    for number in range(13):
        some.add(TopicPartition("a", number))
    firsts = []
    while some:
        firsts.append(some.first().partition)
        some.remove(some.first())
    assert firsts == [2, 1, 0, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3]
