"""Each planted defect of an assignor breaks the claim that it names, in a small problem."""

from __future__ import annotations

import pytest

from rebalance_check.commands import _mutant_search
from rebalance_check.impl.mutants import IMPL_MUTANTS, AssignmentSearch, Mutant

MUTANTS = [mutant for mutant in IMPL_MUTANTS.values() if isinstance(mutant.find, AssignmentSearch)]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_an_assignor_breaks_the_claim_it_names__in_a_small_problem(mutant: Mutant) -> None:
    caught = _mutant_search.catch(mutant)
    assert caught is not None
    assert caught.steps <= 20
