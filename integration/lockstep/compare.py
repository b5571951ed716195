"""Two sides perform the same sequences; the first step of each at which they differ is a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_check.integration.lockstep.java_stores import Stores
from rebalance_check.integration.lockstep.sequence import Observation, StepSequence


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two sides part: the sequence up to that step, and what each of them showed."""

    sequence: StepSequence
    step: int
    ours: Observation
    theirs: Observation

    def __str__(self) -> str:
        """The step, and what differs, one thing on a line."""
        lines = [f"step {self.step}: {self.sequence.steps[self.step]}"]
        if self.ours.trace != self.theirs.trace:
            lines.append(f"  trace: {list(self.ours.trace)} and {list(self.theirs.trace)}")
        names = sorted(self.ours.state.keys() | self.theirs.state.keys())
        for name in names:
            ours, theirs = self.ours.state.get(name), self.theirs.state.get(name)
            if ours != theirs:
                lines.append(f"  {name}: {ours!r} and {theirs!r}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much was compared, and what differed."""

    sequences: int
    steps: int
    differences: tuple[Difference, ...]


def compare(ours: Stores, theirs: Stores, sequences: Sequence[StepSequence]) -> Comparison:
    """Let both sides perform the sequences."""
    differences = []
    answers = zip(sequences, ours.perform_all(sequences), theirs.perform_all(sequences), strict=True)
    for sequence, mine, other in answers:
        parted = next((i for i, (a, b) in enumerate(zip(mine, other, strict=True)) if a != b), None)
        if parted is not None:
            differences.append(Difference(sequence, parted, mine[parted], other[parted]))
    return Comparison(len(sequences), sum(len(sequence.steps) for sequence in sequences), tuple(differences))
