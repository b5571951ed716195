"""The part of a sequence that repeats until its end: the shortest segment, and how often it came."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

TIMES: Final = 3
"""So often a segment must come in a row before it counts as a loop: twice happens in any healthy group."""


class Repetition(NamedTuple):
    """A segment of ``length`` tokens comes ``times`` in a row, whole, and the sequence ends with it."""

    length: int
    times: int

    @property
    def tokens(self) -> int:
        """How many tokens all its turns have."""
        return self.length * self.times


def repetition(tokens: Sequence[Hashable], times: int = TIMES) -> Repetition | None:
    """The shortest segment that comes ``times`` in a row or more at the end of ``tokens``; None where there is none."""
    for length in range(1, len(tokens) // times + 1):
        found = _equal_at_the_end(tokens, length) // length + 1
        if found >= times:
            return Repetition(length, found)
    return None


def _equal_at_the_end(tokens: Sequence[Hashable], length: int) -> int:
    """How many tokens at the end equal those ``length`` places before them."""
    equal = 0
    while equal + length < len(tokens) and tokens[-1 - equal] == tokens[-1 - equal - length]:
        equal += 1
    return equal
