"""Segments that are damaged, cut off, compressed, old or of another topic are read as far as they can be."""

import builtins
import gzip
import struct
import zlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from rebalance_check.pipeline.diagnose.dumps import compression, crc32c, segments, transactions
from rebalance_check.pipeline.diagnose.facts import ConfigRecorded, NotUnderstood, OffsetRecorded, StatusRecorded

Facts = list[Any]
Make = Callable[..., Any]
TRANSACTIONAL, CONTROL, APPEND_TIME = 0x10, 0x20, 0x08
COMMIT, ABORT = struct.pack(">hh", 0, 1), struct.pack(">hh", 0, 0)


def offsets(facts: Facts) -> list[tuple[int, int | None]]:
    """Place and committed offset of each commit; the others must be none."""
    assert all(isinstance(fact, OffsetRecorded) for fact in facts), facts
    return [(fact.place.number, fact.offset) for fact in facts]


@pytest.fixture
def three(batch: Make, commit: Make) -> bytes:
    """Three batches, the second of two records."""
    return b"".join([batch(5, [commit(1)]), batch(6, [commit(2), commit(3)]), batch(8, [commit(4)])])


def test_offsets_and_times_are_those_of_the_records(three: bytes, segment: Make) -> None:
    facts = segment(three)
    assert offsets(facts) == [(5, 1), (6, 2), (7, 3), (8, 4)]
    assert [fact.time_ms for fact in facts] == [1_000, 1_000, 1_010, 1_000]


def test_the_time_of_appending_counts_for_all_records(batch: Make, commit: Make, segment: Make) -> None:
    data = batch(0, [commit(1), commit(2)], attributes=APPEND_TIME)
    assert [fact.time_ms for fact in segment(data)] == [2_000, 2_000]


# --------------------------------------------------------------------------------------------------------- damaged ends


def test_a_damaged_batch_is_noted_and_the_next_is_read(three: bytes, segment: Make) -> None:
    at = three.index(struct.pack(">hqi", 3, 2, -1))
    damaged = three[:at] + b"\xff" + three[at + 1 :]
    first, note, last = segment(damaged)
    assert offsets([first, last]) == [(5, 1), (8, 4)]
    assert isinstance(note, NotUnderstood)
    assert note.place.number == 6
    assert note.why.startswith("the checksum of the batch is")


def test_a_file_that_ends_within_a_batch_is_read_up_to_it(batch: Make, commit: Make, segment: Make) -> None:
    parts = [batch(5, [commit(1)]), batch(6, [commit(2), commit(3)]), batch(8, [commit(4)])]
    data, position = b"".join(parts), 0
    ends, clean = [], set(range(8))  # the first bytes of an offset are zeros, as is an empty end
    for part in parts:
        ends.append(position + len(part.rstrip(b"\x00")))
        position += len(part)
        clean |= set(range(ends[-1], position + 8))
    rows = [[(5, 1)], [(6, 2), (7, 3)], [(8, 4)]]
    for kept in range(len(data) + 1):
        facts = segment(data[:kept])
        notes = [fact for fact in facts if isinstance(fact, NotUnderstood)]
        expected = [row for end, some in zip(ends, rows, strict=True) if end <= kept for row in some]
        assert offsets(facts[: len(facts) - len(notes)]) == expected
        assert len(notes) == (kept not in clean), kept
        assert all("the file ends within the batch at its byte" in note.why for note in notes)


def test_zeros_at_the_end_are_no_records(three: bytes, segment: Make) -> None:
    assert offsets(segment(three + bytes(10_000))) == [(5, 1), (6, 2), (7, 3), (8, 4)]


def test_zeros_that_a_copy_left_out_are_put_back(batch: Make, commit: Make, segment: Make) -> None:
    key, value = commit(5)
    zeros = batch(3, [(key, value[:-8] + bytes(8))])
    assert zeros.endswith(bytes(9))
    assert offsets(segment(zeros.rstrip(b"\x00"))) == [(3, 5)]
    assert isinstance(segment(zeros.rstrip(b"\x00")[:-1])[0], NotUnderstood)


HUGE = struct.pack(">qiib", 9, 1 << 30, 0, 2) + bytes(9)


@pytest.mark.parametrize("garbage", [b"\xff" * 40, b"PK\x03\x04" * 10, HUGE])
def test_bytes_that_are_no_batch_end_the_reading(garbage: bytes, three: bytes, segment: Make) -> None:
    *facts, note = segment(three + garbage)
    assert offsets(facts) == [(5, 1), (6, 2), (7, 3), (8, 4)]
    assert f"at byte {len(three)} begins no record batch" in note.why


def test_a_batch_with_fewer_records_than_it_says_is_noted(batch: Make, commit: Make, segment: Make) -> None:
    data = bytearray(batch(0, [commit(1)]))
    data[57:61] = struct.pack(">i", 2)
    data[17:21] = struct.pack(">I", crc32c.crc32c(bytes(data[21:])))
    fact, note = segment(bytes(data))
    assert offsets([fact]) == [(0, 1)]
    assert "is cut off" in note.why


# ---------------------------------------------------------------------------------------------------------- compression


def xerial(data: bytes) -> bytes:
    """The frame of snappy-java, in parts of 32 bytes."""
    parts = [pa.compress(data[at : at + 32], codec="snappy", asbytes=True) for at in range(0, len(data), 32)]
    framed = b"".join(struct.pack(">i", len(part)) + part for part in parts)
    return b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1) + framed


def by_arrow(codec: str) -> Callable[[bytes], bytes]:
    return lambda data: bytes(pa.compress(data, codec=codec, asbytes=True))


CODECS: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "gzip": (1, gzip.compress),
    "snappy": (2, by_arrow("snappy")),
    "snappy-java": (2, xerial),
    "lz4": (3, by_arrow("lz4")),
    "zstd": (4, by_arrow("zstd")),
}


@pytest.mark.parametrize("name", CODECS)
def test_a_compressed_batch_is_read(name: str, batch: Make, commit: Make, segment: Make) -> None:
    attributes, compress = CODECS[name]
    data = batch(0, [commit(n) for n in range(40)], attributes=attributes, compress=compress)
    assert offsets(segment(data)) == [(n, n) for n in range(40)]


@pytest.mark.parametrize("name", CODECS)
def test_damage_in_compressed_bytes_is_noted(name: str, batch: Make, commit: Make, segment: Make) -> None:
    attributes, compress = CODECS[name]
    pairs = [commit(n) for n in range(40)]
    data = batch(0, pairs, attributes=attributes, compress=lambda raw: compress(raw)[:-20])
    note = segment(data)[-1]
    assert isinstance(note, NotUnderstood)
    other = batch(0, pairs, attributes=attributes, compress=lambda raw: b"\x05" + raw)
    (only,) = segment(other)
    assert isinstance(only, NotUnderstood)


def test_an_unknown_codec_is_named(batch: Make, commit: Make, segment: Make) -> None:
    (note,) = segment(batch(0, [commit(1)], attributes=6))
    assert "compression 6 is none of Kafka's (none, gzip, snappy, lz4, zstd)" in note.why


def test_a_codec_that_is_not_installed_is_named_with_the_extra(
    batch: Make, commit: Make, segment: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    true_import = builtins.__import__

    def without_arrow(name: str, *rest: Any) -> Any:
        if name == "pyarrow":
            raise ImportError(name)
        return true_import(name, *rest)

    data = batch(0, [commit(1)], attributes=4, compress=by_arrow("zstd")) + batch(1, [commit(2)])
    monkeypatch.setattr(builtins, "__import__", without_arrow)
    note, fact = segment(data)
    assert note.why.endswith("compressed with zstd, which needs PyArrow: pip install 'rebalance-check[tables]'")
    assert offsets([fact]) == [(1, 2)]


def test_a_few_bytes_that_stand_for_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "LARGEST", 1_000)
    for name, (number, compress) in CODECS.items():
        assert compression.decompressed(compress(bytes(1_000)), number) == bytes(1_000), name
        with pytest.raises(compression.NotDecompressed, match="more than 1000 bytes"):
            compression.decompressed(compress(bytes(1_001)), number)


# --------------------------------------------------------------------------------------------------------- transactions


@pytest.fixture
def in_transaction(batch: Make, commit: Make) -> bytes:
    """A commit of producer 7, one of producer 8, and one outside."""
    parts = [batch(n, [commit(n)], attributes=TRANSACTIONAL, producer=7 + n) for n in range(2)]
    return b"".join([*parts, batch(2, [commit(2)])])


@pytest.mark.parametrize(("marker", "kept"), [(COMMIT, [(2, 2), (0, 0)]), (ABORT, [(2, 2)])])
def test_commits_of_a_transaction_count_by_its_marker(
    marker: bytes, kept: list[tuple[int, int]], in_transaction: bytes, batch: Make, segment: Make
) -> None:
    end = batch(3, [(marker, bytes(6))], attributes=TRANSACTIONAL | CONTROL, producer=7)
    *facts, note = segment(in_transaction + end)
    assert offsets(facts) == kept
    assert note.why == ("1 records belong to transactions whose end is not in the source: read the next segment, too")


def test_no_more_than_so_many_commits_are_held(
    in_transaction: bytes, segment: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "MOST", 1)
    fact, note = segment(in_transaction)
    assert offsets([fact]) == [(2, 2)]
    assert note.why.startswith("2 records belong to transactions")


# ------------------------------------------------------------------------------------------ old formats, other topics


def old_message(magic: int, base: int) -> bytes:
    rest = struct.pack(">Ibb", 0, magic, 0) + (bytes(8) if magic else b"") + struct.pack(">ii", -1, 4) + b"data"
    return struct.pack(">qi", base, len(rest)) + rest


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_an_old_format_are_noted_once(magic: int, three: bytes, segment: Make) -> None:
    data = old_message(magic, 0) + old_message(magic, 1) + three
    note, *facts = segment(data)
    assert note.why == f"messages of format {magic}, older than Kafka 0.11, are not read"
    assert offsets(facts) == [(5, 1), (6, 2), (7, 3), (8, 4)]
    assert segments.is_segment(data)


def test_a_segment_of_another_topic_is_not_read_to_its_end(batch: Make, segment: Make) -> None:
    one = batch(0, [(b"order-%d" % number, b"{}") for number in range(60)])
    (note,) = segment(one * 50)
    assert note.why == "the first 100 keys are of no known topic: the rest is not read"
    assert segment(one) == []


def test_records_of_connects_topics_are_known_by_their_keys(batch: Make, segment: Make) -> None:
    status = b'{"state":"RUNNING","trace":null,"worker_id":"w:8083","generation":3}'
    data = batch(0, [(b"status-task-a-b-1", status), (b"commit-a-b", b'{"tasks":2}'), (b"status-connector-a", None)])
    running, commit, deleted = segment(data, "connect-status-0/00000000000000000000.log")
    assert (type(running), running.work, running.state) == (StatusRecorded, "a-b-1", "RUNNING")
    assert (running.worker, running.generation, running.time_ms) == ("w:8083", 3, 1_000)
    assert (type(commit), commit.key, commit.value) == (ConfigRecorded, "commit-a-b", "2")
    assert (deleted.work, deleted.state, deleted.worker) == ("a", None, "")


# ------------------------------------------------------------------------------------------------ recognising, checksum


@pytest.mark.parametrize(
    ("name", "partition"),
    [
        ("segment-__consumer_offsets-49.log", 49),
        ("data/__consumer_offsets-0/00000000000000000000.log", 0),
        ("__consumer_offsets", None),
        ("server.log", None),
    ],
)
def test_a_name_gives_the_partition(name: str, partition: int | None) -> None:
    assert segments.partition_of(name) == partition


def test_segments_are_recognised(three: bytes, sample: Callable[[str], bytes]) -> None:
    assert segments.is_segment(three)
    assert segments.is_segment(three[:40])
    for name in ("3.9.2/segment-__consumer_offsets-0.log", "4.3.1/segment-__consumer_offsets-0.log"):
        assert segments.is_segment(sample(name)[:65_536])


@pytest.mark.parametrize("head", [b"", bytes(100), b"[2026-11-28 14:10:04,343] INFO " * 3, b"\x1f\x8b\x08" + bytes(60)])
def test_other_files_are_no_segments(head: bytes, three: bytes) -> None:
    assert not segments.is_segment(head)
    assert not segments.is_segment(three[:30] + b"\xff" + three[31:])


def bit_by_bit(data: bytes) -> int:
    """The checksum as its definition computes it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 127, 1_023, 1_024, 1_025, 1_027, 1_028, 2_048, 3_000])
def test_the_checksum_is_the_same_with_and_without_numpy(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes((7 * number + (number >> 8)) & 0xFF for number in range(size))
    expected = bit_by_bit(data)
    assert crc32c.crc32c(data) == expected
    monkeypatch.setattr(crc32c, "_blocks", lambda: None)
    assert crc32c.crc32c(memoryview(data)) == expected


def test_the_checksum_is_castagnolis() -> None:
    assert crc32c.crc32c(b"123456789") == 0xE3069283
    assert crc32c.crc32c(b"123456789") != zlib.crc32(b"123456789")
