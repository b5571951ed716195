"""The page of planted defects: the fault of each, which invariant catches it, and the command that finds it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rebalance_check.impl.mutants import MUTANTS, Mutant
from rebalance_check.impl.mutants.field_bugs import field_bugs

OF_CONNECT: Final = ("connect-", "status-")
"""How the defects of Kafka Connect are called in the catalogue of the field."""

_HEAD: Final = """# Planted defects

Each of these defects is one small change, switched on by name, and repeats a defect of the field where the column
*like* names one. A test runs the command's search and asserts that the invariant or the claim about assignors that
is named breaks; without the defect, nothing does.
"""


def mutants_markdown(mutants: Iterable[Mutant]) -> str:
    """The whole page, with a table row per mutant."""
    rows = [
        "| planted defect | what it does wrong | like | caught by | found by |",
        "|---|---|---|---|---|",
    ]
    rows += [
        f"| {mutant.name} | {_cell(mutant.what)} | {mutant.catalogue_id or '-'} "
        f"| `{mutant.caught_by}` | `{mutant.command}` |"
        for mutant in mutants
    ]
    reasons = ["", "Not planted, and why:", "", "| defect of the field | reason |", "|---|---|"]
    reasons += [f"| {bug.id} | {_cell(bug.not_planted)} |" for bug in field_bugs() if bug.not_planted]
    return "\n".join([_HEAD, *rows, "", _summary(), *reasons]) + "\n"


def _summary() -> str:
    """How many defects of the field are planted."""
    planted = {mutant.catalogue_id for mutant in MUTANTS.values() if mutant.catalogue_id}
    of_connect = [name for name in planted if name.startswith(OF_CONNECT)]
    return f"{len(planted)} defects of the field are planted, {len(of_connect)} of them of Kafka Connect."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
