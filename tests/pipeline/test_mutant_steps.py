"""The search for a mutant, as ``rebalance-check mutants NAME --run`` shows what it found."""

from __future__ import annotations

from functools import partial

import pytest

from rebalance_check.commands import _mutant_search
from rebalance_check.impl.mutants import IMPL_MUTANTS, MUTANTS
from rebalance_check.impl.runtime.options import SimulatedProtocol


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
