"""How ``rebalance-check explore`` ends: after a search, after walks, and where it shows paths of the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.commands._exploration_report import (
    coverage_text,
    exploration_document,
    outcome_of,
    print_exploration,
    print_walks,
    walks_document,
    write_counterexamples,
)
from rebalance_check.commands._model_results import model_results, path_result
from rebalance_check.commands._search_line import search_line
from rebalance_check.model.checker.safety import Exploration
from rebalance_check.model.checker.safety import Path as ModelPath
from rebalance_check.model.checker.safety.limits import Ended, Limits
from rebalance_check.model.checker.safety.random_walks import RandomWalks
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import path_at
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of, worst_exit_code
from rebalance_check.properties.verdict import Outcome, worst_outcome
from rebalance_check.report.pages.shown_run import ShownRun
from rebalance_check.report.paths import path_document, shown_path


def finish(
    console: Console,
    model: Model,
    found: Exploration,
    *,
    liveness: bool,
    limits: Limits,
    html: Path | None,
    ci: CiOptions,
) -> int:
    """Print the search's findings, judge liveness where that is asked for, and end with a verdict."""
    run = execute(found.counterexample) if found.counterexample else None
    print_exploration(console, found, run)
    document = exploration_document(found, run)
    paths = [shown_path(run, found.violated)] if run else []
    codes, broken, lassos = [exit_code_of(outcome_of(found))], [found.violated], list[ShownRun]()
    if liveness:
        document["liveness"], code, lassos = checked_liveness(console, model, found, limits)
        codes.append(code)
        broken += [name for name, verdict in document["liveness"]["claims"].items() if verdict == Outcome.VIOLATED]
    if html is not None:
        about = f"explore {found.bounds.address()}: {found.distinct:,} states, {found.generated:,} transitions"
        write_counterexamples(console, html, about, [*paths, *lassos])
    if found.ended is not None:
        console.say(f"ended early, because {found.ended}: {coverage_text(found)}")
    code = worst_exit_code(codes)
    ends = ExitCode.INTERRUPTED if found.ended is Ended.STOPPED else code
    ci.write(console, "explore", lambda: model_results(document), ends)
    console.say(verdict_line(code.outcome, broken, f"{found.distinct:,} states"))
    return console.finish(document, ends)


def checked_liveness(
    console: Console, model: Model, found: Exploration, limits: Limits
) -> tuple[dict[str, Any], ExitCode, list[ShownRun]]:
    """Check the liveness properties after the invariants: their document, exit code and counterexamples."""
    from rebalance_check.commands import _liveness  # noqa: PLC0415 - needs an extra, which interpreting does not
    from rebalance_check.model.checker.liveness import LivenessCheck, check_liveness  # noqa: PLC0415 - the same

    if found.ended is None:
        with search_line() as line:
            judged = check_liveness(model, found.bounds, compiled=found.compiled, limits=limits, progress=line)
    else:
        judged = LivenessCheck.without_graph(model, found.bounds, compiled=found.compiled, reached=found.distinct)
    runs = _liveness.executed(judged)
    _liveness.print_liveness(console, judged, runs)
    return _liveness.liveness_document(judged, runs), _liveness.liveness_exit_code(judged), _liveness.shown_lassos(runs)


def finish_walks(console: Console, found: RandomWalks, html: Path | None, ci: CiOptions) -> int:
    """Print the walks' findings and coverage, and end with a verdict, which is about these walks alone."""
    run = execute(found.counterexample) if found.counterexample else None
    print_walks(console, found, run)
    if html is not None:
        about = f"random walks in {found.bounds.address()}: {found.walks:,} walks, {found.steps:,} actions"
        write_counterexamples(console, html, about, [shown_path(run, found.violated)] if run else [])
    outcome = worst_outcome(Outcome(verdict) for verdict in found.verdicts.values())
    about = f"{found.walks:,} walk{'s' * (found.walks > 1)}"
    about += "" if found.violated else ", which prove nothing about others"
    code = ExitCode.INTERRUPTED if found.ended is Ended.STOPPED else exit_code_of(outcome)
    document = walks_document(found, outcome, run)
    ci.write(console, "explore", lambda: model_results(document), code)
    console.say(verdict_line(outcome, [found.violated], about))
    return console.finish(document, code)


def show_addresses(console: Console, addresses: Sequence[str], ci: CiOptions) -> int:
    """The paths on the model: their course, and whether a claim breaks at the end."""
    paths = [path_at(address) for address in addresses]
    documents = [path_run_document(path) for path in paths]
    for document in documents:
        console.say(document["text"])
    code = worst_exit_code(
        {
            ExitCode.SAFETY if path.loop is None else ExitCode.LIVENESS
            for path, document in zip(paths, documents, strict=True)
            if document["invariant"]
        }
    )
    ci.write(console, "explore", lambda: [path_result(document) for document in documents], code)
    broken = [document["invariant"] for document in documents]
    console.say(verdict_line(code.outcome, broken, f"{broken.count('')} of {len(paths)} paths break nothing"))
    return console.finish({"paths": documents}, code)


def path_run_document(path: ModelPath) -> dict[str, Any]:
    """The JSON form of a path, executed once."""
    run = execute(path)
    if path.loop is None:
        return path_document(run, run.broken())
    from rebalance_check.report.lassos import lasso_document  # noqa: PLC0415 - needs an extra

    return lasso_document(run)
