"""Rounds of a Connect group and what they break, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rebalance_check.integration.oracle.connect.compare import ConnectComparison
from rebalance_check.integration.oracle.connect.search import ConnectFinding
from rebalance_check.properties.assignment.connect_claims import CONNECT_CLAIMS
from rebalance_check.properties.assignment.connect_histories import random_history
from rebalance_check.properties.assignment.connect_rounds import Course, CourseRound
from rebalance_check.properties.assignment.connect_steps import item_name, item_names
from rebalance_check.report.terminal import visible


def connect_finding_text(finding: ConnectFinding, whose: str) -> str:
    """What is wrong first, then the claim, where it was found, and the smallest history with its rounds."""
    sentence = next(claim.sentence for claim in CONNECT_CLAIMS if claim.name == finding.broken.claim)
    return "\n".join(map(visible, [
        f"{finding.broken.claim}: {finding.broken.finding}",
        f"  claim     {sentence}",
        f"  assignor  {finding.assignor} of {whose}",
        f"  found     {_origin(finding)}",
        *(f"  {line}" for line in course_lines(finding.course)),
        f"  input     {'; '.join(finding.history.lines)}",
    ]))  # fmt: skip


def _origin(finding: ConnectFinding) -> str:
    if not finding.count:
        return "in the given history"
    return f"shape {finding.shape}, seed {finding.seed}; histories that break it: {finding.count}; shrunk"


def course_lines(course: Course) -> Iterator[str]:
    """A line for each round, and one for each of its members that claims, gets or gives up anything."""
    for one in course.rounds:
        yield round_line(one)
        for member, claim in one.claims.items():
            answer = one.answers.get(member)
            said = f"claims {item_names(claim)}" if claim else ""
            given = f"gets {item_names(answer.assigned)}" if answer and answer.assigned else ""
            taken = f"gives up {item_names(answer.revoked)}" if answer and answer.revoked else ""
            missed = "" if member in one.completed or one.failure else "does not complete the round"
            yield f"  {member:<7} {', '.join(filter(None, (said, given, taken, missed))) or 'idle'}"


def round_line(one: CourseRound) -> str:
    """The number of a round, its leader, and what is special about it."""
    parts = [f"round {one.generation} at {one.now_ms} ms, {one.leader} leads"]
    parts += ["eager"] if one.eager else []
    parts += ["CONFIG_MISMATCH"] if one.mismatch else []
    parts += [f"delay {one.delay_ms} ms"] if one.delay_ms else []
    parts += [f"failed: {one.failure}"] if one.failure else []
    return ", ".join(parts)


def connect_finding_document(finding: ConnectFinding) -> dict[str, Any]:
    """The JSON form of a finding."""
    return {
        "claim": finding.broken.claim,
        "finding": finding.broken.finding,
        "assignor": finding.assignor,
        "shape": finding.shape,
        "seed": finding.seed,
        "count": finding.count,
        "input": "; ".join(finding.history.lines),
        "rounds": [_round_document(one) for one in finding.course.rounds],
    }


def _round_document(one: CourseRound) -> dict[str, Any]:
    return {
        "generation": one.generation,
        "now_ms": one.now_ms,
        "leader": one.leader,
        "delay_ms": one.delay_ms,
        "claims": {member: [*map(item_name, claim)] for member, claim in one.claims.items()},
        "assigned": {member: [*map(item_name, answer.assigned)] for member, answer in one.answers.items()},
        "revoked": {member: [*map(item_name, answer.revoked)] for member, answer in one.answers.items()},
    }


def connect_comparison_document(comparison: ConnectComparison) -> dict[str, Any]:
    """The JSON form of a comparison, with its differences."""
    return {
        "release": comparison.release,
        "shape": comparison.shape,
        "histories": comparison.histories,
        "rounds": comparison.rounds,
        "differences": [
            {
                "seed": one.seed,
                "generation": one.generation,
                "what": one.what,
                "input": "; ".join(random_history(one.shape, one.seed).lines),
            }
            for one in comparison.differences
        ],
    }
