"""From a model at its bounds to a verdict on each liveness property: the order of the liveness check's steps.

A violation is reported only after the interpreted model has confirmed its lasso (`Judge.keep`), so an error in the
graph could hide a violation, but not invent one. Where the exploration or the graph is incomplete, nothing is
concluded: a state whose steps were left out looks like one where a run stops.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.liveness.compiled_properties import instances
from rebalance_check.model.checker.liveness.components import Fairness
from rebalance_check.model.checker.liveness.evidence import (
    Target,
    broken_liveness_properties,
    endless,
    followed,
    path_of,
)
from rebalance_check.model.checker.liveness.graph import StateGraph, fault_free_graph
from rebalance_check.model.checker.liveness.graph_source import Backend, Compiled, Interpreted
from rebalance_check.model.checker.liveness.lasso import Lasso, Lassos
from rebalance_check.model.checker.liveness.quotient import Quotient
from rebalance_check.model.checker.safety.explore import concrete
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.safety.workers import actions_of


@dataclass(slots=True)
class Findings:
    """The knowledge so far, in the fields of `check.LivenessCheck`; ``lassos`` are its counterexamples."""

    reached: int = 0
    states: int = 0
    steps: int = 0
    components: int = 0
    undecided: str = ""
    lassos: dict[str, Path] = field(default_factory=dict)


def ended_early(states: int) -> str:
    """Why nothing can be concluded from an exploration that ended after so many states."""
    return f"the exploration ended after {states} states, before it was complete"


class Judge:
    """Judges the liveness properties of one model at one bound.

    ``machine`` has the bounds of the part with faults. ``limits`` hold for the exploration and the graph, each for
    itself; without a limit of states the graph has that of `graph.MOST_STATES`.
    """

    def __init__(
        self, machine: Machine, *, compiled: bool, limits: Limits, progress: SearchListener | None = None
    ) -> None:
        self.machine = machine
        self.limits = limits
        unbounded = Machine(machine.model, endless(machine.bounds))
        self.quotient = Quotient(unbounded)
        self.backend: Backend
        if compiled:
            self.backend = Compiled(machine, unbounded, progress)
        else:
            self.backend = Interpreted(machine, unbounded, self.quotient.width)
        self.findings = Findings()

    def run(self) -> Findings:
        """Explore, build the graph, judge."""
        try:
            return self.explore_and_judge()
        except MemoryError:
            return self.give_up(Ended.NO_MEMORY)

    def explore_and_judge(self) -> Findings:
        """The steps of `run`, where there is memory for them.

        Raises `MemoryError` where there is not.
        """
        reached = self.backend.reach(self.limits)
        self.findings.reached = reached.outcome.distinct
        if reached.outcome.violated:
            return self.give_up(f"the invariant {reached.outcome.violated} is broken: look at that first")
        if not reached.outcome.complete:
            return self.give_up(ended_early(reached.outcome.distinct))
        graph = fault_free_graph(self.backend, self.quotient, reached.rows, self.limits)
        if graph is None:
            return self.give_up("the graph of what happens without faults is larger than the limits, or has no end")
        self.findings.states, self.findings.steps = graph.states, graph.steps
        self.judge(graph, reached.rows, reached.depths)
        return self.findings

    def give_up(self, why: str) -> Findings:
        """Nothing can be concluded; ``why`` becomes `LivenessCheck.undecided`."""
        self.findings.undecided = why
        return self.findings

    def judge(self, graph: StateGraph, rows: Any, depths: Any) -> None:
        """Hold every instance of a liveness property against the places where a fair run can stay for ever."""
        fairness = Fairness(graph, self.fair_rules())
        places = fairness.components(np.ones(graph.states, bool))
        self.findings.components = len(np.unique(places[places >= 0]))
        held = self.backend.survey(graph.rows)
        lassos, found = Lassos(graph, fairness, depths), defaultdict[str, list[Lasso]](list)
        # []<> is broken where a fair component lacks it in every state: search among the states that lack it.
        # <>[] is broken where a fair component lacks it in some state: the components of the whole graph will do.
        for number, instance in enumerate(instances(self.machine.model, self.machine.bounds)):
            lacks = ~held[:, number] & (places >= 0)
            where = places if instance.liveness_property.stabilises or not lacks.any() else fairness.components(lacks)
            if (lacks & (where >= 0)).any():
                found[instance.liveness_property.name].append(lassos.shortest(where, lacks))
        for name, candidates in found.items():
            self.keep(name, self.path(min(candidates, key=lassos.length), graph, rows))

    def fair_rules(self) -> Any:
        """Of each rule, by number, whether it is fair."""
        return np.array([rule.fair for rule in self.machine.model.rules], bool)

    def keep(self, name: str, path: Path) -> None:
        """Keep the lasso of a claim, once the interpreted model agrees."""
        if name not in {one.liveness_property.name for one in broken_liveness_properties(path)}:
            raise AssertionError(f"the run {path.address()} was found to break {name}, and does not")
        self.findings.lassos[name] = path

    def path(self, lasso: Lasso, graph: StateGraph, rows: Any) -> Path:
        """A lasso of the graph as a path of the model.

        The exploration's path to the seed comes first, made concrete; then the steps of the graph are followed on the
        real model, member by member renamed (`evidence.followed`). ``rows`` are the states of the exploration.
        """
        seed = int(graph.seeds[lasso.seed])
        size = len(self.machine.pack(self.machine.initial()))
        begin = concrete(self.machine, self.backend.path_to(seed), "")
        targets = [self.target(graph, step) for step in (*lasso.way, *lasso.round)]
        found = followed(self.backend.endless, begin, rows[seed].tobytes()[:size], targets)
        at = len(lasso.way)
        return path_of(self.machine, [*begin, *found[:at]], found[at:])

    def target(self, graph: StateGraph, step: int) -> Target:
        """A step of the graph, to be followed."""
        return Target(actions_of(self.machine, [int(graph.label[step])])[0], graph.rows[graph.target[step]].tobytes())
