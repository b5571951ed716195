"""The result of an exploration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rebalance_check.model.checker.safety.limits import Ended
from rebalance_check.model.checker.safety.path import Path
from rebalance_check.model.vocabulary.bounds import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """The outcome of exploring a bound.

    "Held" means held in every state (or step) within the bounds, up to renaming of members under symmetry.

    The compiled backend distinguishes states by 64 bits of hash, so that a state may be missed
    (``collision_probability``); the interpreted one compares them whole.
    """

    bounds: Bounds
    """The bounds that were explored."""
    symmetry: bool
    """Whether states that differ only in how members are named counted as one."""
    threads: int
    """Threads that searched; 1 when interpreted."""
    compiled: bool
    """Whether the compiled backend searched."""
    mutant: str
    """The name of the model's defect, empty for none."""
    distinct: int
    """Distinct states found within the bounds, the initial one included."""
    generated: int
    """Transitions between them, to states found before too; the initial state counts as one."""
    cut: int
    """Successors beyond the bounds (`Model.within_bounds`), which were not judged."""
    depth: int
    """Levels of the search: 1 more than the steps to the state farthest from the initial one, when complete."""
    frontier: int
    """States that were found and not expanded; 0 when complete."""
    seconds: float
    """Wall-clock time of the search alone."""
    compile_seconds: float
    """Wall-clock time of compiling, or of loading from the cache; 0 when interpreted."""
    peak_bytes: int
    """Peak resident memory of the process so far, in bytes; 0 where the platform does not say."""
    disk_bytes: int
    """The most bytes that the search had in files; 0 when it stayed in memory."""
    ended: Ended | None
    """Why the search ended early; None where it is complete, and where a violation ended it."""
    complete: bool
    """False when a violation or a limit ended the search."""
    collision_probability: float
    """How probable it is that a state was missed because its fingerprint is that of another one; 0 when interpreted."""
    verdicts: Mapping[str, str]
    """For each invariant and step invariant: ``held``, ``violated``, or ``undecided`` when the search ended early."""
    reachable_states: Mapping[str, bool]
    """For each reachable state and reachable step, whether it was met: one that is not shows a model too narrow."""
    actions: Mapping[str, int]
    """How often each kind of action fired within the bounds; 0 shows a guard that is never true."""
    counterexample: Path | None
    """A shortest path to the violation; None when there is none."""

    @property
    def violated(self) -> str:
        """The name of the violated claim, empty when there is none."""
        return next((name for name, verdict in self.verdicts.items() if verdict == "violated"), "")

    @property
    def levels(self) -> int:
        """How many levels are complete: every run of fewer steps than that was explored."""
        return self.depth - 1 if self.depth and not self.complete else self.depth

    @property
    def states_per_second(self) -> float:
        """Distinct states per second of searching, compilation not counted."""
        return self.distinct / self.seconds if self.seconds else 0.0
