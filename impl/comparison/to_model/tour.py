"""A tour of a model's state graph that leaves no transition out, walked by many at once from the initial state.

A walk goes where the coordinator takes it: who leads next is decided by hash order, so a transition that was chosen may
turn out to be another one. It is then tried again by later walks, whose member ids differ.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from rebalance_check.model.checker.walks import Edge, Graph, ShortestWays
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.actions import Action
from rebalance_check.model.vocabulary.bounds import Bounds

SIGHT: Final = 60
"""How many states a walk looks at for a transition that is left, before it gives up and a new one begins."""

TRIES: Final = 50
"""How often a transition is chosen before it counts as one that the coordinator never takes."""


class Tour:
    """The part of a graph that is left, and the way to it."""

    def __init__(self, bounds: Bounds) -> None:
        self._graph = Graph(machine_for(bounds))
        self._tries: dict[tuple[bytes, Action], int] = {}
        self._closed: set[tuple[bytes, Action]] = set()
        self.never_taken: list[tuple[bytes, Action]] = []
        """Transitions that the coordinator never chose, and those that only closed ones lead to."""
        self._ways = self._explore()
        self._left = {node: [action for action, _ in self._graph.edges(node)] for node in self._ways.came}
        self.transitions = sum(map(len, self._left.values()))
        self._targets = deque(self._ways.came)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self._left)

    @property
    def taken(self) -> int:
        """How many distinct transitions were taken."""
        return self.transitions - sum(map(len, self._left.values())) - len(self.never_taken)

    @property
    def initial(self) -> bytes:
        """The state where walks begin."""
        return self._graph.initial

    def after(self, node: bytes, action: Action) -> bytes:
        """Where a transition leads."""
        return next(to for each, to in self._graph.edges(node) if each == action)

    def choices(self, node: bytes, action: Action) -> list[Action]:
        """The transitions that differ from one in their choice alone, itself among them."""
        return [each for each, _ in self._graph.edges(node) if each[:2] == action[:2]]

    def _explore(self) -> ShortestWays:
        """Find every state and the shortest way to it, but through transitions that are closed."""
        ways = ShortestWays(self._open_edges, self._graph.initial)
        for _ in ways:
            pass  # each state met is kept
        return ways

    def _open_edges(self, node: bytes) -> list[Edge]:
        return [edge for edge in self._graph.edges(node) if (node, edge[0]) not in self._closed]

    def way(self) -> list[Action] | None:
        """From the initial state to one where something is left, by the shortest way; None when nothing is."""
        while self._targets:
            node = self._targets.popleft()
            if self._left[node]:
                self._targets.append(node)  # to come back to, while other walks begin elsewhere
                return self._ways.way_to(node)
        return None

    def onward(self, node: bytes) -> list[Action]:
        """From a state to the nearest transition that is left, this one included; empty when none is in sight."""
        ways = ShortestWays(self._graph.edges, node)
        here = ways.nearest(self._left.__getitem__, SIGHT)
        if here is None:
            return []
        left = self._left[here]
        left.append(left.pop(0))  # another walk that comes here takes another one
        return [*ways.way_to(here), left[-1]]

    def take(self, node: bytes, action: Action, after: bytes) -> None:
        """A walk did ``action`` in a state and came to another: strike out every transition that this was."""
        left = self._left[node]
        if not left:
            return
        was = [a for a, to in self._graph.edges(node) if to == after and a[:2] == action[:2]]
        self._left[node] = [each for each in left if each not in was]
        if action not in was and action in left:
            self._miss(node, action)

    def close(self, node: bytes, action: Action) -> None:
        """Every walk that takes this transition ends here: it is done with, and all that lies beyond it alone is out of
        reach."""
        self._left[node] = [each for each in self._left[node] if each != action]
        self._closed.add((node, action))
        if self._ways.came.get(self.after(node, action)) == (node, action):
            self._ways = self._explore()
        for each, left in self._left.items():
            if left and each not in self._ways.came:
                self.never_taken += [(each, action) for action in left]
                self._left[each] = []

    def _miss(self, node: bytes, action: Action) -> None:
        tries = self._tries[node, action] = self._tries.get((node, action), 0) + 1
        if tries >= TRIES:
            self.never_taken.append((node, action))
            self.close(node, action)
