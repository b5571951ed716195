"""What searches took for mutants that repeat a bug of the field, as ``rebalance-check mutants --finds`` measured it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Find(NamedTuple):
    """``seeds`` that were tried, the one that broke the claim with them (0: a search of a model), and the processor
    ``seconds`` until then, shrinking apart."""

    seeds: int
    seconds: float


@cache
def recorded_finds() -> dict[str, Find]:
    """By the mutant's name in the list of all (`registry.MUTANTS`)."""
    text = files("rebalance_check.impl.mutants").joinpath("finds.json").read_text(encoding="utf-8")
    return {name: Find(*values) for name, values in json.loads(text).items()}
