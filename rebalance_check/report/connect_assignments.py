"""Rounds of a Connect group and the claims they break, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rebalance_check.integration.comparison.assignors.search import Finding
from rebalance_check.properties.assignment.connect_claims import CONNECT_CLAIMS
from rebalance_check.properties.assignment.connect_rounds import Course, CourseRound
from rebalance_check.properties.assignment.connect_steps import item_name, item_names
from rebalance_check.report.assignments import origin_of
from rebalance_check.report.terminal import visible


def connect_finding_text(finding: Finding, whose: str) -> str:
    """The fault first, then the claim, where it was found, and the smallest history with its rounds."""
    sentence = next(claim.sentence for claim in CONNECT_CLAIMS if claim.name == finding.broken.claim)
    return "\n".join(map(visible, [
        f"{finding.broken.claim}: {finding.broken.finding}",
        f"  claim     {sentence}",
        f"  assignor  {finding.assignor} of {whose}",
        f"  found     {origin_of(finding, 'histories')}",
        *(f"  {line}" for line in course_lines(finding.answer)),
        f"  input     {'; '.join(finding.input.lines)}",
    ]))  # fmt: skip


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
    """The number of a round, its leader, and its peculiarities."""
    parts = [f"round {one.generation} at {one.now_ms} ms, {one.leader} leads"]
    parts += ["eager"] if one.eager else []
    parts += ["CONFIG_MISMATCH"] if one.mismatch else []
    parts += [f"delay {one.delay_ms} ms"] if one.delay_ms else []
    parts += [f"failed: {one.failure}"] if one.failure else []
    return ", ".join(parts)


def connect_finding_document(finding: Finding) -> dict[str, Any]:
    """The JSON form of a finding."""
    return {
        "claim": finding.broken.claim,
        "finding": finding.broken.finding,
        "assignor": finding.assignor,
        "shape": finding.shape,
        "seed": finding.seed,
        "count": finding.count,
        "input": "; ".join(finding.input.lines),
        "rounds": [_round_document(one) for one in finding.answer.rounds],
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
