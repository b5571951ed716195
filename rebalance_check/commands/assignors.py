"""``rebalance-check assignors``: assignment problems for Kafka's own assignors of any release, or for ours."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final

import click
import msgspec

from rebalance_check.commands._assignor_findings import Shown, finish_search
from rebalance_check.commands._connect_assignors import CONNECT_CLAIM_NAMES, ConnectOptions, run_connect
from rebalance_check.commands._console import Console, json_option, verdict_line
from rebalance_check.commands._minutes import Minutes, over_after
from rebalance_check.integration.oracle.assignors import Assignors, JavaAssignors, OurAssignors
from rebalance_check.integration.oracle.compare import Comparison, compare
from rebalance_check.integration.oracle.release import DEFAULT_VERSION
from rebalance_check.integration.oracle.search import Search, judge_one, search
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import parse_seeds
from rebalance_check.properties.assignment.claims import CLAIMS
from rebalance_check.properties.assignment.connect_histories import SHAPES as CONNECT_SHAPES
from rebalance_check.properties.assignment.connect_rounds import CONNECT_ASSIGNORS
from rebalance_check.properties.assignment.problem import ASSIGNORS, Problem
from rebalance_check.properties.assignment.problems import SHAPES
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.assignments import comparison_document, finding_document, finding_text

OURS: Final = "ours"
CLAIM_NAMES: Final = tuple(claim.name for claim in CLAIMS)
EITHER_CLAIM: Final = tuple(dict.fromkeys((*CLAIM_NAMES, *CONNECT_CLAIM_NAMES)))
EITHER_SHAPE: Final = tuple(dict.fromkeys((*SHAPES, *CONNECT_SHAPES)))


@click.command("assignors")
@click.option(
    "--version", "version", default=DEFAULT_VERSION, show_default=True, metavar="RELEASE",
    help="A release of Kafka since 2.4.0, or `ours`.",
)  # fmt: skip
@click.option(
    "--assignor", "names", multiple=True, type=click.Choice((*ASSIGNORS, *CONNECT_ASSIGNORS)),
    help="Only this one (repeatable); those of Connect are never asked with those of consumers.",
)  # fmt: skip
@click.option("--shape", "shapes", multiple=True, type=click.Choice(EITHER_SHAPE), help="Only such problems.")
@click.option("--claim", "claims", multiple=True, type=click.Choice(EITHER_CLAIM), help="Judge only this claim.")
@click.option("--seeds", default="0:1000", show_default=True, metavar="FIRST:LAST", help="From FIRST up to, not LAST.")
@click.option("--input", "text", metavar="TEXT", help="Judge the answers to this one problem (as a finding prints it).")
@click.option("--compare", "comparing", is_flag=True, help="Hold our answers against theirs instead of judging theirs.")
@click.option("--minutes", type=Minutes(zero=True), default=0.0, help="Begin no input after this time.")
@json_option
def command(*, version: str, names: tuple[str, ...], shapes: tuple[str, ...], claims: tuple[str, ...],
            seeds: str, text: str | None, comparing: bool, minutes: float, as_json: bool) -> int:  # fmt: skip
    """Judge the answers of Kafka's own assignors by the claims about assignments, and shrink what breaks one.

    Needs a JDK, and the release's jars from REBALANCE_CHECK_KAFKA_JARS or from Maven; `--version ours` needs neither.
    A seed is one problem of each shape; for connect-eager and connect-incremental it is a history of one group.
    """
    console = Console(as_json)
    chosen, looks, numbers = names or ASSIGNORS, shapes or tuple(SHAPES), parse_seeds(seeds)
    if comparing and (text is not None or version == OURS):
        raise RebalanceCheckError("--compare holds a release against ours: leave out --input, and name a release")
    if comparing and minutes:
        raise RebalanceCheckError("--minutes ends a search, and --compare is none: choose fewer --seeds")
    is_over = over_after(minutes)
    if set(names) & set(CONNECT_ASSIGNORS):
        return run_connect(console, ConnectOptions(
            version=None if version == OURS else version, names=names, shapes=shapes, claims=claims, seeds=numbers,
            text=text, comparing=comparing, is_over=is_over,
        ))  # fmt: skip
    _refuse_connect(shapes, claims)
    with ExitStack() as stack:
        asked: Assignors = OurAssignors() if version == OURS else stack.enter_context(JavaAssignors(version))
        if comparing:
            return finish_comparison(console, asked.name, list(compare(asked, chosen, looks, numbers)))
        if text is not None:
            return finish(console, asked.name, judge_one(asked, chosen, read_problem(text), claims))
        with console.progress() as advance:
            found = search(asked, chosen, looks, numbers, claims=claims, progress=advance, is_over=is_over)
        return finish(console, asked.name, found)


def _refuse_connect(shapes: Sequence[str], claims: Sequence[str]) -> None:
    wrong = [one for one in shapes if one not in SHAPES] + [one for one in claims if one not in CLAIM_NAMES]
    if wrong:
        raise RebalanceCheckError(f"{wrong[0]} belongs to Connect: add --assignor {' or '.join(CONNECT_ASSIGNORS)}")


def read_problem(text: str) -> Problem:
    """A problem from its JSON; `RebalanceCheckError` when it is none."""
    try:
        return msgspec.json.decode(text, type=Problem)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise RebalanceCheckError(f"--input is no assignment problem ({error}): take one that a finding printed") from (
            error
        )


def finish(console: Console, whose: str, found: Search) -> int:
    """Every finding, then the figures."""
    shown = [Shown(one.broken.claim, finding_text(one, whose), finding_document(one)) for one in found.findings]
    return finish_search(console, whose, {"inputs": found.inputs}, shown)


def finish_comparison(console: Console, whose: str, comparisons: Sequence[Comparison]) -> int:
    """A table of reasons; only what nothing explains is a failure."""
    rows: list[tuple[str, ...]] = [
        (one.assignor, one.shape, f"{one.inputs:,}", ", ".join(f"{n:,} {why}" for why, n in one.reasons.most_common()))
        for one in comparisons
    ]
    console.table(f"our answers and those of {whose}", ("assignor", "shape", "inputs", "answers"), rows)
    unexplained = sum(one.unexplained for one in comparisons)
    console.say(f"{sum(one.inputs for one in comparisons):,} inputs, {unexplained} differences that nothing explains")
    outcome = Outcome.VIOLATED if unexplained else Outcome.HELD
    console.say(verdict_line(outcome, [], f"{unexplained:,} differences that nothing explains"))
    document: dict[str, Any] = {
        "assignors": whose,
        "verdict": "violated" if unexplained else "held",
        "unexplained": unexplained,
        "comparisons": [comparison_document(one) for one in comparisons],
    }
    return console.finish(document, ExitCode.SAFETY if unexplained else ExitCode.HELD)
