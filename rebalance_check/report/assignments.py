"""An assignment problem and its answers, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from rebalance_check.integration.oracle.compare import Comparison
from rebalance_check.integration.oracle.search import Finding
from rebalance_check.properties.assignment.claims import CLAIMS
from rebalance_check.properties.assignment.problem import Answer, Member, Partition, Problem, partition_name
from rebalance_check.report.terminal import visible


def finding_text(finding: Finding, whose: str) -> str:
    """What is wrong first, then the claim, where it was found, and the smallest problem with its answer."""
    sentence = next(claim.sentence for claim in CLAIMS if claim.name == finding.broken.claim)
    origin = finding.origin
    return "\n".join(map(visible, [
        f"{finding.broken.claim}: {finding.broken.finding}",
        f"  claim     {sentence}",
        f"  assignor  {origin.assignor} of {whose}",
        f"  found     shape {origin.shape}, seed {origin.seed}; {finding.count} answers break it; shrunk",
        *problem_lines(finding.problem, finding.answer),
        f"  input     {problem_json(finding.problem)}",
    ]))  # fmt: skip


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


def problem_json(problem: Problem) -> str:
    """The problem as `--input` takes it: one line of JSON, without what is empty."""
    data = msgspec.to_builtins(problem)
    data["members"] = {
        name: {key: value for key, value in member.items() if value not in (None, [], ())}
        for name, member in data["members"].items()
    }
    if data["racks"] is None:
        del data["racks"]
    return msgspec.json.encode(data).decode()


def finding_document(finding: Finding) -> dict[str, Any]:
    """The JSON form of a finding."""
    return {
        "claim": finding.broken.claim,
        "finding": finding.broken.finding,
        "assignor": finding.origin.assignor,
        "shape": finding.origin.shape,
        "seed": finding.origin.seed,
        "count": finding.count,
        "input": msgspec.json.decode(problem_json(finding.problem)),
        "answer": {name: [partition_name(tp) for tp in given] for name, given in finding.answer.assigned.items()},
    }


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The JSON form of a comparison, one example for each reason."""
    return {
        "assignor": comparison.assignor,
        "shape": comparison.shape,
        "inputs": comparison.inputs,
        "reasons": dict(sorted(comparison.reasons.items())),
        "examples": {
            reason: {
                "seed": one.seed,
                "input": msgspec.json.decode(problem_json(one.problem)),
                "theirs": one.theirs.failure or {m: [*map(partition_name, s)] for m, s in one.theirs.assigned.items()},
                "ours": {member: [*map(partition_name, share)] for member, share in one.ours.assigned.items()},
            }
            for reason, one in sorted(comparison.examples.items())
        },
    }
