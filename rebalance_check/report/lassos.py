"""A run that goes on for ever on paper: the way, then the steps that repeat, marked with ``~``."""

from __future__ import annotations

from typing import Any

from rebalance_check.model.checker.liveness import broken_liveness_properties
from rebalance_check.model.checker.safety import Path
from rebalance_check.report.lanes import LaneTable, lanes
from rebalance_check.report.paths import claim_sentence, path_steps, replay_command
from rebalance_check.report.section import Section
from rebalance_check.report.text import Origin, table_text


def lasso_text(path: Path, claim: str) -> str:
    """What never happens and why, the table of the run with the part that repeats, and the command that shows it."""
    table, origin = lasso_table(path), origin_of(path)
    reasons = [f"  {'' if number else 'because':<8} {reason}" for number, reason in enumerate(because(path))]
    claims = [f"  claim    {claim_sentence(path, claim)}"] if claim else []
    head = [headline(path, claim), *claims, *(reasons if claim else []), f"  run      {origin.run}"]
    return "\n".join([*head, "", table_text(table), "", f"  replay   {origin.replay}"])


def lasso_section(path: Path, claim: str) -> Section:
    """The same for a page."""
    lines = [f"claim: {claim_sentence(path, claim)}", *because(path)]
    return Section(headline(path, claim), "violated", lasso_table(path), origin_of(path), lines=lines)


def lasso_document(path: Path, claim: str = "") -> dict[str, Any]:
    """The JSON form: of the claim named, or of the first that the run breaks; it breaks others, perhaps."""
    broken = list(dict.fromkeys(one.aim.name for one in broken_liveness_properties(path)))
    shown = claim or next(iter(broken), "")
    return {
        "invariant": shown,
        "claim": claim_sentence(path, shown),
        "address": path.address(),
        "mutant": path.mutant,
        "actions": [str(action) for action in path.actions],
        "repeats_after": path.loop,
        "breaks": broken,
        "text": lasso_text(path, shown),
    }


def headline(path: Path, claim: str) -> str:
    """``no_stuck_member: never for m0``: whom the claim fails, or that it never comes true for good."""
    broken = [one for one in broken_liveness_properties(path) if one.aim.name == claim]
    if not broken:
        return "a run that goes on for ever, and breaks no claim of progress"
    return f"{claim}: never {'for good' if broken[0].aim.stabilises else 'for ' + ', '.join(map(str, broken))}"


def because(path: Path) -> list[str]:
    """Why the run may go on so for ever."""
    way = path.loop or 0
    if way == len(path.actions):
        return [f"after step {way} nothing has to happen any more: no fair action is enabled."]
    return [
        f"steps {way + 1} to {len(path.actions)} lead back to where they began, if in a later generation;",
        "every fair action that stays enabled throughout is taken in them: so they may repeat for ever.",
    ]


def lasso_table(path: Path) -> LaneTable:
    """The steps, those that repeat marked."""
    return lanes(path_steps(path), context=0, repeats_after=path.loop)


def origin_of(path: Path) -> Origin:
    """Where the run comes from."""
    way, again = path.loop or 0, len(path.actions) - (path.loop or 0)
    mutant = f"; mutant {path.mutant}" if path.mutant else ""
    steps = f"{way} steps, then {again} that repeat" if again else f"{way} steps"
    return Origin(f"{path.bounds.address()}{mutant}; {steps}", replay_command(path))
