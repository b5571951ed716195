"""``docs/field-bugs.md``: the defects of the field, by role, and what of ours finds each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Final

from rebalance_check.impl.mutants import (
    AssignmentSearch,
    FuzzSearch,
    ModelSearch,
    Mutant,
    ScenarioSearch,
)
from rebalance_check.impl.mutants.field_bugs import FieldBug, field_bugs
from rebalance_check.impl.mutants.finds import Find, recorded_finds
from rebalance_check.impl.mutants.out_of_reach import OUT_OF_REACH
from rebalance_check.impl.mutants.shrunk_lengths import STEPS

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
[TRACK_RECORD.md](../TRACK_RECORD.md) has its command.

- *Simulated runs*: the invariants judge what `rebalance-check fuzz` simulates. *Random scenarios*: the same on random
  requests to a coordinator (`fuzz --subject coordinator`). *Assignor claims*: random problems and rounds. *Model*:
  exhaustive search.
- *Seeds* are those that the search tries until the claim breaks, *seconds* the processor time that this takes on one
  core, shrinking apart, *steps* the length of the shrunk counterexample. A search of the model tries no seeds.

The page is generated: `rebalance-check mutants --field-bugs > docs/field-bugs.md`.
"""


def field_bugs_markdown(mutants: Iterable[Mutant]) -> str:
    """The whole page: a summary by role, then a table for each role."""
    planted: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        planted.setdefault(mutant.catalogue_id, []).append(mutant)
    bugs, finds = field_bugs(), recorded_finds()
    roles = list(dict.fromkeys(bug.role for bug in bugs))
    parts = [HEAD, _summary(roles, bugs, planted, finds)]
    parts += [_table(role, [bug for bug in bugs if bug.role == role], planted, finds) for role in roles]
    return "\n".join(parts)


def _summary(
    roles: Sequence[str], bugs: Sequence[FieldBug], planted: Mapping[str, Sequence[Mutant]], finds: Mapping[str, Find]
) -> str:
    names = list(FOUND_BY.values())
    head = ["role", "entries", "planted", *names, "not planted", "median seconds", "worst seconds"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for role in [*roles, ""]:
        own = [bug for bug in bugs if role in ("", bug.role)]
        ways = [_way(planted[bug.id]) for bug in own if bug.id in planted]
        seconds = [find.seconds for bug in own if (find := _soonest(planted.get(bug.id, ()), finds)) is not None]
        cells = [role or "**all**", len(own), len(ways), *(ways.count(name) for name in names), len(own) - len(ways)]
        cells += [f"{median(seconds):.2f}", f"{max(seconds):.2f}"] if seconds else ["-", "-"]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _way(mutants: Sequence[Mutant]) -> str:
    """The widest search that finds one of them."""
    kinds = {type(mutant.find) for mutant in mutants}
    return next(name for kind, name in FOUND_BY.items() if kind in kinds)


def _soonest(mutants: Sequence[Mutant], finds: Mapping[str, Find]) -> Find | None:
    """The least that a search needed for one of them."""
    measured = [finds[mutant.listed_name] for mutant in mutants if mutant.listed_name in finds]
    return min(measured, key=lambda find: find.seconds, default=None)


def _table(
    role: str, bugs: Sequence[FieldBug], planted: Mapping[str, Sequence[Mutant]], finds: Mapping[str, Find]
) -> str:
    head = ["defect", "where it was", "planted as", "caught by", "found by", "seeds", "seconds", "steps"]
    lines = [f"## {role.capitalize()}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for bug in bugs:
        where = f"{bug.project}: {bug.reference}"
        rows = [_cells(mutant, finds.get(mutant.listed_name)) for mutant in planted.get(bug.id, ())]
        rows = rows or [[f"not planted: {OUT_OF_REACH[bug.id]}", *"-----", "-"]]
        lines += [_row([bug.id, where, *cells]) for cells in rows]
    return "\n".join(lines) + "\n"


def _cells(mutant: Mutant, find: Find | None) -> list[str]:
    seeds, seconds = (str(find.seeds or "-"), f"{find.seconds:.2f}") if find is not None else ("-", "-")
    steps = str(STEPS.get(mutant.name, "-")) if mutant.where == "impl" else "-"
    return [f"`{mutant.listed_name}`", f"`{mutant.caught_by}`", FOUND_BY[type(mutant.find)], seeds, seconds, steps]


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
