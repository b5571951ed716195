"""Concern *offset commits*: pinned sizes, what becomes reachable, and what an observer sees of a commit."""

import pytest

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.state import GroupStatus, MemberStatus, MessageKind
from rebalance_check.model.vocabulary.bounds import Bounds
from tests.model.conftest import explored

COUNTS = [
    # bounds, symmetry, distinct, generated, depth
    ("eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&commits=2", True, 77, 142, 10),
    (
        "eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off&commits=1",
        True,
        4810,
        12245,
        29,
    ),
    ("eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&commits=1", True, 540, 1266, 21),
]


@pytest.mark.parametrize(("address", "symmetry", "distinct", "generated", "depth"), COUNTS)
def test_the_state_space_has_its_pinned_size__with_commits(
    address: str, symmetry: bool, distinct: int, generated: int, depth: int
) -> None:
    explored(address, distinct, generated, depth, symmetry=symmetry)


@pytest.mark.nightly
def test_a_larger_state_space_has_its_pinned_size__with_commits() -> None:
    explored(
        "cooperative?members=2&partitions=2&generations=3&crashes=0&expiries=1&initial_delay=off&commits=1",
        15785,
        38111,
        40,
        compiled=True,
    )


def test_a_zombie_commits_in_vain__and_a_member_may_commit_until_the_join_phase_ends() -> None:
    found = explore(
        MODEL,
        Bounds.from_address(
            "eager?members=2&partitions=1&generations=3&crashes=0&expiries=1&initial_delay=off&commits=1"
        ),
        compiled=False,
    )
    for witness in (
        "commit_of_a_stale_owner_is_refused",
        "commit_is_accepted_in_a_rebalance",
        "commit_meets_unknown_member",
        "commit_without_generation_is_accepted",
    ):
        assert found.reachable_states[witness], witness


def test_a_commit_during_a_join_meets_every_refusal() -> None:
    found = explore(
        MODEL,
        Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&commits=1"),
        compiled=False,
    )
    assert found.reachable_states["commit_meets_rebalance"]
    assert found.reachable_states["commit_meets_illegal_generation"]


def test_two_owners_of_what_is_committed_are_a_violation() -> None:
    machine = Machine(
        MODEL, Bounds.from_address("eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&commits=1")
    )
    before, after = machine.initial(), machine.initial()
    for state in (before, after):
        state.status, state.generation, state.members, state.leader = GroupStatus.PREPARING, 3, 0b11, 0
        for me in state.member:
            me.status, me.has_id, me.generation, me.owned = MemberStatus.STABLE, 1, 3, 1
    before.member[0].net.kind, after.member[0].net.kind = MessageKind.COMMIT_REQUEST, MessageKind.COMMIT_REPLY
    before.member[0].net.generation = 3
    before.member[0].net.partitions = 1
    assert machine.violated_step(before, after) == "commit_is_by_the_owner"
    before.member[0].net.generation = after.generation = 2
    assert machine.violated_step(before, after) != ""


def test_a_commit_of_the_generation_before_is_a_violation__once_the_next_has_begun() -> None:
    machine = Machine(
        MODEL, Bounds.from_address("eager?members=1&partitions=1&generations=3&crashes=0&initial_delay=off&commits=1")
    )
    before, after = machine.initial(), machine.initial()
    for state in (before, after):
        state.status, state.generation, state.members, state.leader = GroupStatus.STABLE, 2, 0b1, 0
    before.member[0].net.kind, after.member[0].net.kind = MessageKind.COMMIT_REQUEST, MessageKind.COMMIT_REPLY
    before.member[0].net.generation = 2
    assert machine.violated_step(before, after) == ""
    before.member[0].net.generation = 1
    assert machine.violated_step(before, after) == "commit_is_fenced"
