"""An assignment problem and its answers, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from rebalance_check.integration.comparison.assignors.search import Finding
from rebalance_check.properties.assignment.claims import CLAIMS
from rebalance_check.properties.assignment.problem import (
    Answer,
    Member,
    Partition,
    Problem,
    partition_name,
    problem_json,
)
from rebalance_check.report.terminal import visible


def finding_text(finding: Finding, whose: str) -> str:
    """The fault first, then the claim, where it was found, and the smallest problem with its answer."""
    sentence = next(claim.sentence for claim in CLAIMS if claim.name == finding.broken.claim)
    return "\n".join(map(visible, [
        f"{finding.broken.claim}: {finding.broken.finding}",
        f"  claim     {sentence}",
        f"  assignor  {finding.assignor} of {whose}",
        f"  found     {origin_of(finding, 'answers')}",
        *problem_lines(finding.input, finding.answer),
        f"  input     {problem_json(finding.input)}",
    ]))  # fmt: skip


def origin_of(finding: Finding, what: str) -> str:
    """Where a finding comes from, and how many answers or histories broke its claim there."""
    if not finding.count:
        return "in the given input"
    return f"shape {finding.shape}, seed {finding.seed}; {finding.count} {what} break it; shrunk"


def problem_lines(problem: Problem, answer: Answer) -> Iterator[str]:
    """A line for the topics and one for each member, in the order of the leader's map."""
    yield "  topics    " + (", ".join(f"{topic}: {count}" for topic, count in problem.topics.items()) or "none")
    for topic, racks in (problem.racks or {}).items():
        yield f"  racks     {topic}: " + ", ".join("+".join(replicas) for replicas in racks)
    for name, member in problem.members.items():
        gets = "" if answer.failure else f"; gets {_names(answer.assigned.get(name, ()))}"
        yield f"  {name:<9} subscribes to {', '.join(member.topics) or 'nothing'}{_claims(member)}{gets}"


def _claims(member: Member) -> str:
    said = "" if member.generation is None else f" of generation {member.generation}"
    claims = f"; claims {_names(member.owned)}{said}" if member.owned else ""
    rack = f"; is in {member.rack}" if member.rack else ""
    return f"{claims}{rack}{f'; is instance {member.instance}' if member.instance else ''}"


def _names(partitions: tuple[Partition, ...]) -> str:
    return " ".join(map(partition_name, partitions)) or "-"


def finding_document(finding: Finding) -> dict[str, Any]:
    """The JSON form of a finding."""
    return {
        "claim": finding.broken.claim,
        "finding": finding.broken.finding,
        "assignor": finding.assignor,
        "shape": finding.shape,
        "seed": finding.seed,
        "count": finding.count,
        "input": msgspec.json.decode(problem_json(finding.input)),
        "answer": {name: [partition_name(tp) for tp in given] for name, given in finding.answer.assigned.items()},
    }
