"""The families of steps cover the model, and each machine counts what it took."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.properties.machines.classic import ClassicGroup
from rebalance_check.properties.machines.families import ALL_KINDS, FAMILIES, Taken
from rebalance_check.properties.machines.strategies import bounds_of_all_concerns

STEPS = 60


def runs_of(concern: str, examples: int) -> Taken:
    class OfConcern(ClassicGroup):
        runs = bounds_of_all_concerns(concerns=(concern,))

    fixed = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    run_state_machine_as_test(OfConcern, settings=fixed)
    return OfConcern.taken


def test_every_kind_of_step_is_in_one_family() -> None:
    assert sorted(kind for family in FAMILIES for kind in family) == sorted(ALL_KINDS)


def test_each_machine_counts_its_own_steps() -> None:
    assert runs_of("static", 1).counts
    assert ClassicGroup.taken is not runs_of("static", 1)


@pytest.mark.parametrize("counts", [{ActionKind.CRASH: 2}])
def test_what_was_taken_is_said_in_a_line(counts: dict[ActionKind, int]) -> None:
    taken = Taken()
    taken.counts.update(counts)
    assert str(taken).startswith("1 of 41 kinds of step: Crash 2; none of CommitAppend, ")
