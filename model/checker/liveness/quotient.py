"""States distinguished only by what can still matter once faults cease: budgets are forgotten, generations renamed.

A livelock goes through ever new generations, so on plain states it is no cycle, and a bound on generations hides it.
Here it is one: `Quotient.fold` forgets spent budgets and renames the ordinals of a state (`layout.Ordinal`), so that
folded states are equal when they behave alike:

- ordinals below every counter keep their order only, and are numbered from 1 without gaps. No counter reaches them
  again, because it only counts up while there is no fault (to delete a group is a fault); so all that the protocol
  can do with them is compare them;
- from the lowest counter on, distances are kept, because a counter may still reach the distances above it;
- 0 stays 0, "none".

So a state and its folded form allow the same fault-free steps, to states whose folded forms are equal (a bisimulation;
a test walks both side by side): the folded graph has exactly the fault-free runs of the model, in any number of
generations.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.layout import leaves, width

CHUNK: Final = 1 << 16
"""States folded at a time, so that the tables in between stay small."""


class Quotient:
    """Folds packed states of one model at one size: rows of bytes, padded as `layout.record_type` says."""

    def __init__(self, machine: Machine) -> None:
        kinds = [leaf.kind for leaf in leaves(machine.model.state, machine.sizes)]
        self.width = width(machine.model.state, machine.sizes)
        self.spent = places(kinds, "spent")
        self.faults = places(kinds, "spent", "age")
        self.counters = places(kinds, "counter")
        self.ordinals = places(kinds, "ordinal", "counter")

    def is_fault_free(self, before: Any, after: Any) -> Any:
        """Of each pair of states that one step leads from and to, whether the step is no fault."""
        return (before[:, self.faults] == after[:, self.faults]).all(axis=1)

    def fold(self, rows: Any) -> Any:
        """Fold states in place; the same rows."""
        rows[:, self.spent] = 0
        if len(self.counters):
            for start in range(0, len(rows), CHUNK):
                self.rename(rows[start : start + CHUNK])
        return rows

    def rename(self, rows: Any) -> None:
        """Number the ordinals below the counters without gaps, and move what is above them down as one."""
        values = rows[:, self.ordinals]
        lowest = np.maximum(rows[:, self.counters].min(axis=1), 1)
        stays = np.arange(int(values.max(initial=0)) + 1) >= lowest[:, None]
        stays[np.arange(len(rows))[:, None], values] = True
        stays[:, 0] = False
        names = stays.cumsum(axis=1, dtype=np.uint8)
        rows[:, self.ordinals] = np.take_along_axis(names, values.astype(np.intp), axis=1)


def places(kinds: list[str], *wanted: str) -> Any:
    """The places in a packed state of the bytes of these kinds."""
    return np.array([place for place, kind in enumerate(kinds) if kind in wanted], np.intp)


def as_rows(packed: list[bytes], row_width: int) -> Any:
    """Packed states as rows."""
    joined = b"".join(data.ljust(row_width, b"\0") for data in packed)
    return np.frombuffer(bytearray(joined), np.uint8).reshape(-1, row_width)


def fingerprints(rows: Any) -> Any:
    """64 bits of each state: all at once, since NumPy computes with columns as the kernel does with words."""
    columns = SimpleNamespace(words=rows.view(np.uint64).T[None])
    with np.errstate(over="ignore"):
        return kernel.mix(columns, 0)
