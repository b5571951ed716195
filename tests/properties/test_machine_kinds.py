"""The kinds of step that machines of the reference coordinator take; the summary of a test run prints them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check.model.vocabulary.actions import ActionKind
from rebalance_check.properties.machines.classic import ClassicGroup
from rebalance_check.properties.machines.families import ALL_KINDS
from rebalance_check.properties.machines.strategies import bounds_of_all_concerns

RARE = {ActionKind.DROP_CONNECTION, ActionKind.JOIN_GROUP_AT_ZOMBIE, ActionKind.SYNC_GROUP_AT_ZOMBIE}
"""Steps that need several others before them."""


class AllKinds(ClassicGroup):
    """Counts its own steps."""


class Deposed(ClassicGroup):
    """Its coordinators may be deposed without knowing."""

    runs = bounds_of_all_concerns(concerns=("zombie",))


def taken(record_property: Callable[[str, object], None]) -> set[ActionKind]:
    """The kinds that the machines take, with at least 60 runs of each."""
    examples = max(settings.default.max_examples if settings.default else 0, 60)
    dropped = [HealthCheck.filter_too_much, HealthCheck.too_slow]  # runs whose bounds leave no step to a rule
    long = settings(
        max_examples=examples, stateful_step_count=60, phases=[Phase.generate], suppress_health_check=dropped
    )
    for machine in (AllKinds, Deposed):
        run_state_machine_as_test(machine, settings=long)
        record_property("steps", f"{machine.__name__} took {machine.taken}")
    return set(AllKinds.taken.counts) | set(Deposed.taken.counts)


def test_nearly_all_kinds_of_step_are_taken(record_property: Callable[[str, object], None]) -> None:
    kinds = taken(record_property)

    assert kinds >= RARE
    assert len(ALL_KINDS - kinds) <= 2, ALL_KINDS - kinds


@pytest.mark.nightly
def test_all_kinds_of_step_are_taken(record_property: Callable[[str, object], None]) -> None:
    """With the profile ``nightly``."""
    assert taken(record_property) == ALL_KINDS
