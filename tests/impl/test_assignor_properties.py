"""Guarantees of assignors on random groups that no claim states; small groups are compared with slow searches."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rebalance_check.impl.assignors.assignor import Assignments, PartitionAssignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.assignors.sticky import StickyAssignor
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.protocol.consumer_protocol import Assignment, Subscription
from rebalance_check.impl.protocol.sticky_user_data import write_sticky
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol

Group = tuple[dict[str, int], dict[str, Subscription]]
TOPICS = ("a", "b", "c")
MEMBERS = ("m0", "m1", "m2", "m3")

counts = st.fixed_dictionaries({topic: st.integers(0, 5) for topic in TOPICS})
partitions = st.builds(TopicPartition, st.sampled_from((*TOPICS, "gone")), st.integers(-1, 6))
any_topics = st.lists(st.sampled_from((*TOPICS, "unknown")), unique=True, max_size=4).map(tuple)
generations = st.none() | st.integers(0, 3)


@st.composite
def groups(draw: st.DrawFn, *, equal: bool = False, wild: bool = True, static: bool = False) -> Group:
    """A group; ``wild`` claims contradict each other, tame ones are disjoint and of one generation."""
    cluster = draw(counts)
    names = draw(st.lists(st.sampled_from(MEMBERS), unique=True, min_size=1))
    common = draw(any_topics) if equal else None
    free = [TopicPartition(topic, n) for topic, count in cluster.items() for n in range(count)]
    owners = {tp: draw(st.sampled_from([*names, None])) for tp in free} if not wild else {}
    members = {}
    for name in names:
        topics = draw(any_topics) if common is None else common
        owned = (
            tuple(draw(st.lists(partitions, max_size=6)))
            if wild
            else tuple(tp for tp, owner in owners.items() if owner == name and tp.topic in topics)
        )
        instance = draw(st.none() | st.sampled_from(["i0", "i1", "i2"])) if static else None
        generation = draw(generations) if wild else 7
        members[name] = Subscription(
            topics=topics,
            owned=owned,
            user_data=write_sticky(owned, generation),
            generation=generation,
            group_instance_id=instance,
        )
    return cluster, members


def subscribed(group: Group) -> dict[TopicPartition, list[str]]:
    """Every partition that somebody wants, with those who do."""
    cluster, members = group
    wanted = {
        TopicPartition(topic, n): [m for m, one in members.items() if topic in one.topics]
        for topic, count in cluster.items()
        for n in range(count)
    }
    return {tp: who for tp, who in wanted.items() if who}


def owners(assigned: Assignments) -> Counter[TopicPartition]:
    return Counter(tp for given_to in assigned.values() for tp in given_to)


def cooperative_target(group: Group) -> Assignments:
    """The balanced assignment before anything is withheld."""
    with planted("cooperative-leader-does-not-withhold"):
        return CooperativeStickyAssignor().assign(*group)


COMPLETE: list[PartitionAssignor] = [RangeAssignor(), RoundRobinAssignor(), StickyAssignor()]
ALL: list[PartitionAssignor] = [*COMPLETE, CooperativeStickyAssignor()]
each_assignor = pytest.mark.parametrize("assignor", ALL, ids=lambda assignor: assignor.name)


@each_assignor
@given(group=groups(static=True), data=st.data())
def test_the_order_in_which_members_are_listed_does_not_matter(
    assignor: PartitionAssignor, group: Group, data: st.DataObject
) -> None:
    cluster, members = group
    instances = [one.group_instance_id for one in members.values() if one.group_instance_id]
    assume(len(instances) == len(set(instances)))
    shuffled = dict(data.draw(st.permutations(sorted(members.items()))))
    assert assignor.assign(cluster, shuffled) == assignor.assign(cluster, members)


@given(group=groups(equal=True, wild=False))
def test_no_balanced_assignment_keeps_more__by_trying_them_all(group: Group) -> None:
    members, wanted = group[1], sorted(subscribed(group))
    assume(len(members) ** len(wanted) <= 2_000)
    low, extra = divmod(len(wanted), len(members))
    owned = {tp: member for member, one in members.items() for tp in one.owned}

    def kept(takers: tuple[str, ...]) -> int:
        return sum(owned.get(tp) == taker for tp, taker in zip(wanted, takers, strict=True))

    def balanced(takers: tuple[str, ...]) -> bool:
        load = Counter(takers)
        return sorted(load[m] for m in members) == [low] * (len(members) - extra) + [low + 1] * extra

    target = {tp: member for member, given_to in cooperative_target(group).items() for tp in given_to}
    assert kept(tuple(target[tp] for tp in wanted)) == max(
        kept(takers) for takers in product(sorted(members), repeat=len(wanted)) if balanced(takers)
    )


@given(group=groups(wild=False) | groups(equal=True, wild=False))
def test_cooperative_leaves_out_exactly_what_changes_hands(group: Group) -> None:
    members = group[1]
    assigned, target = CooperativeStickyAssignor().assign(*group), cooperative_target(group)
    owner = {tp: member for member, one in members.items() for tp in one.owned}
    for member in members:
        withheld = set(target[member]) - set(assigned[member])
        assert withheld == {tp for tp in target[member] if owner.get(tp, member) != member}
        assert set(assigned[member]) <= set(target[member])


@given(group=groups(equal=True, wild=False))
def test_cooperative_converges_in_the_second_round__when_all_subscribe_alike(group: Group) -> None:
    cluster, members = group
    first = CooperativeStickyAssignor().assign(cluster, members)
    again = {m: Subscription(topics=one.topics, owned=first[m], generation=8) for m, one in members.items()}
    second = CooperativeStickyAssignor().assign(cluster, again)
    assert owners(second) == dict.fromkeys(subscribed(group), 1)
    assert all(set(first[m]) <= set(second[m]) for m in members)


@given(group=groups(wild=False))
def test_cooperative_comes_to_rest__with_any_subscriptions(group: Group) -> None:
    cluster, members = group
    assigned: Assignments = {m: one.owned for m, one in members.items()}
    for generation in range(8, 18):
        again = {
            m: Subscription(topics=one.topics, owned=assigned[m], generation=generation) for m, one in members.items()
        }
        assigned, before = CooperativeStickyAssignor().assign(cluster, again), assigned
        if assigned == {m: tuple(sorted(given_to)) for m, given_to in before.items()}:
            break
    else:
        pytest.fail("no rest after ten rounds")
    assert owners(assigned) == dict.fromkeys(subscribed(group), 1)


@given(group=groups(wild=False))
def test_sticky_never_swaps_two_partitions_of_a_topic_between_two_members(group: Group) -> None:
    members = group[1]
    target = cooperative_target(group)
    owner = {tp: member for member, one in members.items() for tp in one.owned}
    moves = {(tp.topic, owner[tp], m) for m, given_to in target.items() for tp in given_to if owner.get(tp, m) != m}
    assert not any((topic, new, old) in moves for topic, old, new in moves)


def test_what_would_be_swapped_stays_where_it_is() -> None:
    """On the way to balance m1 would give a-2 to m2 and take a-0 from it: a-2 goes home instead."""
    owned = {"m0": "", "m1": "a2 b0 b1 b2 b3 b4 b5", "m2": "a0 a3 c0"}
    topics = {"m0": "b", "m1": "ab", "m2": "ac"}
    members = {
        name: Subscription(
            topics=tuple(topics[name]),
            user_data=write_sticky([TopicPartition(one[0], int(one[1])) for one in claims.split()], 3),
        )
        for name, claims in owned.items()
    }
    assigned = StickyAssignor().assign({"a": 4, "b": 6, "c": 1}, members)
    assert [tp.name for tp in assigned["m1"]] == ["a-2", "b-3", "b-4", "b-5"]
    assert [tp.name for tp in assigned["m2"]] == ["a-0", "a-1", "a-3", "c-0"]


A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


def claimant(generation: int | None, *owned: TopicPartition) -> Subscription:
    return Subscription(topics=("a",), owned=owned, generation=generation)


def test_a_partition_claimed_twice_in_one_generation_is_given_to_nobody() -> None:
    members = {"m0": claimant(5, A0), "m1": claimant(5, A0, A1), "m2": claimant(5)}
    assert A0 not in owners(CooperativeStickyAssignor().assign({"a": 3}, members))


def test_the_claim_of_the_newer_generation_wins_and_needs_no_extra_round() -> None:
    members = {"m0": claimant(4, A0), "m1": claimant(5, A0), "m2": claimant(5, A1)}
    assigned = CooperativeStickyAssignor().assign({"a": 3}, members)
    assert assigned == {"m0": (TopicPartition("a", 2),), "m1": (A0,), "m2": (A1,)}


def test_an_old_claim_without_a_competitor_is_honoured() -> None:
    members = {"m0": claimant(9), "m1": claimant(9, A0), "m2": claimant(1, A1)}
    assigned = CooperativeStickyAssignor().assign({"a": 3}, members)
    assert assigned == {"m0": (TopicPartition("a", 2),), "m1": (A0,), "m2": (A1,)}


def test_the_user_data_gives_the_generation__of_clients_before_kip_792() -> None:
    old = Subscription(topics=("a",), owned=(A0,), user_data=(6).to_bytes(4, "big"))
    assigned = CooperativeStickyAssignor().assign({"a": 1}, {"m0": claimant(5, A0), "m1": old})
    assert assigned == {"m0": (), "m1": (A0,)}


def test_a_member_that_names_a_partition_twice_claims_it_once() -> None:
    members = {"m0": claimant(5, A0, A0), "m1": claimant(5, A1)}
    assert CooperativeStickyAssignor().assign({"a": 2}, members) == {"m0": (A0,), "m1": (A1,)}


def test_sticky_believes_its_own_user_data_alone() -> None:
    members = {"m0": claimant(9, A0), "m1": claimant(9, A1)}
    members = {
        name: replace(one, user_data=write_sticky((A1, A0)[n : n + 1], 3))
        for n, (name, one) in enumerate(members.items())
    }
    assert StickyAssignor().assign({"a": 2}, members) == {"m0": (A1,), "m1": (A0,)}


def test_a_claim_to_a_topic_that_the_member_dropped_counts_for_nothing() -> None:
    b0 = TopicPartition("b", 0)
    dropped = Subscription(topics=("a",), user_data=write_sticky((b0,), 3))
    members = {"m0": dropped, "m1": Subscription(topics=("a", "b"))}
    assert StickyAssignor().assign({"a": 1, "b": 1}, members) == {"m0": (A0,), "m1": (b0,)}


def test_sticky_remembers_its_last_assignment__and_says_nothing_before_the_first() -> None:
    sticky = StickyAssignor()
    assert sticky.subscription_user_data(("a",)) is None
    sticky.on_assignment(Assignment(partitions=(A1, A0)), 6)
    assert sticky.subscription_user_data(("a",)) == write_sticky((A1, A0), 6)


EAGER, BOTH = {RebalanceProtocol.EAGER}, {RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE}


@pytest.mark.parametrize(
    ("name", "protocols"),
    [("range", EAGER), ("roundrobin", EAGER), ("sticky", EAGER), ("cooperative-sticky", BOTH)],
    ids=["range", "roundrobin", "sticky", "cooperative-sticky"],
)
def test_kafkas_assignors_have_their_names_and_protocols(name: str, protocols: set[RebalanceProtocol]) -> None:
    assert {assignor.name: assignor.protocols for assignor in ALL}[name] == protocols
