"""Readers with the samples, and batches of records made by hand."""

import io
import struct
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.pipeline.diagnose.dumps.crc32c import crc32c
from rebalance_check.pipeline.diagnose.dumps.segments import read_segment

DATA = Path(__file__).parents[3] / "data" / "diagnose" / "dumps"
Pair = tuple[bytes, bytes | None]


@pytest.fixture
def sample() -> Callable[[str], bytes]:
    """The bytes of a sample."""
    return lambda name: (DATA / name).read_bytes()


@pytest.fixture
def read() -> Callable[..., list[Any]]:
    """The facts of a sample, or of a text, by a reader of lines."""

    def facts(reader: Any, name: str, text: str | None = None) -> list[Any]:
        content = (DATA / name).read_text(encoding="utf-8") if text is None else text
        return list(reader(enumerate(content.split("\n"), start=1), name))

    return facts


@pytest.fixture
def segment() -> Callable[..., list[Any]]:
    """The facts of a segment's bytes."""
    return lambda data, name="segment-__consumer_offsets-7.log": list(read_segment(io.BytesIO(data), name))


def varint(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def field(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data


def record(index: int, pair: Pair) -> bytes:
    body = b"\x00" + varint(10 * index) + varint(index) + field(pair[0]) + field(pair[1]) + varint(0)
    return varint(len(body)) + body


def made_batch(
    base: int,
    pairs: Sequence[Pair],
    *,
    attributes: int = 0,
    producer: int = -1,
    compress: Callable[[bytes], bytes] = bytes,
) -> bytes:
    records = compress(b"".join(record(index, pair) for index, pair in enumerate(pairs)))
    rest = struct.pack(">hiqqqhii", attributes, len(pairs) - 1, 1_000, 2_000, producer, 0, -1, len(pairs)) + records
    return struct.pack(">qiibI", base, 9 + len(rest), 0, 2, crc32c(rest)) + rest


@pytest.fixture
def batch() -> Callable[..., bytes]:
    """A batch of message format 2 with an offset, keys and values; its records are 10 ms apart, from 1000 ms on."""
    return made_batch


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


@pytest.fixture
def commit() -> Callable[..., Pair]:
    """The key and the value (version 3) of a commit."""

    def pair(offset: int | None, group: str = "g", topic: str = "t", partition: int = 0) -> Pair:
        key = struct.pack(">h", 1) + text(group) + text(topic) + struct.pack(">i", partition)
        return key, None if offset is None else struct.pack(">hqi", 3, offset, -1) + text("") + struct.pack(">q", 5)

    return pair


@pytest.fixture
def fields() -> Callable[..., bytes]:
    """The parts of a value one after another: bytes as they are, texts with their length in front."""

    def joined(parts: Iterable[bytes | str]) -> bytes:
        return b"".join(part if isinstance(part, bytes) else text(part) for part in parts)

    return joined
