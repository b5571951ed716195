"""Every statement of both lists is accounted for, and whatever speaks for one is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.model.classic.model import MODEL
from rebalance_check.properties.assignment.claims import CLAIMS
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.coverage import BROKER_SIDE, CLIENT_SIDE, LISTS, Fate, Statement

ROOT = Path(__file__).parents[2]
STATEMENTS = [(f"{side} {each.number}", each) for side, statements in LISTS.items() for each in statements]


def known_claims() -> set[str]:
    """Every name that a statement may be held by, files aside."""
    return {
        *(invariant.name for invariant in CATALOGUE),
        *(f"assignors.{claim.name}" for claim in CLAIMS),
        *(f"model.{claim.__name__}" for claim in (*MODEL.invariants, *MODEL.step_invariants)),
        *(f"liveness.{prop.name}" for prop in MODEL.liveness),
    }


def test_every_number_of_both_lists_appears_once() -> None:
    assert [each.number for each in BROKER_SIDE] == list(range(1, 35))
    assert [each.number for each in CLIENT_SIDE] == list(range(1, 38))


@pytest.mark.parametrize("statement", [pytest.param(each, id=name) for name, each in STATEMENTS])
def test_what_speaks_for_a_statement_is_there(statement: Statement) -> None:
    files = [claim for claim in statement.claims if "/" in claim]

    assert set(statement.claims) - set(files) <= known_claims()
    assert all((ROOT / file).is_file() for file in files)


@pytest.mark.parametrize("statement", [pytest.param(each, id=name) for name, each in STATEMENTS])
def test_a_statement_without_a_claim_of_its_own_says_why(statement: Statement) -> None:
    assert statement.why or statement.fate is Fate.OWN
    assert bool(statement.claims) == (statement.fate is not Fate.OTHER)


def test_a_claim_of_its_own_is_an_invariant() -> None:
    names = {invariant.name for invariant in CATALOGUE}

    assert all(each.claims[0] in names for _, each in STATEMENTS if each.fate is Fate.OWN)
