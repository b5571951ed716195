"""A path of the model on paper: the same table as for a history, a step per action."""

from __future__ import annotations

from typing import Any

from rebalance_check.model.explore import Path
from rebalance_check.model.explore.path import machine_for
from rebalance_check.model.specification import model_for
from rebalance_check.report.lanes import LaneTable, Row
from rebalance_check.report.text import table_text


def claim_sentence(path: Path, name: str) -> str:
    """What a claim of the model says: the first sentence of its docstring."""
    model = model_for(path.bounds)
    for claim in (*model.claims, *model.step_claims):
        if claim.__name__ == name:
            return " ".join((claim.__doc__ or "").split()).partition(".")[0]
    return ""


def path_table(path: Path) -> LaneTable:
    """A step per action, the last one marked: it is where the claim broke."""
    machine = machine_for(path.bounds, path.mutant)
    state, rows = machine.initial(), []
    for number, action in enumerate(path.actions, 1):
        machine.step(state, action)
        rows.append(Row(number, str(action), (), marked=number == len(path.actions)))
    return LaneTable((), tuple(rows), len(rows))


def path_text(path: Path, violated: str = "") -> str:
    """A path as text: what broke and where (or just the run), the table, and the command that shows it again."""
    lines = [
        f"{violated}: broken at step {len(path.actions)}" if violated else f"{len(path.actions)} steps",
        *([f"  claim    {claim_sentence(path, violated)}"] if violated else []),
        f"  run      {path.bounds.address()}" + (f"; mutant {path.mutant}" if path.mutant else ""),
        "",
        table_text(path_table(path)),
        "",
        f"  replay   rebalance-check replay '{path.address()}'",
    ]
    return "\n".join(lines)


def path_document(path: Path, violated: str = "") -> dict[str, Any]:
    """The JSON form of a path: its address, its actions, the claim it breaks."""
    return {
        "invariant": violated,
        "claim": claim_sentence(path, violated),
        "address": path.address(),
        "mutant": path.mutant,
        "actions": [str(action) for action in path.actions],
        "text": path_text(path, violated),
    }
