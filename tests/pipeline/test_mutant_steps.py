"""What is recorded of the counterexamples of mutants is short, and what their searches find today."""

from __future__ import annotations

from functools import partial
from statistics import median

import pytest

from rebalance_check.commands import _mutant_search
from rebalance_check.impl.mutants import IMPL_MUTANTS, MUTANTS, FuzzSearch, ScenarioSearch
from rebalance_check.impl.mutants.shrunk_lengths import STEPS
from rebalance_check.impl.runtime.options import SimulatedProtocol


def measured(name: str) -> int | None:
    caught = _mutant_search.catch(IMPL_MUTANTS[name])
    return None if caught is None else caught.steps


def is_quick(name: str) -> bool:
    find = IMPL_MUTANTS[name].find
    return not isinstance(find, FuzzSearch | ScenarioSearch)


QUICK = [name for name in STEPS if is_quick(name)]
RUNS = ["join-disables-heartbeats-on-every-pass", "iggy-late-offset-store-after-leave", "late-unload-wipes-newer-load"]


@pytest.mark.parametrize("name", [*QUICK, *RUNS])
def test_a_counterexample_has_as_many_steps_as_are_recorded(name: str) -> None:
    assert measured(name) == STEPS[name]


def test_counterexamples_are_short() -> None:
    assert median(STEPS.values()) <= 10
    assert max(STEPS.values()) <= 25


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(set(STEPS) - {*QUICK, *RUNS}))
def test_a_counterexample_has_as_many_steps_as_are_recorded__for_all(name: str) -> None:
    caught = _mutant_search.catch(IMPL_MUTANTS[name])
    assert caught is not None
    assert caught.unfinished or caught.steps == STEPS[name]


def test_what_the_search_shows_ends_with_the_claim_and_the_command() -> None:
    caught = _mutant_search.catch(IMPL_MUTANTS["join-disables-heartbeats-on-every-pass"])
    assert caught is not None
    assert caught.lines[0].startswith("seed ")
    assert caught.lines[-1].startswith("rebalance-check fuzz --seeds ")
    assert SimulatedProtocol.EAGER in caught.lines[-1]


def test_the_search_for_a_mutant_of_a_liveness_property_finds_its_lasso(monkeypatch: pytest.MonkeyPatch) -> None:
    liveness = pytest.importorskip("rebalance_check.model.checker.liveness")
    monkeypatch.setattr(liveness, "check_liveness", partial(liveness.check_liveness, compiled=False))
    caught = _mutant_search.catch(MUTANTS["model/requests-wait-for-a-lost-leader"])
    assert caught is not None
    assert caught.lines[-1].endswith("~"), "the address of a lasso"
