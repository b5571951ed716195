"""The search for a planted defect, of any kind: who caught it, after how many steps, and how that looks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from rebalance_check.impl.mutants import (
    AssignmentSearch,
    FuzzSearch,
    ModelSearch,
    Mutant,
    ScenarioSearch,
    planted,
)
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.impl.simulator import churn_schedule
from rebalance_check.integration.comparison.assignors.assignors import OurAssignors
from rebalance_check.integration.comparison.assignors.courses import run_course
from rebalance_check.integration.comparison.connect_assignors.ours import OurConnectAssignors
from rebalance_check.integration.comparison.connect_assignors.search import histories_for
from rebalance_check.model.checker.safety import Path, explore
from rebalance_check.model.registry import model_for
from rebalance_check.pipeline.scenario_runs import break_scenario, shrink_scenario
from rebalance_check.pipeline.seed_run import breaks
from rebalance_check.pipeline.shrink import shrink
from rebalance_check.properties.assignment import problems
from rebalance_check.properties.assignment import shrink as shrink_problem
from rebalance_check.properties.assignment.claims import broken_claims
from rebalance_check.properties.assignment.connect_histories import random_history
from rebalance_check.properties.assignment.connect_rounds import CONNECT_ASSIGNORS
from rebalance_check.properties.assignment.courses import broken_course_claims
from rebalance_check.properties.assignment.problem import Problem
from rebalance_check.properties.catalogue import select
from rebalance_check.report.excerpts import history_lanes

COURSE: Final = "course"


@dataclass(frozen=True, slots=True)
class Caught:
    """A defect that was caught by the claim it names.

    ``steps`` is the size of the shrunk counterexample: the rows that the table of a run or of a scenario shows, the
    actions of a path, the members, topics and claims of an assignment problem, the steps of a history of a Connect
    group. ``seconds`` is the time to find it, shrinking apart; ``unfinished`` says how far shrinking got where its
    time ended first.
    """

    mutant: str
    steps: int
    seconds: float
    lines: tuple[str, ...]
    unfinished: str = ""


def catch(mutant: Mutant) -> Caught | None:
    """Run the search of a mutant and shrink the finding; None when the claim it names does not break."""
    match mutant.find:
        case FuzzSearch():
            return _fuzzed(mutant, mutant.find)
        case ModelSearch():
            return _explored(mutant, mutant.find)
        case AssignmentSearch():
            with planted(mutant):
                if mutant.find.assignor in CONNECT_ASSIGNORS:
                    return _searched_histories(mutant, mutant.find)
                return _searched_problems(mutant, mutant.find)
        case ScenarioSearch():
            with planted(mutant):
                return _run_scenarios(mutant, mutant.find)


def _claim(mutant: Mutant) -> str:
    """The name of the claim, without the family that it belongs to."""
    return mutant.caught_by.partition(".")[2]


def _fuzzed(mutant: Mutant, find: FuzzSearch) -> Caught | None:
    options = replace(find.options, mutant=mutant.name)
    (invariant,) = select([mutant.caught_by])
    started = time.monotonic()
    seed = next((seed for seed in range(find.first, find.last) if breaks(seed, options, invariant)), None)
    if seed is None:
        return None
    seconds = time.monotonic() - started
    small = shrink(seed, options, invariant)
    lines = [
        f"seed {seed}",
        *_actions(seed, small.options),
        small.counterexample.headline,
        small.replay,
    ]
    rows = history_lanes(small.history, small.counterexample).rows
    return Caught(mutant.name, len(rows), seconds, tuple(lines), small.unfinished)


def _actions(seed: int, options: SimulationOptions) -> list[str]:
    """The actions of a run: the churn that is left."""
    return [str(action) for action in churn_schedule(seed, options).actions]


def _explored(mutant: Mutant, find: ModelSearch) -> Caught | None:
    started = time.monotonic()
    path = path_to(mutant, find)
    if path is None:
        return None
    seconds = time.monotonic() - started
    lines = [str(action) for action in path.actions]
    return Caught(mutant.name, len(lines), seconds, (*lines, path.address()))


def path_to(mutant: Mutant, find: ModelSearch) -> Path | None:
    """The counterexample to the claim that the mutant names; to a liveness property it is a lasso."""
    model = model_for(find.bounds, mutant.name)
    if find.liveness:
        from rebalance_check.model.checker.liveness import check_liveness  # noqa: PLC0415 - needs an extra

        return check_liveness(model, find.bounds).counterexamples.get(mutant.caught_by)
    found = explore(model, find.bounds)
    return found.counterexample if found.violated == mutant.caught_by else None


def _shape_of_problems(find: AssignmentSearch) -> str:
    """The problems that a course begins with are tame."""
    return "tame" if find.shape == COURSE else find.shape


def _searched_problems(mutant: Mutant, find: AssignmentSearch) -> Caught | None:
    finding = _finding_in(mutant, find)
    started = time.monotonic()
    shape = _shape_of_problems(find)
    for seed in range(find.first, find.last):
        problem = problems.random_problem(shape, seed)
        if finding(problem):
            seconds = time.monotonic() - started
            small = shrink_problem.shrink(problem, lambda one: problems.fits(shape, one) and bool(finding(one)))
            return Caught(mutant.name, _size(small), seconds, (f"seed {seed}", *_shown(small), finding(small)))
    return None


def _finding_in(mutant: Mutant, find: AssignmentSearch) -> Callable[[Problem], str]:
    """The sentence on how a problem breaks the claim of the mutant; empty where it does not."""
    ours = OurAssignors()

    def finding(problem: Problem) -> str:
        if find.shape == COURSE:
            broken = broken_course_claims(run_course(find.assignor, problem))
        else:
            broken = list(broken_claims(find.assignor, problem, ours.answer(find.assignor, problem)))
        return next((one.finding for one in broken if one.claim == _claim(mutant)), "")

    return finding


def _searched_histories(mutant: Mutant, find: AssignmentSearch) -> Caught | None:
    """The first history that breaks the claim, shrunk: its steps, and the breach."""
    asked, claim, started = histories_for(OurConnectAssignors()), _claim(mutant), time.monotonic()
    for seed in range(find.first, find.last):
        history = random_history(find.shape, seed)
        if asked.breaks(find.assignor, history, claim):
            seconds = time.monotonic() - started
            small = asked.shrink(find.shape, history, lambda one: asked.breaks(find.assignor, one, claim) is not None)
            broken = asked.breaks(find.assignor, small, claim)
            assert broken is not None, "an assignor that answers one history in two ways"
            return Caught(mutant.name, len(small.steps), seconds, (f"seed {seed}", *small.lines, broken.finding))
    return None


def _size(problem: Problem) -> int:
    return len(problem.topics) + sum(1 + len(member.owned) for member in problem.members.values())


def _shown(problem: Problem) -> list[str]:
    racks = problem.racks or {}
    topics = ", ".join(
        f"{topic} with {count} partitions" + (f" in racks {racks[topic]}" if topic in racks else "")
        for topic, count in problem.topics.items()
    )
    members = [
        f"{name} wants {', '.join(one.topics) or 'nothing'}, claims "
        f"{', '.join(f'{topic}-{number}' for topic, number in one.owned) or 'nothing'}"
        + (f" in generation {one.generation}" if one.generation is not None else "")
        + (f", is in rack {one.rack}" if one.rack is not None else "")
        for name, one in problem.members.items()
    ]
    return [topics, *members]


def _run_scenarios(mutant: Mutant, find: ScenarioSearch) -> Caught | None:
    (invariant,) = select([mutant.caught_by])
    started = time.monotonic()
    for seed in range(find.first, find.last):
        broken = break_scenario(wide_scenario(seed), [invariant])
        if broken is not None:
            seconds = time.monotonic() - started
            small = shrink_scenario(broken, invariant)
            lines = (f"seed {seed}", *small.lines, small.counterexample.headline)
            rows = history_lanes(small.history, small.counterexample).rows
            return Caught(mutant.name, len(rows), seconds, lines, small.unfinished)
    return None


def document(mutant: Mutant, caught: Caught | None) -> dict[str, Any]:
    """A result as data."""
    if caught is None:
        return {"name": mutant.name, "caught": False}
    return {
        "name": mutant.name, "caught": True, "steps": caught.steps, "seconds": round(caught.seconds, 3),
        "counterexample": list(caught.lines),
    }  # fmt: skip
