"""``check_liveness``: the entry point of the liveness check, and its result.

The work is done by `judge.Judge`, which builds the fault-free graph of the bounds and looks for lassos on it. The
package says the meaning of a verdict.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.liveness.judge import Judge, ended_early
from rebalance_check.model.checker.safety.limits import NO_LIMITS, Limits, SearchListener
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.vocabulary.bounds import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class LivenessCheck:
    """The outcome: a verdict for each liveness property, and a lasso for each that is violated.

    The faults of a run end in one of the ``reached`` states; its continuation from there is a path in the fault-free
    graph, which ends up in one of the ``components``.
    """

    bounds: Bounds
    """The bounds of the part with faults; the part without them has no bound on generations."""
    mutant: str
    """The name of the model's defect, empty for none."""
    compiled: bool
    """Whether the compiled backend explored and built the graph; lassos are confirmed by the interpreter always."""
    reached: int
    """Distinct states explored, up to renaming of members."""
    states: int
    """States of the fault-free graph: folded, and members distinguished."""
    steps: int
    """Its edges."""
    components: int
    """Fair components of it: in each of them a fair run can stay for ever."""
    seconds: float
    """Wall-clock time of the whole check, compilation included."""
    undecided: str
    """Why nothing could be concluded; empty where the check was complete."""
    verdicts: Mapping[str, str]
    """For each liveness property, by name: ``held``, ``violated`` or ``undecided``."""
    counterexamples: Mapping[str, Path]
    """For each violated property a lasso: a path with a ``loop``."""

    @classmethod
    def without_graph(cls, model: Model, bounds: Bounds, *, compiled: bool, reached: int) -> Self:
        """The result of an exploration that ended early, with ``reached`` states: nothing is decided."""
        return cls(
            bounds=bounds, mutant=model.mutant, compiled=compiled, reached=reached, states=0, steps=0, components=0,
            seconds=0.0, undecided=ended_early(reached),
            verdicts={one.name: "undecided" for one in model.liveness}, counterexamples={},
        )  # fmt: skip

    @property
    def violated(self) -> str:
        """The name of the first violated claim, empty when there is none."""
        return next((name for name, verdict in self.verdicts.items() if verdict == "violated"), "")


def check_liveness(
    model: Model,
    bounds: Bounds,
    *,
    compiled: bool = True,
    limits: Limits = NO_LIMITS,
    progress: SearchListener | None = None,
) -> LivenessCheck:
    """Judge the liveness properties of a model within ``bounds`` (see the package for the meaning of a proof).

    ``compiled=False`` interprets (small bounds only). ``limits`` end the exploration, and the growth of the graph,
    early; nothing is decided then, and neither where memory runs out, where an invariant is broken, or for a model
    without liveness properties. ``progress`` receives the news of the compiled exploration.

    Raises `RebalanceCheckError` when llvmlite is not installed.
    """
    started = time.perf_counter()
    findings = Judge(Machine(model, bounds), compiled=compiled, limits=limits, progress=progress).run()
    unseen = "undecided" if findings.undecided else "held"
    return LivenessCheck(
        bounds=bounds,
        mutant=model.mutant,
        compiled=compiled,
        reached=findings.reached,
        states=findings.states,
        steps=findings.steps,
        components=findings.components,
        seconds=time.perf_counter() - started,
        undecided=findings.undecided,
        verdicts={one.name: "violated" if one.name in findings.lassos else unseen for one in model.liveness},
        counterexamples=findings.lassos,
    )
