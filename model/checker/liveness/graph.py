"""The fault-free state graph: every run of a model from where its last fault left it, in any number of generations.

Faults are finite by their budgets, so each infinite run has a last one. From then on its steps are fault-free, and they
are the edges here: the graph leaves faults out, and begins in every state that a fault may have led to. These are all
states of the exploration, since a run may also be without a fault. States are folded (`quotient`) and numbered in the
order of finding; arrays of NumPy hold one element for each state or step.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler.glue import LABEL_MEMBER
from rebalance_check.model.checker.liveness.graph_source import Backend
from rebalance_check.model.checker.liveness.quotient import Quotient, fingerprints
from rebalance_check.model.checker.safety.limits import NO_LIMITS, Limits

MOST_STATES: Final = 1 << 24
"""Beyond this size a graph is given up."""


@dataclass(frozen=True, slots=True)
class StateGraph:
    """Folded states and the fault-free steps between them, ordered by where they begin.

    ``rows`` has the packed states. Step ``e`` leads from ``source[e]`` to ``target[e]`` by ``label[e]``; the steps from
    state n stand from ``first[n]`` up to ``first[n + 1]``. The first ``len(seeds)`` states are those that were reached
    with faults; ``seeds`` says where each stands among the states that the exploration found (the nearest of
    those that fold to it).
    """

    rows: Any
    source: Any
    target: Any
    label: Any
    first: Any
    seeds: Any

    @property
    def states(self) -> int:
        """How many there are."""
        return len(self.rows)

    @property
    def steps(self) -> int:
        """How many there are."""
        return len(self.source)

    def actions(self) -> Any:
        """Of each step the rule and the member, as one number."""
        return self.label >> LABEL_MEMBER


class Index:
    """Numbers states in the order of finding, by fingerprint.

    A sorted array and binary search instead of a dict: a level of the graph is numbered by a few operations on arrays.
    """

    def __init__(self) -> None:
        self.keys: Any = np.zeros(0, np.uint64)
        self.numbers: Any = np.zeros(0, np.int64)

    def number(self, rows: Any) -> tuple[Any, Any]:
        """The number of each state, and the places of those that are new, in the order of their numbers."""
        keys, places, inverse = np.unique(fingerprints(rows), return_index=True, return_inverse=True)
        at = np.searchsorted(self.keys, keys)
        known = np.zeros(len(keys), bool)
        within = at < len(self.keys)
        known[within] = self.keys[at[within]] == keys[within]
        numbers = np.empty(len(keys), np.int64)
        numbers[known] = self.numbers[at[known]]
        numbers[~known] = len(self.keys) + np.argsort(np.argsort(places[~known]))
        self.add(keys[~known], numbers[~known])
        return numbers[inverse.reshape(-1)], np.sort(places[~known])

    def add(self, keys: Any, numbers: Any) -> None:
        """Take new fingerprints in."""
        keys, numbers = np.concatenate([self.keys, keys]), np.concatenate([self.numbers, numbers])
        order = np.argsort(keys, kind="stable")
        self.keys, self.numbers = keys[order], numbers[order]


def fault_free_graph(
    backend: Backend, quotient: Quotient, reached: Any, limits: Limits = NO_LIMITS
) -> StateGraph | None:
    """The fault-free steps from all states reached, and on from where they lead.

    A breadth-first search over whole levels at once: ``frontier`` holds the rows found in the last round. ``reached``
    are packed states as rows, one for each state of the exploration, and is left unchanged. ``limits`` bound the
    growth. Returns None where the graph is larger, or a step was cut: without some of its steps, a graph would show
    fair components that are not fair.
    """
    index, started = Index(), time.perf_counter()
    limits = limits if limits.states is not None else replace(limits, states=MOST_STATES)
    folded = quotient.fold(reached.copy())
    _, seeds = index.number(folded)
    frontier, base = folded[seeds], 0
    rows, edges = [frontier], []
    while len(frontier):
        found = backend.steps(frontier)
        fault_free = quotient.is_fault_free(frontier[found.parents], found.rows)
        after = quotient.fold(found.rows[fault_free])
        targets, new = index.number(after)
        edges.append((found.parents[fault_free] + base, targets, found.labels[fault_free]))
        base += len(frontier)
        frontier = after[new]
        rows.append(frontier)
        if backend.cut or limits.reached(len(index.keys), time.perf_counter() - started) or limits.is_memory_used():
            return None
    source, target, label = (np.concatenate(part) for part in zip(*edges, strict=True))
    states = np.concatenate(rows)
    first = np.searchsorted(source, np.arange(len(states) + 1))
    return StateGraph(states, source, target, label, first, seeds)
