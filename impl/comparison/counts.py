"""The figures of a comparison: how much was compared, which known differences were met, and the other differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rebalance_check.impl.comparison.difference import Difference


@dataclass(slots=True)
class Compared:
    """The figures of a comparison between two ``sides``, and its unexplained ``differences``.

    ``counts`` has them by name (steps, requests, ...), ``reached`` counts the kinds of observations, such as
    answers with their errors, and ``known`` the known differences that were met, by name, each with its first one in
    ``examples``. ``about`` names the part of a larger comparison. ``seconds`` is 0 where no clock is given.
    """

    sides: tuple[str, str]
    about: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    reached: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Difference] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    seconds: float = 0.0

    def note(self, difference: Difference, known: str = "") -> None:
        """Something differs; ``known`` is the name of its explanation, empty where there is none."""
        if known:
            self.known[known] += 1
            self.examples.setdefault(known, difference)
        else:
            self.differences.append(difference)

    def add(self, other: Compared) -> None:
        """Add the figures of another run of the same comparison."""
        self.counts.update(other.counts)
        self.reached += other.reached
        self.known += other.known
        self.examples = other.examples | self.examples
        self.differences += other.differences
        self.seconds += other.seconds

    @property
    def name(self) -> str:
        """Both sides."""
        return f"{self.sides[0]} and {self.sides[1]}"

    @property
    def figures(self) -> str:
        """``40 scenarios, 1,234 steps``."""
        return ", ".join(f"{count:,} {name}" for name, count in self.counts.items() if count)

    def __str__(self) -> str:
        """One line of figures, which a repetition has again."""
        met = f"{self.known.total():,} known differences, " if self.known else ""
        return f"{self.name}: {self.figures}; {met}{len(self.differences)} unexplained"
