"""A leader's legal decisions, against a slow and obvious second opinion."""

from itertools import product
from random import Random

import pytest

from rebalance_check.model.classic.config import configure
from rebalance_check.model.classic.parts.assignment import (
    assign_partitions,
    clean_owned_partitions,
    kept,
    most_kept,
    taker,
    target_table,
)
from rebalance_check.model.classic.state import Config, Message, State, has, sizes
from rebalance_check.model.vocabulary.bounds import Bounds

Takers = tuple[int, ...]


def config(members: int, partitions: int) -> Config:
    return configure(Bounds.from_address(f"cooperative?members={members}&partitions={partitions}"))


def legal(group: list[int], partitions: int) -> set[Takers]:
    """Every way to share the partitions out so that no member has two more than another."""
    found = set()
    for takers in product(group, repeat=partitions):
        loads = [takers.count(x) for x in group]
        if max(loads) - min(loads) <= 1:
            found.add(takers)
    return found


@pytest.mark.parametrize(("members", "partitions"), [(1, 1), (2, 3), (3, 2), (3, 3), (4, 3), (3, 5)])
def test_the_table_has_exactly_the_balanced_targets(members: int, partitions: int) -> None:
    start, targets = target_table(members, partitions)
    for group in range(1, 1 << members):
        here = [
            tuple(taker(target, p) for p in range(partitions)) for target in targets[start[group] : start[group + 1]]
        ]
        assert len(here) == len(set(here))
        assert set(here) == legal([x for x in range(members) if has(group, x)], partitions)


@pytest.mark.parametrize("seed", range(60))
def test_the_most_that_can_be_kept_is_what_the_best_target_keeps(seed: int) -> None:
    rng = Random(seed)
    members, partitions = rng.randint(2, 4), rng.randint(1, 5)
    c = config(members, partitions)
    reply = Message(sizes(Bounds(members=members)))
    reply.group = rng.randrange(1, 1 << members)
    for p in range(partitions):
        owner = rng.choice([None, *range(members)])
        if owner is not None and has(reply.group, owner):
            reply.parts[owner] |= 1 << p
    targets = c.targets[c.target_start[reply.group] : c.target_start[reply.group + 1]]
    assert most_kept(c, reply) == max(kept(c, reply, target) for target in targets)


def claiming(*claims: tuple[int, int]) -> tuple[Config, State, Message]:
    """A group whose members claim a set of partitions, each with its generation; and a leader's empty reply."""
    c, bounds = config(len(claims), 2), Bounds(members=len(claims))
    s = State(sizes(bounds))
    s.members = (1 << len(claims)) - 1
    for member, (partitions, generation) in zip(s.member, claims, strict=True):
        member.owned_partitions, member.owned_generation = partitions, generation
    return c, s, Message(sizes(bounds))


def test_the_newest_claim_wins() -> None:
    c, s, reply = claiming((0b01, 3), (0b11, 2))
    clean_owned_partitions(c, s, reply)
    assert reply.parts == [0b01, 0b10]
    assert reply.partitions == 0


def test_a_claim_of_two_in_one_generation_is_nobodys() -> None:
    c, s, reply = claiming((0b11, 2), (0b10, 2))
    clean_owned_partitions(c, s, reply)
    assert reply.parts == [0b01, 0]
    assert reply.partitions == 0b10


def test_a_removed_member_claims_nothing() -> None:
    c, s, reply = claiming((0b11, 2), (0, 2))
    s.members = 0b10
    clean_owned_partitions(c, s, reply)
    assert (reply.group, reply.parts) == (0b10, [0, 0])


def test_what_changes_hands_is_withheld__and_what_is_free_is_not() -> None:
    c, s, reply = claiming((0b01, 2), (0, 0))
    clean_owned_partitions(c, s, reply)
    assign_partitions(c, reply, 1 | 0 << 3, True)  # t-0 to m1, t-1 to m0
    assert reply.parts == [0b10, 0]


def test_a_double_claim_is_withheld_from_either_claimant() -> None:
    c, s, reply = claiming((0b01, 2), (0b01, 2))
    clean_owned_partitions(c, s, reply)
    assign_partitions(c, reply, 0 | 1 << 3, True)
    assert reply.parts == [0, 0b10]


def test_an_eager_leader_withholds_nothing() -> None:
    _, s, reply = claiming((0b01, 2), (0, 0))
    c = configure(Bounds.from_address("eager?members=2&partitions=2&crashes=0&initial_delay=off"))
    clean_owned_partitions(c, s, reply)
    assign_partitions(c, reply, 1 | 0 << 3, False)
    assert reply.parts == [0b10, 0b01]
