"""The compiled explorer finds what the interpreted one finds, state by state, with any number of threads."""

from itertools import pairwise

import pytest

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.limits import Limits
from rebalance_check.model.checker.safety.worker import SLACK
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.parts.assignment import target_table  # after the check for the extra
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds

BIG = [
    # protocol, symmetry, distinct, generated, depth
    ("eager", False, 222_846, 686_311, 46),
    ("eager", True, 37_487, 115_457, 46),
    ("cooperative", False, 1_925_802, 5_494_627, 64),
    ("cooperative", True, 322_096, 918_963, 64),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("protocol", "symmetry", "distinct", "generated", "depth"), BIG)
def test_three_members_three_partitions_four_generations_and_a_crash_are_exhausted(
    protocol: str, symmetry: bool, distinct: int, generated: int, depth: int, threads: int
) -> None:
    bounds = Bounds.from_address(f"{protocol}")
    found = explore(MODEL, bounds, symmetry=symmetry, threads=threads)
    assert (found.distinct, found.generated, found.depth) == (distinct, generated, depth)
    assert found.complete
    assert set(found.verdicts.values()) == {"held"}


def test_a_limit_ends_the_search_early() -> None:
    found = explore(MODEL, Bounds.from_address("cooperative"), limits=Limits(states=50_000))
    assert not found.complete
    assert found.distinct >= 50_000


def test_a_missed_generation_makes_a_zombie__and_not_a_second_owner() -> None:
    bounds = Bounds.from_address(
        "cooperative?partitions=2&generations=3&crashes=0&expiries=1&duplicates=1&member_id_required"
    )
    found = explore(MODEL, bounds, limits=Limits(states=400_000))
    assert set(found.verdicts.values()) <= {"held", "undecided"}
    assert found.reachable_states["duplicate_replaces_the_parked_request"]


def test_the_buffer_holds_the_successors_of_any_state__of_the_largest_bounds() -> None:
    start, _ = target_table(6, 6)
    most_targets = max(after - before for before, after in pairwise(start))
    others = 6 * len(MODEL.rules) * 6  # every other rule, for every member, with a next leader to choose
    assert most_targets == 1_800
    assert 6 * most_targets + others <= SLACK


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["older-ownership-wins", "double-ownership-is-honoured", "leader-does-not-withhold"])
def test_a_mutant_deep_in_the_state_space_is_found(name: str) -> None:
    from rebalance_check.model.registry import MUTANTS  # noqa: PLC0415 - only these need it

    mutant = MUTANTS[name]
    found = explore(model_for(mutant.bounds, name), mutant.bounds)
    assert found.violated == mutant.caught_by
