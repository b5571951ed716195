"""Every report about a planted defect that keeps a group from coming to rest says why: who is stuck on what, or what
goes round."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.impl.mutants.mutant import FuzzSearch, Mutant
from rebalance_check.impl.mutants.registry import IMPL_MUTANTS
from rebalance_check.impl.simulator.simulation import simulate
from rebalance_check.model.vocabulary.events import Event, RunEnded
from rebalance_check.properties.argument import argument
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.progress import RebalanceCompletes
from rebalance_check.properties.verdict import Counterexample, Violated
from rebalance_check.report.runs import explained

STUCK: Final = [
    mutant
    for mutant in IMPL_MUTANTS.values()
    if mutant.caught_by == "rebalance_completes" and isinstance(mutant.find, FuzzSearch)
]
WHY: Final = (
    r"on (m\d|the group) repeats this until the run ends",
    r"the last request of m\d, \w+",
    r"m\d sends no request",
)


def _first_run_without_rest(mutant: Mutant) -> list[Event]:
    assert isinstance(mutant.find, FuzzSearch)
    options = replace(mutant.find.options, mutant=mutant.name)
    for seed in range(mutant.find.first, mutant.find.last):
        history = simulate(seed, options)
        if isinstance(history[-1], RunEnded) and history[-1].pending:
            return history
    raise AssertionError(f"no run of {mutant.name} fails to come to rest")


def _explained(history: list[Event]) -> Counterexample:
    verdict = judge(history, "rebalance_completes").verdict("rebalance_completes")
    assert isinstance(verdict, Violated)
    return verdict.counterexample


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(mutant, id=mutant.name, marks=[] if at % 4 == 0 else [pytest.mark.nightly])
        for at, mutant in enumerate(STUCK)
    ],
)
def test_a_report_that_a_run_came_to_no_rest_names_a_stuck_member_or_a_loop(mutant: Mutant) -> None:
    found = _explained(_first_run_without_rest(mutant))
    assert any(re.search(why, reason.text) for reason in found.because for why in WHY), str(found)
    assert all(reason.event in found.events for reason in found.because)


def test_the_table_of_a_loop_shows_one_turn_of_it() -> None:
    mutant = IMPL_MUTANTS["unknown-member-keeps-id"]
    history = _first_run_without_rest(mutant)
    found = _explained(history)
    text, _, _ = explained(history, found, "replay")
    assert len(found.repeats) == len([line for line in text.splitlines() if line.startswith(" ~ ")]) > 1
    assert argument(history, found, RebalanceCompletes) == found.events
