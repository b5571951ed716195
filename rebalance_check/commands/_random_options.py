"""What ``rebalance-check mutants --random`` takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rebalance_check.impl.mutants.random_edits import EDITED_PACKAGES, RandomEdit, draw_edits
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

MEANS_GROUPS: Final = ("fuzz", "protocols", "faults", "scenarios", "assignors", "conformance")
"""What can be chosen: `fuzz` without options, and all else that looks without knowing what for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomOptions:
    """What was chosen on the command line: how many edits of which seed and packages, by which means,
    which one alone, and limits."""

    count: int
    seed: int
    packages: tuple[str, ...]
    groups: tuple[str, ...]
    only: int | None
    show: int | None
    workers: int | None
    minutes: float
    out: Path | None

    @property
    def command(self) -> str:
        """The command that draws the same edits."""
        packages = "".join(f" --package {name}" for name in self.packages)
        means = "".join(f" --means {name}" for name in self.groups)
        return f"rebalance-check mutants --random {self.count} --seed {self.seed}{packages}{means}"

    def edits(self) -> list[RandomEdit]:
        """The edits that are drawn.

        Raises: RebalanceCheckError where one alone is wanted that is not among them.
        """
        drawn = draw_edits(self.count, self.seed, self.packages or EDITED_PACKAGES)
        for option, number in (("--only", self.only), ("--show", self.show)):
            if number is not None and not 0 <= number < len(drawn):
                raise RebalanceCheckError(f"{option} {number}: the edits that are drawn go from 0 to {len(drawn) - 1}")
        return drawn
