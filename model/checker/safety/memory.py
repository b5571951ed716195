"""Memory of what grows: tables of fingerprints that are never there twice, and arrays that leave no holes.

A larger table has the fingerprints in the same order (`kernel.slot_of`), so both are gone through from the front to the
back, and what lies behind in the old one is given back to the system block by block.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler.native import Program

BLOCK: Final = 1 << 19
"""Slots that are moved before their memory (4 MiB) is given back."""

SLOT_BYTES: Final = 8

FULLEST: Final = (7, 10)
"""How full a table may be, as a fraction: beyond, a search for a slot looks at too many others."""


def fitting(slots: int) -> int:
    """How many fingerprints a table of so many slots may have."""
    part, whole = FULLEST
    return slots * part // whole


def more_slots(slots: int, fingerprints: int) -> int:
    """The slots of a larger table, a third more and again, until so many fingerprints fit."""
    while fitting(slots) < fingerprints:
        slots += slots // 3
    return slots


def mapped(size: int) -> mmap.mmap:
    """Memory of its own, all zero, which the system has back at once when it is no longer used.

    What the C library hands out it keeps in part, and arrays that grow leave holes in it.

    Raises: MemoryError where the system has none.
    """
    try:
        return mmap.mmap(-1, size)
    except OSError as error:
        raise MemoryError(str(error)) from error


class Table:
    """An open-addressing hash set of fingerprints, empty at first.

    Raises: MemoryError where the system has none.
    """

    def __init__(self, slots: int) -> None:
        self._memory = mapped(slots * SLOT_BYTES)
        self._advise("MADV_HUGEPAGE", 0, slots)
        self.array: Any = np.frombuffer(self._memory, np.uint64)

    def move_to(self, larger: Table, program: Program) -> None:
        """Move all fingerprints into a larger table; this one is of no use afterwards."""
        for first in range(0, len(self.array), BLOCK):
            block = self.array[first : first + BLOCK]
            program.rehash(block, larger.array)
            self._advise("MADV_DONTNEED", first, len(block))

    def _advise(self, advice: str, first: int, slots: int) -> None:
        """Tell the system how memory will be used, where it listens; an advice that it refuses does no harm."""
        option = getattr(mmap, advice, None)
        if option is not None and slots >= BLOCK:
            with suppress(OSError):
                self._memory.madvise(option, first * SLOT_BYTES, slots * SLOT_BYTES)
