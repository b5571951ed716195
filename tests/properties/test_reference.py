"""Every statement of both lists is accounted for, and whatever speaks for one is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.model.classic.model import MODEL
from rebalance_check.properties.assignment.claims import CLAIMS
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.coverage import LISTS

ROOT = Path(__file__).parents[2]


def known_claims() -> set[str]:
    """Every name that a statement may be held by, files aside."""
    return {
        *(invariant.name for invariant in CATALOGUE),
        *(f"assignors.{claim.name}" for claim in CLAIMS),
        *(f"model.{claim.__name__}" for claim in (*MODEL.invariants, *MODEL.step_invariants)),
        *(f"liveness.{prop.name}" for prop in MODEL.liveness),
    }


@pytest.mark.parametrize(
    "claims", [pytest.param(claims, id=says) for each in LISTS.values() for says, claims in each.items()]
)
def test_what_speaks_for_a_statement_is_there(claims: str) -> None:
    files = {claim for claim in claims.split() if "/" in claim}

    assert set(claims.split()) - files <= known_claims()
    assert all((ROOT / file).is_file() for file in files)


def test_a_statement_about_this_protocol_has_a_claim() -> None:
    of_another = [says for each in LISTS.values() for says, claims in each.items() if not claims]

    assert len(of_another) == 10
