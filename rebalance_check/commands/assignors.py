"""``rebalance-check assignors``: assignment problems for Kafka's own assignors of any release, or for ours."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Final

import click
import msgspec

from rebalance_check.commands._assignor_options import EITHER_CLAIM, are_of_connect, assignor_options
from rebalance_check.commands._claim_options import INVARIANT
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.commands._options import Command, json_option, minutes_option, option, over_after
from rebalance_check.integration.comparison.assignors.assignors import Assignors, JavaAssignors, OurAssignors
from rebalance_check.integration.comparison.assignors.release import DEFAULT_VERSION
from rebalance_check.integration.comparison.assignors.search import Asked, judge_one, problems_for, search
from rebalance_check.integration.comparison.connect_assignors.java import JavaConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.ours import OurConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.request import ConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.search import histories_for
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import parse_seeds
from rebalance_check.properties.assignment.connect_histories import SHAPES as CONNECT_SHAPES
from rebalance_check.properties.assignment.connect_steps import read_history
from rebalance_check.properties.assignment.problem import ASSIGNORS, Problem
from rebalance_check.properties.assignment.problems import SHAPES
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.assignments import finding_document, finding_text
from rebalance_check.report.connect_assignments import connect_finding_document, connect_finding_text

OURS: Final = "ours"


@click.command("assignors", cls=Command)
@click.argument("release", default=DEFAULT_VERSION)
@assignor_options
@option("--invariant", "claims", multiple=True, metavar="NAME", type=click.Choice(EITHER_CLAIM), help=INVARIANT["help"])
@option("--seeds", default="0:1000", show_default=True, metavar="FIRST:LAST", help="From FIRST up to, not LAST.")
@option("--input", "text", metavar="TEXT", help="Judge the answers to this one problem (as a finding prints it).")
@minutes_option("Begin no further input")
@json_option
def command(*, release: str, assignors: tuple[str, ...], shapes: tuple[str, ...], claims: tuple[str, ...],
            seeds: str, text: str | None, minutes: float | None, as_json: bool) -> int:  # fmt: skip
    """Judge the answers of Kafka's own assignors by the claims about assignments, and shrink each that breaks one.

    RELEASE is one of Kafka since 2.4.0, or `ours`. One of Kafka needs a JDK, and the release's jars from
    REBALANCE_CHECK_KAFKA_JARS or from Maven. A seed is one problem of each shape; for connect-eager and
    connect-incremental it is a history of one group.
    """
    console, numbers, is_over = Console(as_json), parse_seeds(seeds), over_after(minutes)
    is_connect = are_of_connect(assignors, shapes, claims)
    with ExitStack() as stack, console.progress() as advance:
        whose, asked = _asked(release, stack, is_connect=is_connect)
        names, known = assignors or ASSIGNORS, CONNECT_SHAPES if is_connect else SHAPES
        if text is not None:
            found = judge_one(asked, names, read_history(text) if is_connect else read_problem(text), claims)
        else:
            found = search(asked, names, shapes or tuple(known), numbers, claims=claims, progress=advance,
                           is_over=is_over)  # fmt: skip
    figures = {"histories": found.inputs, "rounds": found.rounds} if is_connect else {"inputs": found.inputs}
    said, data = (connect_finding_text, connect_finding_document) if is_connect else (finding_text, finding_document)
    return finish(console, whose, figures, [(one.broken.claim, said(one, whose), data(one)) for one in found.findings])


def _asked(release: str, stack: ExitStack, *, is_connect: bool) -> tuple[str, Asked]:
    """Whose assignors are asked, and how."""
    if is_connect:
        workers: ConnectAssignors = (
            OurConnectAssignors() if release == OURS else stack.enter_context(JavaConnectAssignors(release))
        )
        return workers.name, histories_for(workers)
    consumers: Assignors = OurAssignors() if release == OURS else stack.enter_context(JavaAssignors(release))
    return consumers.name, problems_for(consumers)


def read_problem(text: str) -> Problem:
    """A problem from its JSON; `RebalanceCheckError` when it is none."""
    try:
        return msgspec.json.decode(text, type=Problem)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise RebalanceCheckError(f"--input is no assignment problem ({error}): take one that a finding printed") from (
            error
        )


def finish(
    console: Console, whose: str, looked_at: dict[str, int], findings: list[tuple[str, str, dict[str, Any]]]
) -> int:
    """The exit code; ``looked_at`` says how much was judged, ``findings`` are claims, texts and documents."""
    for _, finding, _ in findings:
        console.say(finding)
        console.say()
    figures = ", ".join(f"{count:,} {what}" for what, count in looked_at.items())
    broken = len(findings)
    console.say(f"{whose}: {figures}, {f'{broken} ways to break a claim' if broken else 'every claim holds'}")
    outcome = Outcome.VIOLATED if broken else Outcome.HELD
    console.say(verdict_line(outcome, [claim for claim, _, _ in findings], figures))
    document: dict[str, Any] = {
        "assignors": whose, **looked_at, "verdict": outcome.value, "findings": [one for _, _, one in findings],
    }  # fmt: skip
    return console.finish(document, ExitCode.SAFETY if broken else ExitCode.HELD)
