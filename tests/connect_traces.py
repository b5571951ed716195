"""Runs a scenario of a Connect group on any assignors: one answer for each line, those of rounds in words."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_check.impl.scenarios.document import Scenario
from rebalance_check.integration.comparison.connect_assignors.assigned_group import AssignedGroup
from rebalance_check.integration.comparison.connect_assignors.request import ConnectAssignors
from rebalance_check.properties.assignment.connect_rounds import CourseRound
from rebalance_check.properties.assignment.connect_steps import item_names, read_history


def answers(assignors: ConnectAssignors, scenario: Scenario) -> list[str]:
    """Each worker's share in each round; nothing for lines that are no rounds."""
    history = read_history("\n".join(line.step for line in scenario.lines))
    group = AssignedGroup(assignors, history.max_delay_ms)
    said = [""] * (len(scenario.lines) - len(history.steps))
    for step in history.steps:
        rounds = len(group.rounds)
        group.step(step)
        said.append("; ".join(summary(group.rounds[-1])) if len(group.rounds) > rounds else "")
    return said


def summary(one: CourseRound) -> Iterator[str]:
    """A part for each worker that gets or gives up anything, and one for the delay."""
    if one.failure or one.mismatch:
        yield one.failure or "CONFIG_MISMATCH"
    for member, worker in sorted(one.workers.items()):
        answer = one.answers[member]
        parts = [f"gets {item_names(sorted(answer.assigned))}"] if answer.assigned else []
        parts += [f"gives up {item_names(sorted(answer.revoked))}"] if answer.revoked else []
        if parts:
            yield f"{worker} {', '.join(parts)}"
    if one.delay_ms:
        yield f"delay {one.delay_ms}"
    elif not (one.assigned or one.revoked or one.mismatch):
        yield "nothing"
