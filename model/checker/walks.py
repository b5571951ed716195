"""Walks through the state graph of a model: walks that a policy chooses, and tours that take every transition.

An exploration checks the model; a walk uses the model to test something else. Its actions are a schedule, which is
performed on another subject (the simulator, a broker) and the outcome compared. `walk` follows a policy, such as a
random one; `tour` covers a small graph completely, which is transition coverage in the terms of model-based testing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any, Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.vocabulary.actions import DISTURBANCES, Action, ActionKind
from rebalance_check.model.vocabulary.schedule import Schedule

DISTURBANCE_WEIGHT: Final = 0.2
"""How much rarer a disturbance is chosen: the budgets are small, and a walk without it
would spend all faults on young groups."""

Edge = tuple[Action, bytes]
"""The action, and the packed state to which it leads."""


def walk(machine: Machine, choose: Callable[[Any], Action | None], length: int) -> list[Action]:
    """At most ``length`` actions from the initial state, each chosen in the state where it happens; None ends the walk.

    ``choose`` must return an enabled action, and must not keep the state, which changes.
    """
    state, actions = machine.initial(), list[Action]()
    while len(actions) < length and (action := choose(state)) is not None:
        machine.step(state, action)
        actions.append(action)
    return actions


class Curious:
    """A policy: chooses the action chosen least, and a disturbance now and then.

    ``taken`` counts its choices, over all walks that it was used for.
    """

    def __init__(self) -> None:
        self.taken: Counter[ActionKind] = Counter()

    def choose(self, actions: Sequence[Action], random: Random) -> Action:
        """One of the actions."""
        weights = [
            (DISTURBANCE_WEIGHT if each.kind in DISTURBANCES else 1) / (1 + self.taken[each.kind]) for each in actions
        ]
        (action,) = random.choices(actions, weights)
        self.taken[action.kind] += 1
        return action


class Graph:
    """The state graph of a model, by packed states, expanded on demand.

    No symmetry: a schedule names members, so states that differ in their names count as different. A state that was
    expanded stays in memory with its transitions.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        leaves_out: Callable[[Any, Action], bool] | None = None,
        shuffle: Random | None = None,
    ) -> None:
        """``leaves_out`` says which transitions do not belong to the graph; ``shuffle`` draws the order of the edges
        of each state, which is that of `Machine.enabled` without it."""
        self._machine = machine
        self._leaves_out = leaves_out
        self._shuffle = shuffle
        self._edges: dict[bytes, list[Edge]] = {}
        self.bounds = machine.bounds
        self.initial = machine.pack(machine.initial())

    def edges(self, node: bytes) -> list[Edge]:
        """The transitions from a state."""
        if node not in self._edges:
            self._edges[node] = self._expand(self._machine.unpack(node))
        return self._edges[node]

    def _expand(self, state: Any) -> list[Edge]:
        edges = [
            (action, self._machine.pack(after))
            for action, after in self._machine.successors(state)
            if self._leaves_out is None or not self._leaves_out(state, action)
        ]
        if self._shuffle is not None:
            self._shuffle.shuffle(edges)
        return edges


class ShortestWays:
    """A breadth-first search from one state: iterate over the states met, nearest first; each has a shortest way."""

    def __init__(self, edges: Callable[[bytes], Iterable[Edge]], start: bytes) -> None:
        self._edges = edges
        self.came: dict[bytes, tuple[bytes, Action] | None] = {start: None}
        """The last transition on the way to each state met; None for the start."""

    def __iter__(self) -> Iterator[bytes]:
        """The states, in the order of their distance; the search goes on as far as they are asked for."""
        queue = deque(self.came)
        while queue:
            node = queue.popleft()
            yield node
            for action, after in self._edges(node):
                if after not in self.came:
                    self.came[after] = (node, action)
                    queue.append(after)

    def way_to(self, node: bytes) -> list[Action]:
        """The actions that lead from the start to a state met."""
        actions = []
        while (step := self.came[node]) is not None:
            node, action = step
            actions.append(action)
        return actions[::-1]

    def nearest(self, is_wanted: Callable[[bytes], object], most: int | None = None) -> bytes | None:
        """The nearest state that is wanted; None if the search ends or meets ``most`` states first."""
        for node in self:
            if most is not None and len(self.came) >= most:
                return None
            if is_wanted(node):
                return node
        return None


def tour(graph: Graph, *, steps: int) -> Iterator[Schedule]:
    """Schedules of at most ``steps`` actions that together take every transition, each goal by a shortest way; a
    transition deeper than ``steps`` makes its schedule longer.

    The graph is expanded as far as schedules are asked for. The seeds of the schedules number them.
    """
    untaken: dict[bytes, deque[Edge]] = {}
    number = 0
    while actions := tuple(_next_of_tour(graph, untaken, steps)):
        yield Schedule(graph.bounds, actions, seed=number)
        number += 1


def _next_of_tour(graph: Graph, untaken: dict[bytes, deque[Edge]], steps: int) -> Iterator[Action]:
    """From the initial state to the nearest transition not taken yet, through it, and on, while the steps last."""

    def left(node: bytes) -> deque[Edge]:
        if node not in untaken:
            untaken[node] = deque(graph.edges(node))
        return untaken[node]

    state, done = graph.initial, 0
    while True:
        ways = ShortestWays(graph.edges, state)
        at = ways.nearest(left)
        if at is None:
            return
        way = ways.way_to(at)
        if done and done + len(way) >= steps:
            return
        yield from way
        action, state = left(at).popleft()
        yield action
        done += len(way) + 1
