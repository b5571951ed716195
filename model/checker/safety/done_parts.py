"""Which parts of a search on disk are done, and what its folder notes of that.

A part is what one share does of a level: it expands its frontier, or absorbs its candidates. Threads add parts while a
note is written. So a file is removed only where neither the last note, nor the one that is being written, nor the share
itself needs it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.safety.shard import Shard
from rebalance_check.model.checker.safety.spill_folder import SpillFolder

States = list[dict[str, Any]]
"""The `Shard.state` of each share."""


class DoneParts:
    """What the ``shards`` of a search have done; ``states`` has the state of each at the end of its last part."""

    def __init__(self, folder: SpillFolder, identity: Mapping[str, Any], shards: Sequence[Shard]) -> None:
        self._folder, self._identity, self._shards = folder, identity, shards
        self.states: States = []
        self._kept = frozenset[Path]()
        self._lock = threading.Lock()
        self.begin([shard.state() for shard in shards])

    def begin(self, states: States) -> None:
        """Begin with these states."""
        self.states, self._kept = list(states), frozenset(self.files(states))

    def restore(self, states: States) -> None:
        """Go on from the states of a note.

        Raises: ValueError when a file is missing or too short.
        """
        for shard, state in zip(self._shards, states, strict=True):
            shard.restore(state)
        self.begin(states)
        for path, size in self.files(states).items():
            if size_of(path) < size:
                raise ValueError(f"{path.parent.name}/{path.name} has {size_of(path)} bytes of {size}")

    # -------------------------------------------------------------------------------------------- how far it is

    @property
    def depth(self) -> int:
        """The level that is being searched."""
        return min(int(state["depth"]) for state in self.states)

    @property
    def size(self) -> int:
        """How many states there are; those that a thread is finding now do not count."""
        return sum(int(state["size"]) for state in self.states)

    @property
    def frontier(self) -> int:
        """How many states there are whose successors are not absorbed."""
        return sum(int(state["frontier"]) for state in self.states)

    @property
    def is_broken(self) -> bool:
        """Whether a claim was seen broken."""
        return any(state["st"][kernel.CLAIM] for state in self.states)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return all(state["depth"] == self.depth and not state["frontier"] for state in self.states)

    # -------------------------------------------------------------------------------------------- files

    def add(self, shard: Shard) -> None:
        """A share has done its part."""
        with self._lock:
            self.states[shard.number] = shard.state()

    def undo(self, shard: Shard) -> None:
        """A share has given its part up."""
        shard.restore(self.states[shard.number])

    def files(self, states: States) -> dict[Path, int]:
        """The files without which a search cannot go on from these states, each with the bytes that it has at least.

        The candidates of a share are needed until it has absorbed them.
        """
        needed = dict[Path, int]()
        for owner, state in zip(self._shards, states, strict=True):
            needed |= owner.files(state)
            for source, other in enumerate(states):
                if (other["depth"], other["is_expanded"]) >= (state["depth"], True):
                    rows = other["sent"][owner.number]
                    needed[owner.candidates(source, state["depth"])] = owner.candidate_bytes(rows)
        return {path: size for path, size in needed.items() if size}

    def note(self, numbers: Mapping[str, Any]) -> None:
        """Note what is done, and some numbers of the search.

        Raises: OSError when the disk is full; the search can go on from the note before.
        """
        with self._lock:
            states = list(self.states)
            files = self.files(states)
            self._kept |= frozenset(files)
        self._folder.write(self._identity, {**numbers, "shards": states}, files)
        self._kept = frozenset(files)

    def forget(self, shard: Shard) -> None:
        """Remove the files of a share that nothing needs any more; called while the share does no part."""
        with self._lock:
            kept = self._kept
        shard.forget(shard.depth - 1, kept)


def size_of(path: Path) -> int:
    """The bytes of a file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0
