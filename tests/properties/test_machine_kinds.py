"""The kinds of step that the machine of the reference coordinator takes; the summary of a test run prints them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check.model.vocabulary.actions import AT_ZOMBIE, ActionKind
from rebalance_check.properties.machines.classic import ClassicGroup

OF_ZOMBIES = AT_ZOMBIE | {ActionKind.DEPOSE_COORDINATOR, ActionKind.RESIGN_ZOMBIE_COORDINATOR}
SELDOM = OF_ZOMBIES | {
    ActionKind.DROP_CONNECTION, ActionKind.ELECT_COORDINATOR, ActionKind.EXPIRE_REBALANCE,
    ActionKind.RECEIVE_OFFSET_COMMIT,
}  # fmt: skip
"""Steps to which few runs come: the profile ``nightly`` takes these, too."""


class AllKinds(ClassicGroup):
    """Counts its own steps."""


def run_machine(record_property: Callable[[str, object], None]) -> None:
    examples = max(settings.default.max_examples if settings.default else 0, 50)
    long = settings(max_examples=examples, stateful_step_count=60, phases=[Phase.generate])
    run_state_machine_as_test(AllKinds, settings=long)
    record_property("steps", f"{AllKinds.__name__} took {AllKinds.taken}")


def test_nearly_all_kinds_of_step_are_taken(record_property: Callable[[str, object], None]) -> None:
    run_machine(record_property)

    assert AllKinds.taken.missing <= SELDOM


@pytest.mark.nightly
def test_all_kinds_of_step_are_taken(record_property: Callable[[str, object], None]) -> None:
    """With the profile ``nightly``."""
    run_machine(record_property)

    assert not AllKinds.taken.missing
