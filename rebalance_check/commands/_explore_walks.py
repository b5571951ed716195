"""``rebalance-check explore --walks``: seeded random walks within bounds that are too large to be explored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.commands._exploration_report import listed, print_verdicts, write_counterexamples
from rebalance_check.commands._model_results import model_results
from rebalance_check.model.checker.safety.limits import Ended, Limits
from rebalance_check.model.checker.safety.random_walks import RandomWalks, random_walks
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.execution import Execution, execute
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of
from rebalance_check.properties.verdict import Outcome, worst_outcome
from rebalance_check.report.paths import path_document, path_text, shown_path


def explore_by_walks(
    console: Console, model: Model, bounds: Bounds, *, walks: int, seed: int, depth: int, limits: Limits,
    html: Path | None, ci: CiOptions,
) -> ExitCode:  # fmt: skip
    """Walk, print what was found and covered, and end with a verdict, which is about these walks alone."""
    with console.progress() as progress:
        found = random_walks(model, bounds, walks, seed=seed, depth=depth, limits=limits, progress=progress)
    run = execute(found.counterexample) if found.counterexample else None
    print_walks(console, found, run)
    if html is not None:
        about = f"random walks in {bounds.address()}: {found.walks:,} walks, {found.steps:,} actions"
        write_counterexamples(console, html, about, [shown_path(run, found.violated)] if run else [])
    outcome = worst_outcome(Outcome(verdict) for verdict in found.verdicts.values())
    about = f"{found.walks:,} walk{'s' * (found.walks > 1)}" + (
        "" if found.violated else ", which prove nothing about others"
    )
    code = ExitCode.INTERRUPTED if found.ended is Ended.STOPPED else exit_code_of(outcome)
    document = walks_document(found, outcome, run)
    ci.write(console, "explore", lambda: model_results(document), code)
    console.say(verdict_line(outcome, [found.violated], about))
    return console.finish(document, code)


def print_walks(console: Console, found: RandomWalks, run: Execution | None) -> None:
    """Figures, claims, coverage, and the counterexample as it ran."""
    console.say(
        f"{found.walks:,} of {found.asked:,} walks of at most {found.depth:,} actions, seeds from {found.seed}: "
        f"{found.steps:,} actions, {found.distinct:,} distinct states, {found.seconds:.1f} s "
        f"({found.steps / max(found.seconds, 1e-9):,.0f} actions/s)"
    )
    if found.ended is not None:
        console.say(f"ended early, because {found.ended}")
    print_verdicts(console, found.verdicts.items())
    kinds = {str(kind): count > 0 for kind, count in found.actions.items()}
    for word, what, reached in (
        ("taken", "kinds of actions", kinds),
        ("reached", "reachable states and steps", found.reachable_states),
    ):
        console.say(f"  {word:<9} {sum(reached.values())} of {len(reached)} {what}")
        missed = [name for name, is_reached in reached.items() if not is_reached]
        if missed and not found.violated:
            console.say(listed("missed", missed))
    if run is not None:
        console.say(f"shrunk from {found.walked} to {len(run.actions)} actions\n\n{path_text(run, found.violated)}")


def walks_document(found: RandomWalks, outcome: Outcome, run: Execution | None) -> dict[str, Any]:
    """The JSON form of some walks."""
    return {
        "bounds": found.bounds.address(),
        "mutant": found.mutant,
        "seed": found.seed,
        "asked": found.asked,
        "walks": found.walks,
        "depth": found.depth,
        "steps": found.steps,
        "distinct": found.distinct,
        "seconds": round(found.seconds, 3),
        "ended": None if found.ended is None else found.ended.name.lower(),
        "claims": dict(found.verdicts),
        "reachable": dict(found.reachable_states),
        "actions": {str(kind): count for kind, count in found.actions.items()},
        "verdict": outcome.value,
        "walked": found.walked,
        "counterexample": path_document(run, found.violated) if run else None,
    }
