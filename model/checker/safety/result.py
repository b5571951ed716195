"""What an exploration found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.vocabulary.bounds import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """The outcome of exploring a bound.

    ``distinct`` states were found along ``generated`` transitions (the initial state counts as one), ``depth`` levels
    deep; ``cut`` successors were beyond the bounds. ``verdicts`` has for each invariant held, violated or, when the search
    stopped early, undecided; ``reachable_states`` whether each was met. ``actions`` counts how often each action fired.
    ``complete`` is False when a violation or a limit ended the search. ``peak_bytes`` is the peak resident memory of
    the process.

    The compiled backend distinguishes states by 64 bits of hash, so that of n distinct states one is missed with a
    probability of about n*n / 2**65 (one in 37 million for a million states); the interpreted one compares them whole.
    """

    bounds: Bounds
    symmetry: bool
    threads: int
    compiled: bool
    mutant: str
    distinct: int
    generated: int
    cut: int
    depth: int
    seconds: float
    compile_seconds: float
    peak_bytes: int
    complete: bool
    verdicts: Mapping[str, str]
    reachable_states: Mapping[str, bool]
    actions: Mapping[str, int]
    counterexample: Path | None

    @property
    def violated(self) -> str:
        """The name of the violated claim, empty when there is none."""
        return next((name for name, verdict in self.verdicts.items() if verdict == "violated"), "")

    @property
    def states_per_second(self) -> float:
        """Distinct states per second of searching, compilation not counted."""
        return self.distinct / self.seconds if self.seconds else 0.0
