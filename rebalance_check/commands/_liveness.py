"""The part of ``rebalance-check explore --liveness``: the liveness properties, judged and printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rebalance_check.commands._console import Console
from rebalance_check.commands._exploration_report import print_verdicts
from rebalance_check.model.checker.liveness import LivenessCheck
from rebalance_check.model.execution import Execution, execute
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of
from rebalance_check.properties.kinds import Kind
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.lassos import lasso_document, lasso_text, shown_lasso
from rebalance_check.report.pages.shown_run import ShownRun

MOST_SHOWN: Final = 1
"""Of several properties broken, this many are shown with their runs: one cause often breaks them all."""


def executed(found: LivenessCheck) -> dict[str, Execution]:
    """The run that breaks each property, executed."""
    return {name: execute(path) for name, path in found.counterexamples.items()}


def print_liveness(console: Console, found: LivenessCheck, runs: Mapping[str, Execution]) -> None:
    """Figures, properties, and the shortest run that breaks one."""
    if found.undecided:
        console.say(f"liveness is undecided: {found.undecided}")
    else:
        console.say(
            f"{found.states:,} states and {found.steps:,} steps without faults, in any number of generations; "
            f"{found.components:,} fair terminal components, {found.seconds:.1f} s"
        )
    print_verdicts(console, found.verdicts.items())
    for text in findings(runs):
        console.say(f"\n{text}")


def findings(runs: Mapping[str, Execution]) -> list[str]:
    """The shortest runs that break a property, as text; of equals that of the property that stands first."""
    shortest = sorted(runs.items(), key=lambda each: len(each[1].actions))
    return [lasso_text(run, name) for name, run in shortest[:MOST_SHOWN]]


def shown_lassos(runs: Mapping[str, Execution]) -> list[ShownRun]:
    """Every run that breaks a property, for a page."""
    return [shown_lasso(run, name) for name, run in runs.items()]


def outcome_of(found: LivenessCheck) -> Outcome:
    """Violated, undecided where nothing could be concluded, else held."""
    if found.violated:
        return Outcome.VIOLATED
    return Outcome.UNDECIDED if found.undecided else Outcome.HELD


def liveness_exit_code(found: LivenessCheck) -> ExitCode:
    """11 for a violated property, 12 where nothing could be concluded, else 0."""
    return exit_code_of(outcome_of(found), Kind.LIVENESS)


def liveness_document(found: LivenessCheck, runs: Mapping[str, Execution]) -> dict[str, Any]:
    """The JSON form."""
    return {
        "verdict": outcome_of(found).value,
        "undecided": found.undecided,
        "reached": found.reached,
        "states": found.states,
        "steps": found.steps,
        "components": found.components,
        "seconds": round(found.seconds, 3),
        "claims": dict(found.verdicts),
        "counterexamples": [lasso_document(run, name) for name, run in runs.items()],
    }
