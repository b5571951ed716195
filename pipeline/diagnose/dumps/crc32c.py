"""The checksum of record batches: CRC-32C, Castagnoli's polynomial, two bytes a step (``java.util.zip.CRC32C``)."""

from __future__ import annotations

import sys
from array import array
from functools import cache
from typing import Final

_POLYNOMIAL: Final = 0x82F63B78
"""Reflected: the lowest bit first."""
_ALL: Final = 0xFFFFFFFF


def crc32c(data: bytes | memoryview) -> int:
    """The checksum of the bytes."""
    table = _table()
    view = memoryview(data).cast("B")
    even = len(view) & ~1
    words = array("H", view[:even].tobytes())
    if sys.byteorder == "big":
        words.byteswap()
    crc = _ALL
    for word in words:
        crc = table[(crc ^ word) & 0xFFFF] ^ (crc >> 16)
    for byte in view[even:]:
        crc = _step(crc ^ byte, 8)
    return crc ^ _ALL


@cache
def _table() -> list[int]:
    return [_step(word, 16) for word in range(1 << 16)]


def _step(crc: int, bits: int) -> int:
    for _ in range(bits):
        crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc
