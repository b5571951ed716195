"""Schedules out of the model's state graph: a tour of a small one, walks through a large one.

Each begins at the empty group, so that each can be replayed by itself, and many at once. The one thing left out is what
a socket cannot do at will, the expiry of a member id that was only handed out.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator
from random import Random
from typing import Any, Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.classic.state import has
from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.schedule import Schedule

DEFAULT_STEPS: Final = 60

DISTURBANCES: Final = frozenset(
    {
        ActionKind.CRASH,
        ActionKind.EXPIRE_SESSION,
        ActionKind.EXPIRE_REBALANCE,
        ActionKind.EXPIRE_SYNC,
        ActionKind.SEND_LEAVE_GROUP,
        ActionKind.DUPLICATE_REQUEST,
        ActionKind.DELETE_GROUP,
        ActionKind.LOSE_REQUEST,
        ActionKind.LOSE_REPLY,
        ActionKind.DROP_CONNECTION,
        ActionKind.CRASH_COORDINATOR,
        ActionKind.RESIGN_COORDINATOR,
    }
)
CALM: Final = 0.85
"""How often a walk leaves out what disturbs: budgets are small, and spent at once would all befall young groups."""

WHIM: Final = 0.5
"""How often a walk takes any transition instead of the kind that was rarest so far."""


def _expires_a_pending_id(state: Any, action: Action) -> bool:
    """A LeaveGroup in the name of an id that was only handed out (KIP-394) is not the same as its expiry: in Stable it
    makes Kafka's Java coordinator rebalance. So a broker on a socket cannot be brought to do this at once."""
    return action.kind is ActionKind.EXPIRE_SESSION and has(state.pending, action.member)


def tour(bounds: Bounds, *, steps: int = DEFAULT_STEPS) -> Iterator[Schedule]:
    """Schedules of at most ``steps`` actions that together take every transition within ``bounds``, each goal by a
    shortest way; a transition deeper than ``steps`` makes its schedule longer. The whole graph is kept in memory: for
    bounds of some ten thousand states.
    """
    graph = _graph(machine_for(bounds))
    initial = next(iter(graph))
    untaken = {state: deque(edges) for state, edges in graph.items() if edges}
    number = 0
    while untaken:
        yield Schedule(bounds, tuple(_tour_once(graph, untaken, initial, steps)), seed=number)
        number += 1


Edge = tuple[Action, bytes]
"""What is done, and the state it leads to."""


def _graph(machine: Machine) -> dict[bytes, list[Edge]]:
    """The transitions from each state, the initial one first, in the order of discovery."""
    start = machine.initial()
    graph: dict[bytes, list[Edge]] = {}
    frontier = deque([start])
    reached = {machine.pack(start)}
    while frontier:
        state = frontier.popleft()
        edges = graph[machine.pack(state)] = []
        for action, after in machine.successors(state):
            if _expires_a_pending_id(state, action):
                continue
            there = machine.pack(after)
            edges.append((action, there))
            if there not in reached:
                reached.add(there)
                frontier.append(machine.copy(after))
    return graph


def _tour_once(
    graph: dict[bytes, list[Edge]], untaken: dict[bytes, deque[Edge]], initial: bytes, steps: int
) -> Iterator[Action]:
    """From the empty group: to the nearest transition that nobody took, through it, and on, while the steps last."""
    state, done = initial, 0
    while (way := _way_to_untaken(graph, untaken, state)) is not None:
        if done and done + len(way) >= steps:
            return
        for action, _there in way:
            yield action
        at = way[-1][1] if way else state
        action, state = untaken[at].popleft()
        if not untaken[at]:
            del untaken[at]
        yield action
        done += len(way) + 1


def _way_to_untaken(
    graph: dict[bytes, list[Edge]], untaken: dict[bytes, deque[Edge]], start: bytes
) -> list[Edge] | None:
    """The shortest way from ``start`` to a state with an untaken transition; None when there is no way."""
    came_by: dict[bytes, tuple[bytes, Edge]] = {}
    frontier, reached = deque([start]), {start}
    while frontier:
        state = frontier.popleft()
        if state in untaken:
            way: list[Edge] = []
            while state != start:
                state, edge = came_by[state]
                way.append(edge)
            return way[::-1]
        for edge in graph[state]:
            if edge[1] not in reached:
                reached.add(edge[1])
                came_by[edge[1]] = (state, edge)
                frontier.append(edge[1])
    return None


def walks(bounds: Bounds, count: int, *, seed: int = 0, steps: int = DEFAULT_STEPS) -> Iterator[Schedule]:
    """``count`` schedules of at most ``steps`` actions each; a walk ends early where nothing more can happen."""
    walker = _Walker(machine_for(bounds), Random(f"walks/{seed}/{bounds.address()}"))
    for number in range(count):
        yield Schedule(bounds, tuple(walker.walk(steps)), seed=number)


class _Walker:
    """Walks, and remembers which transitions were taken and how often each kind of thing happened."""

    def __init__(self, machine: Machine, random: Random) -> None:
        self._machine = machine
        self._random = random
        self._taken: set[tuple[bytes, Action]] = set()
        self._seen: Counter[Hashable] = Counter()

    def walk(self, steps: int) -> Iterator[Action]:
        """One walk from the empty group."""
        state = self._machine.initial()
        for _ in range(steps):
            chosen = self._choose(state)
            if chosen is None:
                return
            action, state = chosen
            yield action

    def _choose(self, state: Any) -> tuple[Action, Any] | None:
        """Now and then any action, usually the one that makes happen what has happened least."""
        successors = [
            (action, self._machine.copy(after))
            for action, after in self._machine.successors(state)
            if not _expires_a_pending_id(state, action)
        ]
        if not successors:
            return None
        if self._random.random() < CALM:
            successors = [pair for pair in successors if pair[0].kind not in DISTURBANCES] or successors
        here = self._machine.pack(state)
        fresh = [pair for pair in successors if (here, pair[0]) not in self._taken] or successors
        if self._random.random() < WHIM:
            chosen = self._random.choice(fresh)
        else:
            rarest = min(self._seen[_happening(state, *pair)] for pair in fresh)
            chosen = self._random.choice([p for p in fresh if self._seen[_happening(state, *p)] == rarest])
        self._taken.add((here, chosen[0]))
        self._seen[_happening(state, *chosen)] += 1
        return chosen


def _happening(before: Any, action: Action, after: Any) -> Hashable:
    """What kind of thing a transition is: the step, the group's status around it, the reply that it brings about."""
    net = after.member[action.member].net
    duplicate = (before.duplicate.kind, before.duplicate.stale) if action.kind is ActionKind.DELIVER_DUPLICATE else ()
    return (action.kind, before.status, after.status, net.kind, net.error, bool(after.parked_duplicates), duplicate)
