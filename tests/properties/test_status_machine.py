"""Hypothesis drives the status model and the status stores with the same steps; planted bugs make it fail."""

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rebalance_check.impl.mutants import planted
from rebalance_check.properties.machines.status import StatusStores, StoreDiffersFromModel
from rebalance_check.properties.verdict import Violation


def test_stores_do_what_the_model_says() -> None:
    run_state_machine_as_test(StatusStores, settings=settings(stateful_step_count=50))


@pytest.mark.parametrize(
    "defect",
    [
        "stale-unassigned-read",
        "retry-unchecked",
        "cache-written-at-send",
    ],
)
def test_a_planted_bug_is_found(defect: str) -> None:
    once = settings(max_examples=1500, stateful_step_count=50, phases=[Phase.generate], print_blob=False)
    with planted(defect), pytest.raises((StoreDiffersFromModel, Violation)):
        run_state_machine_as_test(StatusStores, settings=once)
