"""Shrinking: what remains still fails, nothing of it can be left out, and the repetitions are bounded."""

from __future__ import annotations

import pytest

from rebalance_check.model.shrink import ddmin, reduced


def shrunk(
    length: int, needed: set[int], most_runs: int = 10_000, *, last_first: bool = False
) -> tuple[tuple[int, ...], int]:
    """The numbers up to ``length`` where a run fails while it holds all that are ``needed``, and how often it ran."""
    runs = 0

    def still_fails(items: tuple[int, ...]) -> tuple[int, ...] | None:
        nonlocal runs
        runs += 1
        return items if needed <= set(items) else None

    found: tuple[int, ...] = ddmin(tuple(range(length)), lambda one: one, still_fails, most_runs, last_first=last_first)
    return found, runs


@pytest.mark.parametrize("last_first", [False, True])
@pytest.mark.parametrize("needed", [set(), {0}, {19}, {3, 4}, {0, 7, 19}, set(range(20))])
def test_only_what_is_needed_is_left(needed: set[int], last_first: bool) -> None:
    assert shrunk(20, needed, last_first=last_first)[0] == tuple(sorted(needed))


def test_nothing_is_left_out_when_there_is_nothing() -> None:
    assert shrunk(0, set()) == ((), 0)


@pytest.mark.parametrize("most_runs", [0, 1, 5])
def test_the_limit_bounds_the_runs(most_runs: int) -> None:
    found, runs = shrunk(100, {50, 70}, most_runs)

    assert runs == most_runs
    assert {50, 70} <= set(found)


def items_of(run: tuple[int, ...]) -> tuple[int, ...]:
    return run


def test_a_run_that_ends_sooner_is_taken_as_it_ended() -> None:
    """The run ends at the first item that is 3 or more, so what came after is gone with it."""
    run = tuple(range(8))

    def still_fails(items: tuple[int, ...]) -> tuple[int, ...] | None:
        end = next((place for place, item in enumerate(items, 1) if item >= 3), None)
        return None if end is None else items[:end]

    assert ddmin(run, items_of, still_fails, 100) == (4,)
    assert ddmin(run, items_of, still_fails, 100, last_first=True) == (3,)


@pytest.mark.parametrize("last_first", [False, True])
def test_items_that_can_go_only_after_others_go_in_the_end(last_first: bool) -> None:
    """An item may be left out only once those before it are gone: single items are tried until none can go."""
    run = tuple(range(6))

    def still_fails(items: tuple[int, ...]) -> tuple[int, ...] | None:
        return items if items == run[6 - len(items) :] else None

    assert ddmin(run, items_of, still_fails, 100, last_first=last_first) == ()


def test_a_structure_is_reduced_until_no_smaller_one_fails() -> None:
    def smaller(number: int) -> list[int]:
        return [number // 2, number - 1]

    assert reduced(100, smaller, lambda number: number >= 7) == 7
    assert reduced(6, smaller, lambda number: number >= 7) == 6
