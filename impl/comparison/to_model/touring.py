"""Every transition of a bounded model, executed by walks on a coordinator that cannot be copied, and compared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final

from rebalance_check.impl.comparison.compare import compared, together
from rebalance_check.impl.comparison.counts import Compared
from rebalance_check.impl.comparison.difference import Difference, shrunk
from rebalance_check.impl.comparison.known import KnownDifference, known
from rebalance_check.impl.comparison.to_model.outcome import MODEL, Disagreement, Step
from rebalance_check.impl.comparison.to_model.predictions import Predictions
from rebalance_check.impl.comparison.to_model.run import ConformanceRun
from rebalance_check.impl.comparison.to_model.tour import Tour
from rebalance_check.impl.comparison.to_model.transport import Transport
from rebalance_check.impl.comparison.to_model.walk import Itinerary, Walk
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.model.vocabulary.schedule import Schedule

SEEDS: Final = 16
"""How many seeds the walks share: enough for every leader to be chosen; messages that are equal are translated once."""


def _nothing() -> None:
    """Nothing waits for being sent."""


@dataclass(frozen=True, slots=True)
class Coordinator:
    """A coordinator under test: its name, and how a way to it is opened for a seed, which may decide its member ids.

    Where it is in another process, ``flush`` sends the steps begun, and ``at_once`` runs share the way there.
    ``entries`` are its ``subject``'s known differences.
    """

    name: str
    open: Callable[[int], Transport]
    flush: Callable[[], None] = _nothing
    at_once: int = 2
    entries: tuple[KnownDifference, ...] = ()
    subject: Any = None

    def run(self, bounds: Bounds, seed: int = 0, predictions: Predictions | None = None) -> ConformanceRun:
        """A new run."""
        return ConformanceRun(self.open(seed), bounds, predictions, name=self.name, seed=seed)

    def explained(self, found: Difference) -> str:
        """The name of the known difference that this is; empty where the list has none."""
        entry = known(self.entries, self.subject, found)
        return "" if entry is None else entry.name

    def again(self, schedule: Schedule) -> Difference | None:
        """Do the actions of a schedule, without those that are not enabled."""
        return compared(Walk(self.run(schedule.bounds, schedule.seed), Itinerary(schedule.actions)))

    def smaller(self, found: Difference) -> Difference:
        """The same difference with as few actions as leaving out can reach."""
        start: Disagreement = found.start

        def again(actions: tuple[Any, ...]) -> Difference | None:
            return self.again(replace(start.schedule, actions=actions))

        return shrunk(found, again)


class _TourGuide:
    """Takes the transitions left in the graph, nearest first; ``way`` leads to where something is left."""

    def __init__(self, tour: Tour, way: list[Action]) -> None:
        self._tour, self._plan = tour, way
        self._at = tour.initial
        self._pack: Callable[[Any], bytes] | None = None

    def choose(self, run: ConformanceRun) -> Action | None:
        """The next step of the plan; a new plan where there is none, or the coordinator has chosen otherwise."""
        self._pack = run.predictions.pack
        if not self._plan or run.predictions.after(run.state, self._plan[0]) is None:
            self._plan = self._tour.onward(self._at)
        return self._plan.pop(0) if self._plan else None

    def arrive(self, step: Step) -> None:
        """Strike out the transition."""
        assert self._pack is not None
        if step.difference is not None:
            self._tour.close(self._at, step.action)
            return
        after = self._pack(step.after)
        self._tour.take(self._at, step.action, after)
        self._at = after


def tour_of_transitions(
    coordinator: Coordinator,
    bounds: Bounds,
    *,
    seed: int = 0,
    stop_after: int = 10,
    progress: ProgressListener = ignore_progress,
) -> Compared:
    """Execute every transition within ``bounds``, or until there are ``stop_after`` differences that nothing explains.

    Walks from the empty group cover the transitions. ``seed`` is the first of those that they take turns with, so that
    other members lead. The ``executed`` transitions are distinct ones; ``never taken`` are those that the coordinator
    did not choose under any seed that was tried, and those behind a difference. ``compared`` are the steps, in any of
    the ``walks``, in which the coordinator had a part.
    """
    result = Compared((MODEL, coordinator.name), bounds.address())
    tour, predictions = Tour(bounds), Predictions(bounds)
    seeds = itertools.cycle(range(seed, seed + SEEDS))

    def walks() -> Iterator[Walk]:
        while (way := tour.way()) is not None:
            result.counts["walks"] += 1
            yield Walk(coordinator.run(bounds, next(seeds), predictions), _TourGuide(tour, way))

    result.counts.update(states=tour.states, transitions=tour.transitions)
    with closing(together(walks(), coordinator.flush, coordinator.at_once)) as runs:
        for walk, found in runs:
            result.counts.update(steps=len(walk.steps), compared=walk.compared)
            result.reached += walk.answers
            if found is not None:
                result.note(found, coordinator.explained(found))
            progress("transitions", tour.taken, tour.transitions)
            if len(result.differences) >= stop_after:
                break
    result.counts.update({"executed": tour.taken, "never taken": len(tour.never_taken)})
    result.differences[:] = [coordinator.smaller(found) for found in result.differences]
    return result


def is_complete(result: Compared) -> bool:
    """Whether every transition was executed, or found not to be chosen."""
    counts = result.counts
    return counts["executed"] + counts["never taken"] == counts["transitions"]
