"""A search that ended early as a value: all that it needs to go on, and what says that it is the same search.

A backend makes it between two states (interpreted) or two rounds (compiled), where nothing is half done, so that a
search that goes on finds exactly what an uninterrupted one finds. Who keeps it, and where, is the caller's: the command
line writes a file (`rebalance_check.commands._checkpoint_file`).
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.specification import sources
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

FORMAT: Final = 2
"""The version of what a checkpoint holds."""

CHECKER_FILES: Final = (
    "../layout.py", "../layout_source.py", "../interpreter.py", "../compiler/kernel.py",
    "worker.py", "workers.py", "search.py",
)  # fmt: skip
"""The files of the checker that decide what states and fingerprints look like, and the order of the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What a search has done so far.

    ``identity`` is that of `identity_of`; ``numbers`` are counters, lists and names, which JSON can hold; ``blocks``
    are the large arrays, as bytes or anything with the buffer protocol.
    """

    identity: Mapping[str, Any]
    numbers: Mapping[str, Any]
    blocks: Mapping[str, Any]


def identity_of(machine: Machine, *, symmetry: bool, compiled: bool, threads: int) -> dict[str, Any]:
    """What must be equal for one search to go on where another one ended."""
    return {
        "format": FORMAT,
        "bounds": machine.bounds.address(),
        "mutant": machine.model.mutant,
        "symmetry": symmetry,
        "backend": "compiled" if compiled else "interpreted",
        "threads": threads if compiled else 1,
        "byte order": sys.byteorder,
        "source of the model": source_digest(machine),
    }


def source_digest(machine: Machine) -> str:
    """A digest of the model's source, with the edit of a mutant, and of what decides how it is searched."""
    here = Path(__file__).parent
    checker = [(here / name).read_text(encoding="utf-8") for name in CHECKER_FILES]
    texts = [*sources(machine.model).values(), *checker]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]


def require_same_search(checkpoint: Checkpoint, identity: Mapping[str, Any]) -> None:
    """Check that a checkpoint belongs to this search.

    Raises `RebalanceCheckError` that names the first difference, its two values and what to do.
    """
    for name, mine in identity.items():
        theirs = checkpoint.identity.get(name)
        if theirs == mine:
            continue
        if name == "source of the model":
            raise RebalanceCheckError(
                f"the checkpoint was written by another version of the model or of the explorer ({theirs}, this one is "
                f"{mine}): begin anew without --resume"
            )
        raise RebalanceCheckError(
            f"the checkpoint was written with {name} {theirs!r}, and this search has {mine!r}: give the same options, "
            "or begin anew without --resume"
        )
