"""Every transition of a bounded model, executed on a coordinator in this process and compared."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from rebalance_check.impl.conformance.action_kinds import COORDINATOR_STEPS
from rebalance_check.impl.conformance.outcome import Divergence
from rebalance_check.impl.conformance.run import ConformanceRun
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.model.vocabulary.schedule import Schedule


@dataclass(frozen=True, slots=True)
class DivergentSchedule:
    """A schedule whose last action is a transition on which the coordinator differs from the model."""

    schedule: Schedule
    divergence: Divergence


@dataclass(frozen=True, slots=True)
class ExhaustiveResult:
    """What a comparison of every transition within bounds saw.

    ``executed`` counts distinct transitions of the model that were executed, of ``transitions``. ``never_taken`` counts
    those that the coordinator did not choose under any seed that was tried, and those behind a divergence. ``steps``
    are all steps, in any of the ``walks`` from the empty group; in ``compared`` of them the coordinator had a part.
    ``answers`` are the APIs and errors that occurred; ``seconds`` is 0 where the caller measures.
    """

    bounds: Bounds
    coordinator: str
    states: int
    transitions: int
    executed: int
    never_taken: int
    walks: int
    steps: int
    compared: int
    requests: int
    seconds: float
    answers: frozenset[tuple[str, str]]
    divergences: tuple[DivergentSchedule, ...]

    @property
    def complete(self) -> bool:
        """Whether every transition was executed, or found not to be chosen."""
        return self.executed + self.never_taken == self.transitions

    def __str__(self) -> str:
        """One line of figures."""
        return (
            f"{self.bounds.address()} on {self.coordinator}: {self.executed:,} of {self.transitions:,} transitions of "
            f"{self.states:,} states executed, {self.never_taken:,} never taken, {len(self.divergences)} divergences; "
            f"{self.walks:,} walks, {self.steps:,} steps, {self.compared:,} compared, {self.requests:,} requests, "
            f"{self.seconds:.1f} s, {self.requests / max(self.seconds, 1e-3):,.0f} requests/s"
        )


def every_transition(
    start: ConformanceRun, bounds: Bounds, stop_after: int = 1, progress: ProgressListener = ignore_progress
) -> ExhaustiveResult:
    """Execute every transition within ``bounds`` from every state, breadth first, on a copy of the coordinator there.

    ``start`` is a new run whose transport can be copied; at most ``stop_after`` divergences are collected, so the
    first one has a shortest schedule.
    """
    pack = start.predictions.pack
    parents: dict[bytes, tuple[bytes, Action] | None] = {pack(start.state): None}
    frontier = deque([start])
    answers: set[tuple[str, str]] = set()
    divergences: list[DivergentSchedule] = []
    transitions = compared = 0
    while frontier and len(divergences) < stop_after:
        here = frontier.popleft()
        at = pack(here.state)
        progress("transitions", transitions, 0)
        for action in here.enabled():
            there = here.fork()
            step = there.perform(action)
            transitions += 1
            if step is None:
                continue
            compared += action.kind in COORDINATOR_STEPS
            answers.update((answer.api, answer.error) for answer in step.answers)
            if step.divergence is not None:
                divergent = Schedule(bounds, (*path(parents, at), action))
                divergences.append(DivergentSchedule(divergent, step.divergence))
            elif (reached := pack(there.state)) not in parents:
                parents[reached] = (at, action)
                frontier.append(there)
    return ExhaustiveResult(
        bounds=bounds,
        coordinator="embedded",
        states=len(parents),
        transitions=transitions,
        executed=transitions,
        never_taken=0,
        walks=0,
        steps=transitions,
        compared=compared,
        requests=compared,
        seconds=0.0,
        answers=frozenset(answers),
        divergences=tuple(divergences[:stop_after]),
    )


def path(parents: dict[bytes, tuple[bytes, Action] | None], state: bytes) -> tuple[Action, ...]:
    """The actions that first led to ``state``."""
    actions: list[Action] = []
    while (step := parents[state]) is not None:
        state, action = step
        actions.append(action)
    return tuple(reversed(actions))
