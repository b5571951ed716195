"""The checksum of record batches: CRC-32C with Castagnoli's polynomial (``java.util.zip.CRC32C``).

A checksum is linear: it is the sum, bit by bit, of the checksums of its bytes, each with zeros behind it. So NumPy,
where it is installed, adds up a block at once; without it two bytes are a step.
"""

from __future__ import annotations

import sys
from array import array
from functools import cache
from typing import Any, Final

_POLYNOMIAL: Final = 0x82F63B78
"""Reflected: the lowest bit first."""
_ALL: Final = 0xFFFFFFFF
_BLOCK: Final = 1024
"""The bytes of a block, at least as many as a checksum has."""
_WORD: Final = 4


def crc32c(data: bytes | memoryview) -> int:
    """The checksum of the bytes."""
    blocks = _blocks()
    return _by_steps(data) if blocks is None else _by_blocks(data, blocks)


def _by_steps(data: bytes | memoryview) -> int:
    """The checksum in plain Python."""
    table = _words()
    even = len(data) & ~1
    words = array("H", bytes(data[:even]))
    if sys.byteorder == "big":
        words.byteswap()
    crc = _ALL
    for word in words:
        crc = table[(crc ^ word) & 0xFFFF] ^ (crc >> 16)
    for byte in data[even:]:
        crc = _step(crc ^ byte, 8)
    return crc ^ _ALL


def _by_blocks(data: bytes | memoryview, blocks: _Blocks) -> int:
    """The checksum of blocks, and of up to three bytes behind them."""
    size = len(data)
    if size < _WORD:
        return _by_steps(data)
    crc, at = _ALL, 0
    while size - at >= _WORD:
        count = min(size - at, _BLOCK)
        crc = blocks.sum_of(data[at : at + count]) ^ blocks.shifted(crc, count)
        at += count
    for byte in data[at:]:
        crc = _step(crc ^ byte, 8)
    return crc ^ _ALL


class _Blocks:
    """For each place of a block, and for each byte there, the checksum of the byte and of zeros behind it."""

    def __init__(self, numpy: Any) -> None:
        rows = numpy.zeros((_BLOCK, 256), dtype=numpy.uint32)
        rows[-1] = [_step(byte, 8) for byte in range(256)]
        for place in range(_BLOCK - 2, -1, -1):
            later = rows[place + 1]
            rows[place] = rows[-1][later & 0xFF] ^ (later >> 8)
        self._numpy = numpy
        self._rows = rows
        self._flat = rows.ravel()
        self._begins = numpy.arange(0, _BLOCK * 256, 256)
        self._initial: dict[int, int] = {}

    def sum_of(self, block: bytes | memoryview) -> int:
        """The checksum of a block alone."""
        values = self._numpy.frombuffer(block, dtype=self._numpy.uint8)
        places = self._begins[_BLOCK - len(values) :] + values
        return int(self._numpy.bitwise_xor.reduce(self._flat[places]))

    def shifted(self, crc: int, count: int) -> int:
        """A checksum with so many zeros behind it, at least as many as it has bytes."""
        if crc != _ALL:
            return self._shifted(crc, count)
        if count not in self._initial:
            self._initial[count] = self._shifted(crc, count)
        return self._initial[count]

    def _shifted(self, crc: int, count: int) -> int:
        first = _BLOCK - count
        sums = [int(self._rows[first + place, byte]) for place, byte in enumerate(crc.to_bytes(_WORD, "little"))]
        return sums[0] ^ sums[1] ^ sums[2] ^ sums[3]


@cache
def _blocks() -> _Blocks | None:
    """None without NumPy."""
    try:
        import numpy  # noqa: PLC0415 - an extra, without which the checksum is slower
    except ImportError:
        return None
    return _Blocks(numpy)


@cache
def _words() -> list[int]:
    return [_step(word, 16) for word in range(1 << 16)]


def _step(crc: int, bits: int) -> int:
    for _ in range(bits):
        crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc
