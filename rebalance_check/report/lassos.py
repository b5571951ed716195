"""A run that goes on for ever on paper: the way, then the steps that repeat, marked with ``~``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebalance_check.model.checker.liveness import Instance, broken_liveness_properties
from rebalance_check.model.execution import Execution
from rebalance_check.properties.verdict import Because, Outcome
from rebalance_check.report.lanes import LaneTable
from rebalance_check.report.pages.shown_run import Finding, ShownRun
from rebalance_check.report.paths import claim_sentence, origin_of, steps_of, table_of
from rebalance_check.report.text import Origin, table_text


def lasso_text(run: Execution, name: str, broken: Sequence[Instance] | None = None) -> str:
    """The goal that is never reached and why, the table of the run with its loop, and the command that shows it.

    ``name`` is the liveness property, empty for none; ``broken`` has the claims it breaks, where that is known.
    """
    origin = lasso_origin(run)
    reasons = [f"  {'' if number else 'because':<8} {reason}" for number, reason in enumerate(because(run))]
    claims = [f"  claim    {claim_sentence(run.path.model, name)}", *reasons] if name else []
    head = [headline(run, name, broken), *claims, f"  run      {origin.run}"]
    return "\n".join([*head, "", table_text(lasso_table(run)), "", f"  replay   {origin.replay}"])


def shown_lasso(run: Execution, name: str) -> ShownRun:
    """The same for a page."""
    never = headline(run, name).removeprefix(f"{name}: ")
    found = Finding(name, never, claim_sentence(run.path.model, name), [Because(reason) for reason in because(run)])
    return ShownRun(
        run.path.bounds.address(), Outcome.VIOLATED, steps_of(run), lasso_origin(run), [found],
        repeats_after=run.path.loop,
    )  # fmt: skip


def lasso_document(run: Execution, name: str = "") -> dict[str, Any]:
    """The JSON form: of the property named, or of the first that the run breaks; it breaks others, perhaps."""
    broken = broken_liveness_properties(run.path)
    names = list(dict.fromkeys(one.liveness_property.name for one in broken))
    shown = name or next(iter(names), "")
    return {
        "invariant": shown,
        "claim": claim_sentence(run.path.model, shown),
        "address": run.address,
        "mutant": run.path.mutant,
        "actions": [str(action) for action in run.actions],
        "repeats_after": run.path.loop,
        "breaks": names,
        "text": lasso_text(run, shown, broken),
    }


def headline(run: Execution, name: str, broken: Sequence[Instance] | None = None) -> str:
    """``no_stuck_member: never for m0``: for whom the property fails, or that it never comes true for good."""
    instances = broken_liveness_properties(run.path) if broken is None else broken
    failed = [one for one in instances if one.liveness_property.name == name]
    if not failed:
        return "a run that goes on for ever, and breaks no liveness property"
    stabilises = failed[0].liveness_property.stabilises
    return f"{name}: never {'for good' if stabilises else 'for ' + ', '.join(map(str, failed))}"


def because(run: Execution) -> list[str]:
    """Why the run may go on so for ever."""
    way = run.path.loop or 0
    if way == len(run.actions):
        return [f"after step {way} nothing has to happen any more: no fair action is enabled."]
    return [
        f"steps {way + 1} to {len(run.actions)} lead back to where they began, if in a later generation;",
        "every fair action that stays enabled throughout is taken in them: so they may repeat for ever.",
    ]


def lasso_table(run: Execution) -> LaneTable:
    """The steps, those that repeat marked."""
    return table_of(run, repeats_after=run.path.loop)


def lasso_origin(run: Execution) -> Origin:
    """Where the run comes from."""
    way, again = run.path.loop or 0, len(run.actions) - (run.path.loop or 0)
    return origin_of(run, f"{way} steps, then {again} that repeat" if again else f"{way} steps")
