"""Schedules drawn from the state graph of a model: random walks, and a tour that covers many transitions."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.schedule import Schedule

REACH: Final = 400
"""How many states a tour looks at for the nearest transition that it has not taken yet."""


def random_path(rng: Random, machine: Machine, length: int) -> list[Action]:
    """At most ``length`` actions, each drawn evenly from those enabled; shorter where nothing is."""
    state, path = machine.initial(), list[Action]()
    while len(path) < length and (possible := machine.enabled(state)):
        path.append(rng.choice(possible))
        machine.step(state, path[-1])
    return path


class Graph:
    """The state graph of a model, by packed states, expanded on demand."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._edges: dict[bytes, list[tuple[Action, bytes]]] = {}
        self.initial = self._machine.pack(self._machine.initial())

    def edges(self, node: bytes) -> list[tuple[Action, bytes]]:
        """The transitions from a state, in the order of `Machine.enabled`."""
        if node not in self._edges:
            state = self._machine.unpack(node)
            self._edges[node] = [
                (action, self._machine.pack(after)) for action, after in self._machine.successors(state)
            ]
        return self._edges[node]


class Tourist:
    """Walks a graph, always towards the nearest transition not taken yet; ``taken`` has those that were."""

    def __init__(self, graph: Graph, rng: Random) -> None:
        self.graph = graph
        self.rng = rng
        self.taken: set[tuple[bytes, Action]] = set()

    def walk(self, length: int) -> list[Action]:
        """One walk from the initial state; it ends early where nothing new is near."""
        at, actions = self.graph.initial, list[Action]()
        while len(actions) < length:
            way = self.way_to_news(at)
            if not way:
                break
            for action, node in way[: length - len(actions)]:
                self.taken.add((at, action))
                actions.append(action)
                at = node
        return actions

    def way_to_news(self, start: bytes) -> list[tuple[Action, bytes]]:
        """The shortest way to a transition not taken yet, that transition included; empty if none is within reach."""
        came: dict[bytes, tuple[bytes, Action] | None] = {start: None}
        queue = deque([start])
        while queue and len(came) < REACH:
            node = queue.popleft()
            edges = self.graph.edges(node)
            news = [edge for edge in edges if (node, edge[0]) not in self.taken]
            if news:
                return [*self.way_back(came, node), self.rng.choice(news)]
            for action, after in self.rng.sample(edges, len(edges)):
                if after not in came:
                    came[after] = (node, action)
                    queue.append(after)
        return []

    @staticmethod
    def way_back(came: dict[bytes, tuple[bytes, Action] | None], node: bytes) -> list[tuple[Action, bytes]]:
        """The way that a search took to a state."""
        way = []
        while (step := came[node]) is not None:
            way.append((step[1], node))
            node = step[0]
        return way[::-1]


def tour(machine: Machine, count: int, length: int, seed: int) -> list[Schedule]:
    """At most ``count`` schedules of at most ``length`` actions that together cover many distinct transitions.

    Fewer come back when nothing new is left in reach. The same arguments give the same schedules. Schedules for a real
    broker need bounds with ``initial_delay=False``.
    """
    tourist = Tourist(Graph(machine), Random(seed))
    schedules = []
    for _ in range(count):
        actions = tourist.walk(length)
        if not actions:
            break
        schedules.append(Schedule(machine.bounds, tuple(actions), seed))
    return schedules
