"""When a search ends before every state within the bounds is explored, and what it has covered until then."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

FINGERPRINT_BITS: Final = 64
"""The width of the fingerprints of the compiled backend."""


class Ended(StrEnum):
    """Why a search ended early, where no claim was broken."""

    STATES = "the limit of states is reached"
    SECONDS = "the time limit is reached"
    BYTES = "the memory limit is reached"
    NO_MEMORY = "the system has no more memory"
    NUMBERS = "states are numbered in 32 bits, and there are no more numbers"
    DISK = "the disk is full"
    STOPPED = "it was interrupted"


def no_stop() -> bool:
    """The ``stop`` of a search that nothing interrupts."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When to end early: at a number of distinct states, of seconds, of bytes of memory; None is no limit.

    ``memory`` is that of the whole process. ``stop`` is called often, and ends the search when it returns True: it is
    how a signal ends a search between two states, where it can go on later.
    """

    states: int | None = None
    seconds: float | None = None
    memory: int | None = None
    stop: Callable[[], bool] = no_stop

    def reached(self, distinct: int, seconds: float) -> Ended | None:
        """Why it is time to end, after ``distinct`` states and ``seconds`` of searching; None: it is not.

        Memory is not looked at: each backend does so where it allocates.
        """
        if self.stop():
            return Ended.STOPPED
        if self.states is not None and distinct >= self.states:
            return Ended.STATES
        if self.seconds is not None and seconds >= self.seconds:
            return Ended.SECONDS
        return None

    def is_memory_used(self) -> bool:
        """Whether the process has as much memory as it may have."""
        return self.memory is not None and resident_bytes() >= self.memory


NO_LIMITS: Final = Limits()
"""The search ends when nothing is left."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far a search is."""

    depth: int
    """The level that is being explored, from 1; 0 before the search begins."""
    states: int
    """Distinct states found."""
    transitions: int
    """Transitions found, the initial state counted as one."""
    frontier: int
    """Of the states found, those that are not expanded yet."""
    seconds: float
    """How long the search has taken, compilation and earlier runs not counted."""
    states_per_second: float
    """The speed of this run."""


class SearchListener(Protocol):
    """Receives what a search does: called often, from the thread that called `explore`, so it must be quick."""

    def compiling(self, seconds: float, /) -> None:
        """The model has been compiling for so long."""
        ...

    def searching(self, coverage: Coverage, /) -> None:
        """The search is so far."""
        ...


def collision_probability(states: int, bits: int = FINGERPRINT_BITS) -> float:
    """The probability that two of these distinct states have one fingerprint, so that one of them was not explored.

    The birthday bound, n(n-1)/2 pairs that each collide with probability 2^-bits: an upper bound where fingerprints are
    spread evenly. Sources: Wolper and Leroy, "Reliable hashing without collision detection" (hash compaction); TLC
    prints an estimate of the same kind.
    """
    return min(1.0, states * (states - 1) / (1 << (bits + 1)))


def peak_resident_bytes() -> int:
    """The peak resident memory of this process; 0 where the platform does not say."""
    try:
        import resource  # noqa: PLC0415 - not on every platform
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_bytes() -> int:
    """The resident memory of this process now, or its peak where the platform does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return peak_resident_bytes()
    return pages * os.sysconf("SC_PAGE_SIZE")
