"""The page of defects of the field: the defects of the field, by role, and the finder of ours for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rebalance_check.impl.mutants import (
    AssignmentSearch,
    FuzzSearch,
    ModelSearch,
    Mutant,
    ScenarioSearch,
)
from rebalance_check.impl.mutants.field_bugs import FieldBug, field_bugs

FOUND_BY: Final[Mapping[type, str]] = {
    FuzzSearch: "simulated runs",
    ScenarioSearch: "random scenarios",
    AssignmentSearch: "assignor claims",
    ModelSearch: "model",
}
"""The searches, the widest first: an entry that is planted more than once counts for the first that finds it."""

HEAD: Final = """\
# Bugs of the field, and what finds them

Each row is a defect that a released Kafka, a client library or a system like them has had, with its ticket or commit.
It is planted in our implementation or in the model as one small change, or the row says in a sentence why it is not.
All searches run without Kafka; `rebalance-check mutants NAME --run` repeats one, and
`rebalance-check mutants` has its command.

- *Simulated runs*: the invariants judge what `rebalance-check fuzz` simulates. *Random scenarios*: the same on random
  requests to a coordinator (`fuzz --subject coordinator`). *Assignor claims*: random problems and rounds. *Model*:
  exhaustive search.

"""


def field_bugs_markdown(mutants: Iterable[Mutant]) -> str:
    """The whole page: a summary by role, then a table for each role."""
    planted: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        planted.setdefault(mutant.catalogue_id, []).append(mutant)
    bugs = field_bugs()
    roles = list(dict.fromkeys(bug.role for bug in bugs))
    tables = [_table(role, [bug for bug in bugs if bug.role == role], planted) for role in roles]
    return "\n".join([HEAD, _summary(roles, bugs, planted), *tables])


def _summary(roles: Sequence[str], bugs: Sequence[FieldBug], planted: Mapping[str, Sequence[Mutant]]) -> str:
    names = list(FOUND_BY.values())
    head = ["role", "entries", "planted", *names, "not planted"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for role in [*roles, ""]:
        own = [bug for bug in bugs if role in ("", bug.role)]
        ways = [_way(planted[bug.id]) for bug in own if bug.id in planted]
        cells = [role or "**all**", len(own), len(ways), *(ways.count(name) for name in names), len(own) - len(ways)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _way(mutants: Sequence[Mutant]) -> str:
    """The widest search that finds one of them."""
    kinds = {type(mutant.find) for mutant in mutants}
    return next(name for kind, name in FOUND_BY.items() if kind in kinds)


def _table(role: str, bugs: Sequence[FieldBug], planted: Mapping[str, Sequence[Mutant]]) -> str:
    head = ["defect", "where it was", "planted as", "caught by", "found by"]
    lines = [f"## {role.capitalize()}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for bug in bugs:
        where = f"{bug.project}: {bug.reference}"
        rows = [_cells(mutant) for mutant in planted.get(bug.id, ())]
        rows = rows or [[f"not planted: {bug.not_planted}", "-", "-"]]
        lines += [_row([bug.id, where, *cells]) for cells in rows]
    return "\n".join(lines) + "\n"


def _cells(mutant: Mutant) -> list[str]:
    return [f"`{mutant.listed_name}`", f"`{mutant.caught_by}`", FOUND_BY[type(mutant.find)]]


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
