"""The records of many batches as columns: where each key and each value stands, its offset and its time.

Record by record of all batches at once: a step finds the next record of each. Batches that differ from the plain case
(compressed, transactional, damaged) are left to `batches`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rebalance_check.pipeline.diagnose.dumps.batches import HEAD, LOG_OVERHEAD
from rebalance_check.pipeline.diagnose.dumps.checksums import PADDING, Bytes, Numbers, checksums

Flags: TypeAlias = NDArray[np.bool_]

_HEADS: Final = np.dtype(
    [
        ("base", ">i8"), ("length", ">i4"), ("epoch", ">i4"), ("magic", "i1"), ("crc", ">u4"), ("attributes", ">i2"),
        ("last", ">i4"), ("first_ms", ">i8"), ("latest_ms", ">i8"), ("producer", ">i8"), ("producer_epoch", ">i2"),
        ("sequence", ">i4"), ("records", ">i4"),
    ]
)  # fmt: skip
_APPEND_TIME: Final = 0x08
_CRC_FROM: Final = 21
_SHORTEST_RECORD: Final = 7
_FEW: Final = 16
"""So few batches are not worth a step."""
_LONGEST_NUMBER: Final = 56
"""A number of more bits is left to the plain reader."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The records of the plain batches. A length of -1 stands for null. ``first`` and ``end`` are the places in these
    columns that the records of each batch take; both are equal for a batch that is left to the plain reader. ``last``
    is the last offset of each batch."""

    plain: Flags
    last: Numbers
    first: Numbers
    end: Numbers
    offset: Numbers
    time_ms: Numbers
    key_at: Numbers
    key_size: Numbers
    value_at: Numbers
    value_size: Numbers


def columns_of(data: Bytes, starts: Numbers) -> Columns:
    """The records of the batches that begin at these bytes. `PADDING` bytes stand behind the last batch."""
    heads: Any = data[starts[:, None] + np.arange(HEAD)].view(_HEADS).ravel()
    ends = starts + LOG_OVERHEAD + heads["length"]
    counts = heads["records"].astype(np.int64)
    plain = (heads["attributes"] & ~_APPEND_TIME == 0) & (counts > 0)
    plain &= counts * _SHORTEST_RECORD <= ends - starts - HEAD
    plain[plain] = checksums(data, starts[plain] + _CRC_FROM, ends[plain]) == heads["crc"][plain]
    counts[~plain] = 0
    first = np.cumsum(counts) - counts
    reader = _Reader(data, plain, int(counts.sum()))
    reader.read(starts + HEAD, ends, counts, first)
    rows = np.flatnonzero(np.repeat(plain, counts))
    batch = np.repeat(np.arange(len(starts)), counts)[rows]
    appended = (heads["attributes"] & _APPEND_TIME != 0)[batch]
    counts[~plain] = 0
    found = reader.found[:, rows]
    end = np.cumsum(counts)
    time_ms = np.where(appended, heads["latest_ms"][batch], heads["first_ms"][batch] + found[0])
    last = heads["base"] + heads["last"]
    return Columns(plain, last, end - counts, end, heads["base"][batch] + found[1], time_ms, *found[2:])


class _Reader:
    """Fills the columns, and strikes batches that do not end where they say out of ``plain``."""

    def __init__(self, data: Bytes, plain: Flags, rows: int) -> None:
        self.data = data
        self.plain = plain
        self.found = np.zeros((6, rows), np.int64)

    def read(self, at: Numbers, ends: Numbers, counts: Numbers, first: Numbers) -> None:
        """Read the records of each batch, from its first byte of records to its end."""
        at = at.copy()
        for step in range(int(counts.max(initial=0))):
            active = np.flatnonzero((counts > step) & self.plain)
            if len(active) < _FEW:
                self.plain[active] = False
                break
            at[active] = self._step(active, at[active], ends[active], first[active] + step)

    def _step(self, active: Numbers, at: Numbers, ends: Numbers, rows: Numbers) -> Numbers:
        """The next record of the active batches; the places behind them are given back."""
        sound = np.ones(len(active), np.bool_)
        length = self._number(at, sound)
        end = at + length
        at += 1  # attributes, of which none is in use
        later, delta = self._number(at, sound), self._number(at, sound)
        key_size = self._number(at, sound)
        key_at = at.copy()
        at += np.maximum(key_size, 0)
        value_size = self._number(at, sound)
        sound &= (length > 0) & (end <= ends) & (at + np.maximum(value_size, 0) <= end)
        self.found[:, rows] = later, delta, key_at, key_size, at, value_size
        self.plain[active[~sound]] = False
        return end

    def _number(self, at: Numbers, sound: Flags) -> Numbers:
        """The numbers at these places, of seven bits a byte with the sign lowest; the places move behind them."""
        np.clip(at, 0, len(self.data) - PADDING, out=at)
        byte = self.data[at].astype(np.int64)
        value = byte & 0x7F
        at += 1
        more = np.flatnonzero(byte >= 0x80)
        shift = 7
        while len(more):
            if shift >= _LONGEST_NUMBER:
                sound[more] = False
                break
            byte = self.data[at[more]].astype(np.int64)
            value[more] |= (byte & 0x7F) << shift
            at[more] += 1
            more = more[byte >= 0x80]
            shift += 7
        found: Numbers = (value >> 1) ^ -(value & 1)
        return found
