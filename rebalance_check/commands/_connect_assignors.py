"""``rebalance-check assignors`` for the assignors of Connect: histories of rounds instead of problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from rebalance_check.commands._assignor_findings import Shown, finish_search
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.integration.oracle.connect.compare import ConnectComparison, compare
from rebalance_check.integration.oracle.connect.java import JavaConnectAssignors
from rebalance_check.integration.oracle.connect.ours import OurConnectAssignors
from rebalance_check.integration.oracle.connect.request import ConnectAssignors
from rebalance_check.integration.oracle.connect.search import ConnectSearch, judge_one, protocol_of, search
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.assignment.connect_claims import CONNECT_CLAIMS
from rebalance_check.properties.assignment.connect_histories import SHAPES
from rebalance_check.properties.assignment.connect_rounds import CONNECT_ASSIGNORS
from rebalance_check.properties.assignment.connect_steps import read_history
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.connect_assignments import (
    connect_comparison_document,
    connect_finding_document,
    connect_finding_text,
)

CONNECT_CLAIM_NAMES = tuple(claim.name for claim in CONNECT_CLAIMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectOptions:
    """What was chosen on the command line; ``version`` None stands for our own assignors."""

    version: str | None
    names: tuple[str, ...]
    shapes: tuple[str, ...]
    claims: tuple[str, ...]
    seeds: range
    text: str | None
    comparing: bool
    is_over: Callable[[], bool]


def run_connect(console: Console, options: ConnectOptions) -> int:
    """Search, judge one given history, or compare.

    Raises `RebalanceCheckError` for a name, shape or claim of consumers, for a text that is no history, when no Java
    or no jars can be had.
    """
    _refuse("--assignor", options.names, CONNECT_ASSIGNORS)
    _refuse("--shape", options.shapes, tuple(SHAPES))
    _refuse("--claim", options.claims, CONNECT_CLAIM_NAMES)
    shapes = options.shapes or tuple(SHAPES)
    with ExitStack() as stack:
        if options.comparing:
            assert options.version is not None
            release = stack.enter_context(JavaConnectAssignors(options.version))
            results = [
                one
                for name in options.names
                for one in compare([release], shapes, options.seeds, protocol=protocol_of(name))
            ]
            return _finish_comparison(console, release.name, results)
        asked: ConnectAssignors = (
            OurConnectAssignors()
            if options.version is None
            else stack.enter_context(JavaConnectAssignors(options.version))
        )
        if options.text is not None:
            found = judge_one(asked, options.names, read_history(options.text), options.claims)
        else:
            with console.progress() as advance:
                found = search(
                    asked, options.names, shapes, options.seeds,
                    claims=options.claims, progress=advance, is_over=options.is_over,
                )  # fmt: skip
        return _finish(console, asked.name, found)


def _refuse(option: str, chosen: Sequence[str], known: Sequence[str]) -> None:
    wrong = [one for one in chosen if one not in known]
    if wrong:
        raise RebalanceCheckError(
            f"{option} {wrong[0]} belongs to consumers: with the assignors of Connect choose {', '.join(known)}"
        )


def _finish(console: Console, whose: str, found: ConnectSearch) -> int:
    """Every finding, then the figures."""
    shown = [
        Shown(one.broken.claim, connect_finding_text(one, whose), connect_finding_document(one))
        for one in found.findings
    ]
    return finish_search(console, whose, {"histories": found.histories, "rounds": found.rounds}, shown)


def _finish_comparison(console: Console, whose: str, comparisons: Sequence[ConnectComparison]) -> int:
    """A table; every difference is a failure."""
    rows: list[tuple[str, ...]] = [
        (one.shape, f"{one.histories:,}", f"{one.rounds:,}", f"{len(one.differences):,}") for one in comparisons
    ]
    console.table(f"our answers and those of {whose}", ("shape", "histories", "rounds", "histories that differ"), rows)
    differences = sum(len(one.differences) for one in comparisons)
    outcome = Outcome.VIOLATED if differences else Outcome.HELD
    console.say(verdict_line(outcome, [], f"{differences:,} histories in which ours and theirs differ"))
    document: dict[str, Any] = {
        "assignors": whose,
        "verdict": "violated" if differences else "held",
        "differences": differences,
        "comparisons": [connect_comparison_document(one) for one in comparisons],
    }
    return console.finish(document, ExitCode.SAFETY if differences else ExitCode.HELD)
