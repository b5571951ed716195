"""``check_liveness``: builds the fault-free graph of a bound, judges every liveness property on it, and makes lassos of what is broken."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.liveness.judge import Judge
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.vocabulary.bounds import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class LivenessCheck:
    """The outcome: a verdict for each liveness property, and a lasso for each that is violated.

    ``reached`` states were explored, up to renaming of members; the fault-free graph that begins there has ``states`` and
    ``steps``, and a fair run can stay for ever in ``components`` places of it. ``undecided`` says why nothing could be
    concluded, where that is so.
    """

    bounds: Bounds
    mutant: str
    compiled: bool
    reached: int
    states: int
    steps: int
    components: int
    seconds: float
    undecided: str
    verdicts: Mapping[str, str]
    counterexamples: Mapping[str, Path]

    @property
    def violated(self) -> str:
        """The name of the first violated claim, empty when there is none."""
        return next((name for name, verdict in self.verdicts.items() if verdict == "violated"), "")


def check_liveness(
    model: Model, bounds: Bounds, *, compiled: bool = True, max_states: int | None = None
) -> LivenessCheck:
    """Judge the liveness properties of a model within ``bounds`` (see the package for what is proven).

    ``compiled=False`` interprets (small bounds only). ``max_states`` ends the exploration, and the growth of the graph,
    early; nothing is decided then, and neither where an invariant is broken, or for a model without liveness
    properties.

    Raises `RebalanceCheckError` when Numba is not installed.
    """
    started = time.perf_counter()
    findings = Judge(Machine(model, bounds), compiled=compiled, most_states=max_states).run()
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
