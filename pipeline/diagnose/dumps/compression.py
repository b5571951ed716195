"""The compressed records of a batch (``CompressionType``): gzip by the standard library, the others by PyArrow.

A few bytes can stand for very many, so that each codec stops at a limit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""Names by the number in a batch's attributes."""
LARGEST: Final = 1 << 26
"""So many bytes has a batch at most, compressed or not: Kafka's limit is 1 MB, unless it is raised."""

_GZIP: Final = 31
"""zlib's argument for a window of 15 bits in gzip's frame."""
_XERIAL: Final = b"\x82SNAPPY\x00"
_XERIAL_HEAD: Final = 16
_LENGTH: Final = 4


class NotDecompressed(RebalanceCheckError):  # noqa: N818 - named for the fate of the bytes
    """Bytes that a codec refuses, or a codec that is not installed."""


def decompressed(data: bytes, codec: int) -> bytes:
    """The bytes that the codec with this number compressed.

    Raises: NotDecompressed.
    """
    name = CODECS[codec] if codec < len(CODECS) else ""
    if not name:
        raise NotDecompressed(f"compression {codec} is none of Kafka's ({', '.join(CODECS)}): look for damage")
    try:
        if name == "gzip":
            return _at_most(_gunzip(data), name)
        return _at_most(_by_arrow(data, name), name)
    except (zlib.error, OSError, ValueError, MemoryError) as error:
        raise NotDecompressed(f"{len(data)} bytes are no {name} ({error}): look for damage") from error


def _at_most(data: bytes, name: str) -> bytes:
    if len(data) > LARGEST:
        raise NotDecompressed(f"a batch in {name} has more than {LARGEST} bytes")
    return data


def _gunzip(data: bytes) -> bytes:
    stream = zlib.decompressobj(_GZIP)
    found = stream.decompress(data, LARGEST + 1)
    if not stream.eof and len(found) <= LARGEST:
        raise zlib.error("the end is missing")
    return found


def _by_arrow(data: bytes, name: str) -> bytes:
    try:
        import pyarrow as pa  # noqa: PLC0415 - the extra `tables`, for compressed batches alone
    except ImportError as error:
        raise NotDecompressed(
            f"the batch is compressed with {name}, which needs PyArrow: pip install 'rebalance-check[tables]'"
        ) from error
    if name == "snappy":
        return b"".join(_unsnapped(data, pa))
    with pa.CompressedInputStream(pa.BufferReader(data), name) as stream:
        found: bytes = stream.read(LARGEST + 1)
    return found


def _unsnapped(data: bytes, pa: Any) -> Iterator[bytes]:
    """The parts of snappy-java's frame; librdkafka and others write one part without it."""
    total = 0
    for part in _parts(data) if data.startswith(_XERIAL) else (data,):
        size = _announced(part)
        total += size
        if total > LARGEST:
            raise ValueError(f"more than {LARGEST} bytes are announced")
        yield pa.decompress(part, decompressed_size=size, codec="snappy", asbytes=True)


def _parts(data: bytes) -> Iterator[bytes]:
    at = _XERIAL_HEAD
    while at < len(data):
        end = at + _LENGTH + int.from_bytes(data[at : at + _LENGTH], "big")
        if end > len(data):
            raise ValueError("a part is cut off")
        yield data[at + _LENGTH : end]
        at = end


def _announced(part: bytes) -> int:
    """The size that snappy writes in front: seven bits a byte."""
    size = 0
    for index, byte in enumerate(part[:5]):
        size |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return size
    raise ValueError("the size in front is cut off")
