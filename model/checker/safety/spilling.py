"""A compiled search that begins in memory, and begins anew on disk where it is too large for that.

What is found in memory is not moved to the disk: a few seconds of work are done again instead. A search that has begun
on disk goes on there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.spill_folder import SpillFolder
from rebalance_check.model.checker.safety.spilled import SpilledSearch
from rebalance_check.model.checker.safety.workers import ParallelSearch

FIRST_IN_MEMORY: Final = 4_000_000
"""A search of no more states than this needs no disk: seconds of work."""

TOO_LARGE: Final = {Ended.BYTES, Ended.NO_MEMORY, Ended.NUMBERS}
"""Why a search in memory ends, and one on disk does not."""


class SpillingSearch:
    """A search that may use ``folder``; `run` gives its outcome."""

    def __init__(
        self, program: Program, machine: Machine, folder: Path, *, symmetry: bool, threads: int, limits: Limits,
        progress: SearchListener | None = None,
    ) -> None:  # fmt: skip
        self._program, self._machine, self._folder = program, machine, folder
        self._symmetry, self._threads, self._progress = symmetry, threads, progress
        self._limits = limits

    def run(self) -> Outcome:
        """Search until nothing is new, a claim breaks or a limit is reached.

        Raises: RebalanceCheckError when the folder belongs to another search or to none, is damaged or in use, and
        where the limit of memory is too low; OSError when the folder cannot be written to.
        """
        with SpillFolder(self._folder) as folder:
            limits = self._limits
            if folder.is_new:
                outcome = self.in_memory()
                if not self.is_too_large(outcome):
                    return outcome
                limits = self.rest(outcome.seconds)
            return SpilledSearch(
                self._program, self._machine, folder, symmetry=self._symmetry, threads=self._threads, limits=limits,
                progress=self._progress,
            ).run()  # fmt: skip

    def in_memory(self) -> Outcome:
        """Search a small number of states."""
        most = FIRST_IN_MEMORY if self._limits.states is None else min(FIRST_IN_MEMORY, self._limits.states)
        return ParallelSearch(
            self._program, self._machine, symmetry=self._symmetry, threads=self._threads,
            limits=replace(self._limits, states=most), progress=self._progress,
        ).run()  # fmt: skip

    def is_too_large(self, outcome: Outcome) -> bool:
        """Whether the search goes on on disk."""
        is_first_part = self._limits.states is None or outcome.distinct < self._limits.states
        return outcome.ended in TOO_LARGE or (outcome.ended is Ended.STATES and is_first_part)

    def rest(self, seconds: float) -> Limits:
        """The limits of what is left to do after so many seconds."""
        left = None if self._limits.seconds is None else max(0.0, self._limits.seconds - seconds)
        return replace(self._limits, seconds=left)
