"""Memory that grows: tables of fingerprints that are never there twice, and arrays that leave no holes.

Where memory is not enough, an array is mapped from a file: the system keeps what is used of it in memory, and writes
the rest out. Parents, labels and frontiers are written and read in order; a table of fingerprints that memory does not
hold is as slow as the disk.

A larger table has the fingerprints in the same order (`kernel.slot_of`), so both are gone through from the front to the
back, and the part of the old one already passed is given back to the system block by block.
"""

from __future__ import annotations

import errno
import mmap
import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final
from weakref import WeakSet

import numpy as np

from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.safety.limits import Ended

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


FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""The errors of a disk, a quota or a file that has reached its size."""


class NoSpaceError(Exception):
    """Nothing more can be kept; ``why`` says what is lacking."""

    def __init__(self, why: Ended) -> None:
        super().__init__(str(why))
        self.why = why


class Storage:
    """Where arrays lie: ``most`` bytes of them in memory (None: all), and the others in files of ``folder``.

    ``disk_bytes`` is the most that there was in files.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.most: int | None = None
        self.disk_bytes = 0
        self._folder = folder
        self._memory, self._files = WeakSet[mmap.mmap](), WeakSet[mmap.mmap]()

    @property
    def memory_bytes(self) -> int:
        """The bytes that lie in memory."""
        return sum(map(len, self._memory))

    def take(self, size: int) -> mmap.mmap:
        """So many bytes, all zero, which the system has back at once when they are no longer used.

        The C library keeps a part of its memory, in which arrays that grow leave holes.

        Raises: NoSpaceError where the limit allows no more and there is no folder, or the disk is full; MemoryError
        where the system has none, and OSError where the folder cannot be written to.
        """
        if self.most is None or self.memory_bytes + size <= self.most:
            try:
                made = mmap.mmap(-1, size)
            except OSError as error:
                raise MemoryError(str(error)) from error
            self._memory.add(made)
            return made
        if self._folder is None:
            raise NoSpaceError(Ended.BYTES)
        made = mapped_file(self._folder, size)
        self._files.add(made)
        self.disk_bytes = max(self.disk_bytes, sum(map(len, self._files)))
        return made

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array.

        Raises: as `take` does.
        """
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        return np.frombuffer(self.take(size), dtype).reshape(shape)


def mapped_file(folder: Path, size: int) -> mmap.mmap:
    """A file of so many bytes as memory. It has no name, so that nothing is left of it when the process ends or dies.

    Raises: NoSpaceError where the disk is full: its blocks are reserved, because a map that the disk cannot hold
    ends the process.
    """
    reserve = getattr(os, "posix_fallocate", lambda file, _, size: os.ftruncate(file, size))  # not on every platform
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder) as file:
        try:
            reserve(file.fileno(), 0, size)
        except OSError as error:
            if error.errno in FULL:
                raise NoSpaceError(Ended.DISK) from error
            raise
        return mmap.mmap(file.fileno(), size)


class Table:
    """An open-addressing hash set of fingerprints, empty at first.

    Raises: as `Storage.take` does.
    """

    def __init__(self, slots: int, storage: Storage) -> None:
        self._memory = storage.take(slots * SLOT_BYTES)
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
