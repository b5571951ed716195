"""The output of ``rebalance-check explore`` for a search, and its JSON form."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rebalance_check.commands._console import Console, write_page
from rebalance_check.model.checker.safety import Exploration
from rebalance_check.model.checker.safety.random_walks import RandomWalks
from rebalance_check.model.execution import Execution
from rebalance_check.properties.verdict import Outcome, worst_outcome
from rebalance_check.report.pages.shown_run import ShownRun
from rebalance_check.report.paths import path_document, path_text


def outcome_of(found: Exploration) -> Outcome:
    """Violated, undecided when the search ended early, else held."""
    return worst_outcome(Outcome(verdict) for verdict in found.verdicts.values())


def print_exploration(console: Console, found: Exploration, run: Execution | None) -> None:
    """Figures, invariants, the reached goals, and the counterexample as it ran."""
    console.say(
        f"{found.distinct:,} distinct states, {found.generated:,} transitions, depth {found.depth}, "
        f"{found.seconds:.1f} s ({found.states_per_second:,.0f} states/s), {found.peak_bytes / 2**20:,.0f} MiB"
        f"{disk_text(found)}"
    )
    console.say(collision_text(found))
    print_verdicts(console, found.verdicts.items())
    console.say(reached_text(found))
    if run is not None:
        console.say(f"\n{path_text(run, found.violated)}")


def disk_text(found: Exploration) -> str:
    """The most that a search which kept its states on disk had there."""
    return f", {found.disk_bytes / 2**20:,.0f} MiB on disk" if found.disk_bytes else ""


def print_verdicts(console: Console, verdicts: Iterable[tuple[str, str]]) -> None:
    """A claim that is violated by its name; of all others how many they are."""
    given = list(verdicts)
    for name, verdict in given:
        if verdict == Outcome.VIOLATED:
            console.say(f"  {verdict:<9} {name}")
    for other in (Outcome.UNDECIDED, Outcome.HELD):
        count = sum(verdict == other for _, verdict in given)
        if count:
            console.say(f"  {other:<9} {count} claim{'s' * (count > 1)}")


def reached_text(found: Exploration) -> str:
    """How many goals of the model were reached; the others are listed, where the search came to its end."""
    met = sum(found.reachable_states.values())
    text = f"  reached   {met} of {len(found.reachable_states)} reachable states and steps"
    missed = [name for name, reached in found.reachable_states.items() if not reached]
    return f"{text}\n{listed('missed', missed)}" if missed and found.complete else text


def listed(word: str, names: list[str]) -> str:
    """Names one after the other, in lines of a readable width."""
    text = ", ".join(names)
    return textwrap.fill(text, 110, initial_indent=f"  {word:<9} ", subsequent_indent=" " * 12, break_on_hyphens=False)


def collision_text(found: Exploration) -> str:
    """How probable it is that the search missed a state."""
    if not found.compiled:
        return "states were compared whole: no state was missed by a collision of fingerprints"
    return (
        "a state was missed by a collision of 64-bit fingerprints with a probability of at most "
        f"{found.collision_probability:.1e}"
    )


def coverage_text(found: Exploration) -> str:
    """The coverage of a search that ended early, in one line."""
    if not found.depth:
        return "no state was explored"
    return (
        f"{found.levels} levels complete, {found.distinct:,} distinct states, {found.generated:,} transitions, "
        f"{found.frontier:,} states of the frontier left"
    )


def write_counterexamples(console: Console, html: Path, about: str, found: Sequence[ShownRun]) -> None:
    """A page with the counterexamples; ``about`` names the exploration.

    Raises `OSError` where it cannot be written.
    """
    from rebalance_check.report.pages.run_pages import ListedRun, run_page  # noqa: PLC0415 - needs an extra

    write_page(console, html, run_page([ListedRun.of(run) for run in found], [about]))


def exploration_document(found: Exploration, run: Execution | None) -> dict[str, Any]:
    """The JSON form of an exploration."""
    return {
        "bounds": found.bounds.address(),
        "symmetry": found.symmetry,
        "mutant": found.mutant,
        "threads": found.threads,
        "distinct": found.distinct,
        "generated": found.generated,
        "cut": found.cut,
        "depth": found.depth,
        "levels": found.levels,
        "frontier": found.frontier,
        "seconds": round(found.seconds, 3),
        "compile_seconds": round(found.compile_seconds, 3),
        "states_per_second": round(found.states_per_second),
        "peak_bytes": found.peak_bytes,
        "disk_bytes": found.disk_bytes,
        "complete": found.complete,
        "ended": None if found.ended is None else found.ended.name.lower(),
        "collision_probability": found.collision_probability,
        "claims": dict(found.verdicts),
        "reachable": dict(found.reachable_states),
        "actions": {str(kind): count for kind, count in found.actions.items()},
        "verdict": outcome_of(found).value,
        "counterexample": path_document(run, found.violated) if run else None,
    }


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
