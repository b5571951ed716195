"""A mutant's change, as a unified diff of the source."""

from __future__ import annotations

from difflib import unified_diff

from rebalance_check.impl.mutants.edit import edited_sources, source_of
from rebalance_check.impl.mutants.mutant import Mutant
from rebalance_check.model.registry import mutant_named

PACKAGE = "rebalance_check."


def diff_of(mutant: Mutant) -> str:
    """The diff of each module that the mutant edits, of the model's or of the implementation's source.

    Raises `RebalanceCheckError` where the source is not there.
    """
    return "".join(_diff(module, text) for module, text in _edited(mutant).items())


def _edited(mutant: Mutant) -> dict[str, str]:
    if mutant.where == "impl":
        return edited_sources(mutant.edits, mutant.name)
    edit = mutant_named(mutant.name).edit
    return {edit.module: source_of(edit.module).replace(edit.old, edit.new)}


def _diff(module: str, text: str) -> str:
    path = module.removeprefix(PACKAGE).replace(".", "/") + ".py"
    before, after = source_of(module).splitlines(keepends=True), text.splitlines(keepends=True)
    return "".join(unified_diff(before, after, f"a/{path}", f"b/{path}"))
