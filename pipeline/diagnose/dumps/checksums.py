"""CRC-32C of many pieces of one buffer at once, eight bytes of each a step (`crc32c` is for one piece)."""

from __future__ import annotations

from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rebalance_check.pipeline.diagnose.dumps.crc32c import crc32c

Bytes: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.int64]
Checksums: TypeAlias = NDArray[np.uint32]

PADDING: Final = 16
"""So many bytes stand behind the last piece at least: a step reads beyond its end."""
_POLYNOMIAL: Final = np.uint32(0x82F63B78)
_ALL: Final = np.uint32(0xFFFFFFFF)
_STEP: Final = 8
_FEW: Final = 32
"""So few long pieces are faster one by one."""


def words_at(data: Bytes, at: Numbers) -> NDArray[np.uint64]:
    """The eight bytes at each place, the first byte lowest."""
    at_each_byte = np.ndarray((len(data) - _STEP + 1,), np.dtype("<u8"), data, strides=(1,))
    return at_each_byte[at]


def checksums(data: Bytes, starts: Numbers, ends: Numbers) -> Checksums:
    """The checksum of each piece ``data[start:end]``; behind the last one stand `PADDING` bytes."""
    found = np.empty(len(starts), np.uint32)
    order = np.argsort(starts - ends, kind="stable")  # the longest first
    steps = (ends - starts)[order] // _STEP
    alone = int(np.searchsorted(-steps, -steps[_FEW], side="left")) if len(steps) > _FEW else len(steps)
    for one in order[:alone]:
        found[one] = crc32c(data[starts[one] : ends[one]].data)
    found[order[alone:]] = _together(data, starts[order[alone:]], ends[order[alone:]])
    return found


def _together(data: Bytes, starts: Numbers, ends: Numbers) -> Checksums:
    """The checksums of pieces that are sorted by their lengths."""
    lanes, single = _tables()
    crc = np.full(len(starts), _ALL, np.uint32)
    steps = (ends - starts) // _STEP
    for step in range(int(steps[0]) if len(steps) else 0):
        active = int(np.searchsorted(-steps, -step, side="left"))
        word = words_at(data, starts[:active] + _STEP * step)
        word ^= crc[:active]
        parts = word.view(np.uint16).reshape(-1, 4)
        total = lanes[0][parts[:, 0]]
        for lane in (1, 2, 3):
            total ^= lanes[lane][parts[:, lane]]
        crc[:active] = total
    at = starts + _STEP * steps
    for _ in range(_STEP - 1):
        active_ones = np.flatnonzero(at < ends)
        some = crc[active_ones]
        crc[active_ones] = single[(some ^ data[at[active_ones]]) & 0xFF] ^ (some >> np.uint32(8))
        at[active_ones] += 1
    return crc ^ _ALL


@cache
def _tables() -> tuple[tuple[Checksums, ...], Checksums]:
    """For each pair of bytes of a step, its checksum with the zeros behind it; and the table of single bytes."""
    single = _shifted(np.arange(1 << 8, dtype=np.uint32), 8)
    lane = _shifted(np.arange(1 << 16, dtype=np.uint32), 16)
    lanes = [lane]
    for _ in range(3):  # two zeros more behind each
        lanes.append(lane[lanes[-1] & 0xFFFF] ^ (lanes[-1] >> np.uint32(16)))
    return tuple(reversed(lanes)), single


def _shifted(crc: Checksums, bits: int) -> Checksums:
    for _ in range(bits):
        crc = (crc >> np.uint32(1)) ^ np.where(crc & 1, _POLYNOMIAL, np.uint32(0))
    return crc
