"""Lassos: the shortest way that was found into a fair component, and a fair round trip in it.

A fair component proves that a violating run exists; a reader wants to see one, and a short one. The way into the
component is a shortest one. For the round trip, shortest would be a travelling-salesman problem: from a state, every
fair action that is enabled there must be taken or be seen disabled before the trip returns. So `Lassos.round_trip` is
greedy, it always goes to the nearest step that pays something, and tries the states nearest to the start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import numpy as np

from rebalance_check.model.checker.liveness.components import Fairness
from rebalance_check.model.checker.liveness.graph import StateGraph

CANDIDATES: Final = 24
"""From how many of the nearest states a round trip is tried."""

THE_LACK: Final = -1
"""Stands among the debts of a round trip for a state that lacks what the claim wants."""


class Lasso(NamedTuple):
    """Begin at a seed of the graph, take the steps of ``way``, and then those of ``round`` for ever.

    Without a round nothing more has to happen where the way ends.
    """

    seed: int
    """A number of a state, below ``len(graph.seeds)``: the run was there when its last fault had happened."""
    way: list[int]
    """Numbers of steps, from the seed to where the round begins; empty where it begins at the seed."""
    round: list[int]
    """Numbers of steps that lead back to where they begin; empty for a run that stops."""


class Lassos:
    """Finds them in one graph; ``depths`` says how far from the initial state each seed lies."""

    def __init__(self, graph: StateGraph, fairness: Fairness, depths: Any) -> None:
        self.graph, self.fairness, self.depths = graph, fairness, depths

    def shortest(self, component: Any, lacks: Any) -> Lasso:
        """A short lasso into one of the fair components, past a state of it that lacks what is wanted."""
        depth, _ = self.ways
        where = np.flatnonzero(component >= 0)
        holders = np.isin(component[where], component[np.flatnonzero(lacks & (component >= 0))])
        starts = where[holders]
        nearest = starts[np.argsort(depth[starts], kind="stable")][:CANDIDATES]
        trips = [(node, self.round_trip(int(node), component, lacks)) for node in nearest]
        node, trip = min(trips, key=lambda each: int(depth[each[0]]) + len(each[1]))
        return Lasso(*self.way_to(int(node)), trip)

    def length(self, lasso: Lasso) -> int:
        """Steps from the initial state until it has gone round once."""
        return int(self.depths[self.graph.seeds[lasso.seed]]) + len(lasso.way) + len(lasso.round)

    # -------------------------------------------------------------------------------------------- the way there

    @cached_property
    def ways(self) -> tuple[Any, Any]:
        """Of each state how many steps from the initial one it lies, and the last of them (-1: it is a seed)."""
        graph = self.graph
        # breadth first with many starts: a seed enters at the level that is its distance in the exploration
        depth, last = np.full(graph.states, -1), np.full(graph.states, -1)
        level, seed_depth = 0, self.depths[graph.seeds]
        while (depth < 0).any():
            begun = np.flatnonzero((seed_depth == level) & (depth[: len(seed_depth)] < 0))
            depth[begun] = level
            onward = np.flatnonzero((depth[graph.source] == level) & (depth[graph.target] < 0))
            onward = onward[~np.isin(graph.target[onward], np.flatnonzero(seed_depth <= level + 1))]
            reached, which = np.unique(graph.target[onward], return_index=True)
            depth[reached] = level + 1
            last[reached] = onward[which]
            level += 1
        return depth, last

    def way_to(self, node: int) -> tuple[int, list[int]]:
        """The seed from which a state is reached soonest, and the steps from there."""
        _, last = self.ways
        way = list[int]()
        while last[node] >= 0:
            way.append(int(last[node]))
            node = int(self.graph.source[way[-1]])
        return node, way[::-1]

    # -------------------------------------------------------------------------------------------- the round trip

    def round_trip(self, start: int, component: Any, lacks: Any) -> list[int]:
        """Steps within a component back to where they began, which pay everything that a fair run owes there."""
        owed = self.enabled(start) | (set() if lacks[start] else {THE_LACK})
        at, trip = start, list[int]()
        while owed:
            for step in self.nearest(at, component, partial(self.pays, owed, lacks)):
                owed = self.unpaid(step, owed, lacks)
                trip.append(step)
                at = int(self.graph.target[step])
        return trip + (self.nearest(at, component, lambda e: self.graph.target[e] == start) if at != start else [])

    def pays(self, owed: set[int], lacks: Any, step: int) -> bool:
        """Whether a step pays something."""
        return self.unpaid(step, owed, lacks) != owed

    def unpaid(self, step: int, owed: set[int], lacks: Any) -> set[int]:
        """The actions still owed after a step: an action is paid by taking it, or where it is disabled."""
        after = int(self.graph.target[step])
        still = owed & (self.enabled(after) | (set() if lacks[after] else {THE_LACK}))
        return still - {int(self.fairness.action[step])}

    def enabled(self, node: int) -> set[int]:
        """The fair actions that are enabled in a state, whether or not their steps stay in the component."""
        steps = range(int(self.graph.first[node]), int(self.graph.first[node + 1]))
        actions = {int(self.fairness.action[step]) for step in steps}
        return {action for action in actions if self.fairness.is_fair[action]}

    def nearest(self, start: int, component: Any, wanted: Callable[[int], bool]) -> list[int]:
        """The shortest path within a component whose last step is a wanted one."""
        graph, came, queue = self.graph, {start: -1}, deque([start])
        while queue:
            node = queue.popleft()
            for step in range(int(graph.first[node]), int(graph.first[node + 1])):
                after = int(graph.target[step])
                if component[after] != component[start]:
                    continue
                if wanted(step):
                    return [*self.back(came, node), step]
                if after not in came:
                    came[after] = step
                    queue.append(after)
        raise AssertionError("a fair component has no path to what a fair run owes in it")

    def back(self, came: dict[int, int], node: int) -> list[int]:
        """The steps that a search took to a state."""
        way = list[int]()
        while came[node] >= 0:
            way.append(came[node])
            node = int(self.graph.source[way[-1]])
        return way[::-1]
