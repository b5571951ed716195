"""Seeds are cut, counted and found missing without losing or doubling one."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import Campaign, check_seeds, missing, overlap, parse_seeds, shard_size, shards

numbers = st.integers(0, 60)
ranges = st.builds(lambda a, b: range(min(a, b), max(a, b) + 1), numbers, numbers)


@st.composite
def disjoint(draw: st.DrawFn) -> list[range]:
    """Ranges that do not touch each other's seeds, in any order."""
    cuts = sorted(draw(st.sets(numbers)))
    pieces = [range(a, b) for a, b in pairwise(cuts)]
    return draw(st.permutations([piece for piece in pieces if draw(st.booleans())]))


@given(seeds=ranges, done=disjoint())
def test_missing_is_what_no_range_covers(seeds: range, done: list[range]) -> None:
    gaps = missing(seeds, done)
    assert [seed for gap in gaps for seed in gap] == [s for s in seeds if not any(s in piece for piece in done)]
    assert all(gaps)


@given(seeds=ranges, size=st.integers(1, 70))
def test_shards_hold_each_seed_once_and_in_order(seeds: range, size: int) -> None:
    pieces = list(shards(seeds, size))
    assert [seed for piece in pieces for seed in piece] == list(seeds)
    assert all(len(piece) == size for piece in pieces[:-1])


@given(one=ranges, other=ranges)
def test_overlap_is_the_seeds_in_both(one: range, other: range) -> None:
    assert set(overlap(one, other)) == set(one) & set(other)


@pytest.mark.parametrize(("runs", "workers", "expected"), [(1, 2, 16), (300, 2, 18), (10**8, 2, 1024)])
def test_shards_are_small_for_few_runs_and_bounded_for_many(runs: int, workers: int, expected: int) -> None:
    assert shard_size(runs, workers) == expected


@pytest.mark.parametrize(("text", "seeds"), [("0:300", range(300)), ("7", range(7, 8)), ("5:6", range(5, 6))])
def test_seeds_are_read_as_they_are_written(text: str, seeds: range) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a:b", "3:3", "5:1", "-4:2", f"0:{2**63 + 1}", "1:2:3"])
def test_seeds_that_are_no_range_are_refused__showing_the_value(text: str) -> None:
    with pytest.raises(RebalanceCheckError, match="seeds"):
        parse_seeds(text)


def test_a_range_with_gaps_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="FIRST:LAST"):
        check_seeds(range(0, 10, 2))


def test_equal_options_give_equal_text() -> None:
    one, other = (Campaign("simulator", SimulationOptions(members=4), "1") for _ in range(2))
    assert one.options_json == other.options_json
    assert one.options_json != Campaign("simulator", SimulationOptions(members=5), "1").options_json
