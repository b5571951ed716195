"""What ``rebalance-check explore --progress`` adds: the claims of progress, judged and told."""

from __future__ import annotations

from typing import Any, Final

from rebalance_check.commands._console import Console
from rebalance_check.model.checker.liveness import LivenessCheck
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of
from rebalance_check.properties.kinds import Kind
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.lassos import lasso_document, lasso_section, lasso_text
from rebalance_check.report.section import Section

MOST_SHOWN: Final = 1
"""Of several claims broken, this many are shown with their runs: one cause often breaks them all."""


def tell_progress(console: Console, found: LivenessCheck) -> None:
    """Figures, claims, and the shortest run that breaks one."""
    if found.undecided:
        console.say(f"progress is undecided: {found.undecided}")
    else:
        console.say(
            f"{found.states:,} states and {found.steps:,} steps undisturbed, in any number of generations; "
            f"{found.components:,} places where a fair run can stay, {found.seconds:.1f} s"
        )
    for name, verdict in found.verdicts.items():
        console.say(f"  {verdict:<9} {name}")
    for text in findings(found):
        console.say(f"\n{text}")


def findings(found: LivenessCheck) -> list[str]:
    """The shortest runs that break a claim, as text; of equals that of the claim that stands first."""
    shortest = sorted(found.counterexamples.items(), key=lambda each: len(each[1].actions))
    return [lasso_text(path, name) for name, path in shortest[:MOST_SHOWN]]


def sections(found: LivenessCheck) -> list[Section]:
    """Every run that breaks a claim, for a page."""
    return [lasso_section(path, name) for name, path in found.counterexamples.items()]


def outcome_of(found: LivenessCheck) -> Outcome:
    """Violated, undecided where nothing could be concluded, else held."""
    if found.violated:
        return Outcome.VIOLATED
    return Outcome.UNDECIDED if found.undecided else Outcome.HELD


def liveness_exit_code(found: LivenessCheck) -> ExitCode:
    """11 for a violated claim, 12 where nothing could be concluded, else 0."""
    return exit_code_of(outcome_of(found), Kind.PROGRESS)


def progress_document(found: LivenessCheck) -> dict[str, Any]:
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
        "counterexamples": [lasso_document(path, name) for name, path in found.counterexamples.items()],
    }
