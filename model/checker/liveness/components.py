"""Where a fair run can stay for ever: strongly connected components of the fault-free graph under weak fairness.

A run that goes on for ever stays, from some point on, in one strongly connected set of states. *Weak fairness*: an
action (a fair rule, of one member) that stays enabled is taken some time. So a run can stay in a component for ever if
each fair action is taken inside of it, or is disabled in one of its states: it then goes round through all its steps.
If a component is not fair, no part of it is: an action enabled everywhere and taken nowhere in the whole is so in the
part. A single state is a component, too, in which a run stays that stops: fair if no fair action is enabled.

Since no part of an unfair component is fair, one pass over the components is enough; under strong fairness the parts
would have to be searched again. The components are those of Tarjan's algorithm in the implementation of networkx, on
a graph that is trimmed before (`cyclic`). Arrays hold one element for each state or step, as in `graph.StateGraph`.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from rebalance_check.model.checker.compiler.glue import LABEL_MEMBER, LABEL_RULE
from rebalance_check.model.checker.liveness.graph import StateGraph


class Fairness:
    """The fair actions of a graph, and the states in which each is enabled.

    An *action* is a rule of one member: fairness is owed to each member, not to whichever member the rule serves.
    ``fair_rules`` says of each rule, by number, whether it is fair (an array of bool).
    """

    def __init__(self, graph: StateGraph, fair_rules: Any) -> None:
        self.graph = graph
        kinds, action = np.unique(graph.actions(), return_inverse=True)
        self.count = max(len(kinds), 1)
        self.action = action.reshape(-1)
        """The action of each step, numbered densely."""
        self.is_fair = fair_rules[kinds >> LABEL_RULE - LABEL_MEMBER]
        """Of each action, whether it is fair."""
        fair = self.is_fair[self.action]
        self.enabled = np.unique(graph.source[fair] * self.count + self.action[fair])
        """State and fair action as one number, where it is enabled."""

    def components(self, inside: Any) -> Any:
        """Of each state the fair component that it lies in (named by one of its states), -1 for none.

        Only states ``inside`` and the steps between them count; an action that leads out of them is enabled, though.
        """
        graph = self.graph
        kept = np.flatnonzero(inside[graph.source] & inside[graph.target])
        component = np.where(inside, np.arange(graph.states), -1)
        for members in strongly_connected(graph.source[kept], graph.target[kept], graph.states):
            component[members] = members.min()
        held = self.fair_ones(component, kept)
        return np.where(inside & held[component], component, -1)

    def fair_ones(self, component: Any, kept: Any) -> Any:
        """Of each component whether it is fair, when only the steps ``kept`` count.

        ``component`` names the component of each state (-1: none), ``kept`` holds the numbers of steps. The result is
        indexed by the name of a component, and False for numbers that name none.
        """
        graph, count = self.graph, self.count
        size = np.bincount(component[component >= 0], minlength=graph.states)
        node, action = self.enabled // count, self.enabled % count
        lies = component[node] >= 0
        # (component, action) as one number, and in how many of the component's states the action is enabled
        pairs, states = np.unique(component[node[lies]] * count + action[lies], return_counts=True)
        always = pairs[states == size[pairs // count]]
        # an action enabled everywhere in the component, and taken by no step inside of it, makes the component unfair
        stays = kept[component[graph.source[kept]] == component[graph.target[kept]]]
        taken = np.unique(component[graph.source[stays]] * count + self.action[stays])
        fair = size > 0
        fair[np.setdiff1d(always, taken, assume_unique=True) // count] = False
        return fair


def strongly_connected(source: Any, target: Any, states: int) -> list[Any]:
    """The components that contain a step, each as an array of states."""
    source, target = cyclic(source, target, states)
    graph = nx.DiGraph()
    graph.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    return [np.array(sorted(found), np.int64) for found in nx.strongly_connected_components(graph)]


def cyclic(source: Any, target: Any, states: int) -> tuple[Any, Any]:
    """The steps that remain when those into dead ends, and those that nothing leads to, are taken away again and again.

    States on no cycle go, so that the search for components looks at little.
    """
    while True:
        leaves = np.zeros(states, bool)
        enters = np.zeros(states, bool)
        leaves[source] = True
        enters[target] = True
        stays = leaves[target] & enters[source]
        if stays.all():
            return source, target
        source, target = source[stays], target[stays]
