"""Folded commits and plain facts give the same notes, folds and findings, by columns and record by record."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.pipeline.diagnose.commits import Commits, CommitsFolded
from rebalance_check.pipeline.diagnose.diagnosis import of_sources
from rebalance_check.pipeline.diagnose.dumps import columns, folding
from rebalance_check.pipeline.diagnose.dumps.crc32c import crc32c
from rebalance_check.pipeline.diagnose.dumps.folding import fold_segment
from rebalance_check.pipeline.diagnose.dumps.records import record_facts
from rebalance_check.pipeline.diagnose.dumps.segments import log_of, read_segment
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, OffsetRecorded
from rebalance_check.pipeline.diagnose.findings.finding import Finding
from rebalance_check.pipeline.diagnose.generator.generate import Plan, generate
from rebalance_check.pipeline.diagnose.generator.records import Pair, batch, commit_pair
from rebalance_check.pipeline.diagnose.sources import Source, read_file

DATA = Path(__file__).parents[3] / "data" / "diagnose" / "dumps"
TRANSACTIONAL, CONTROL, APPEND_TIME = 0x10, 0x20, 0x08
NAME = "__consumer_offsets-7"


@dataclass(frozen=True)
class Written:
    """A batch: pairs of keys and values, the distance of its time to the one before, and how it differs."""

    pairs: tuple[Pair, ...]
    later: int = 1
    attributes: int = 0
    producer: int = -1
    damaged: bool = False


def sealed(data: bytes, attributes: int, producer: int) -> bytes:
    """The batch with these attributes, and a checksum that covers them."""
    found = bytearray(data)
    struct.pack_into(">h", found, 21, attributes)
    struct.pack_into(">q", found, 43, producer)
    struct.pack_into(">I", found, 17, crc32c(bytes(found[21:])))
    return bytes(found)


def segment(batches: Sequence[Written], base: int = 0, time_ms: int = 1_000) -> tuple[bytes, int, int]:
    """The bytes of these batches, and the offset and the time behind them."""
    data = bytearray()
    for one in batches:
        time_ms += one.later
        made = sealed(batch(base, time_ms, one.pairs)[0], one.attributes, one.producer)
        data += made[:-1] + bytes([made[-1] ^ 1]) if one.damaged else made
        base += len(one.pairs)
    return bytes(data), base, time_ms


def marker(committed: bool, producer: int) -> Written:
    pair = struct.pack(">hh", 0, int(committed)), bytes(6)
    return Written((pair,), attributes=TRANSACTIONAL | CONTROL, producer=producer)


def commit(group: str, partition: int, offset: int | None) -> Pair:
    key, value = commit_pair(group, "t", partition, offset or 0, 5)
    return key, None if offset is None else value


COMMITS = st.builds(
    commit, st.sampled_from(["a", "b"]), st.integers(0, 1), st.none() | st.integers(0, 9) | st.just(1 << 62)
)
OTHERS = st.sampled_from(
    [
        (b"\x00\x01\x00\x01g\x00\x01t\x00\x00", b"cut key"), (commit("a", 0, 1)[0], b"\x00\x03short"),
        (commit("a", 0, 1)[0], b"\x00\x09" + bytes(40)), (b"", b"no key"), (b"\x00\x02\x00\x01a", None),
        (b"\x00\x02\x00\x01a", b"\x00\x01"), (b"\x00\x63\x00\x01a", b""),
    ]
)  # fmt: skip
PAIRS = st.lists(COMMITS, min_size=1, max_size=5).map(tuple) | st.lists(COMMITS | OTHERS, min_size=1).map(tuple)
PLAIN = st.builds(Written, PAIRS, st.integers(0, 2), st.sampled_from([0, 0, APPEND_TIME]))
ODD = st.builds(
    Written, PAIRS, st.integers(-2_000, 3), st.just(TRANSACTIONAL), st.integers(1, 2)
) | st.builds(marker, st.booleans(), st.integers(1, 2)) | st.builds(Written, PAIRS, damaged=st.just(True))  # fmt: skip
WHOLE = st.tuples(st.builds(Written, PAIRS, st.just(0), st.just(TRANSACTIONAL), st.just(5)), st.booleans())
IN_ORDER = st.lists(PLAIN.map(lambda one: [one]) | WHOLE.map(lambda one: [one[0], marker(one[1], 5)]), max_size=25)


@contextmanager
def by_columns(chunk: int) -> Iterator[None]:
    """Columns for few records, too, in chunks of so many bytes."""
    with ExitStack() as stack:
        for module, name, value in (
            (folding, "CHUNK", chunk), (folding, "_FEW", 1), (columns, "_FEW", 1)
        ):  # fmt: skip
            stack.enter_context(patch.object(module, name, value))
        yield


@contextmanager
def record_by_record(_chunk: int) -> Iterator[None]:
    with patch.object(folding, "_libraries", lambda: None):
        yield


WAYS = [by_columns, record_by_record]


def folded(data: bytes, name: str = NAME) -> tuple[list[Fact | NotUnderstood], list[CommitsFolded]]:
    others: list[Fact | NotUnderstood] = []
    commits = Commits(log_of(name))

    def take(found: object) -> None:
        for one in found:  # type: ignore[attr-defined]  # an iterable of facts
            if isinstance(one, OffsetRecorded):
                commits.take(one)
            else:
                others.append(one)

    fold_segment(io.BytesIO(data), name, take, commits)
    return others, sorted(commits.facts(), key=lambda fact: (fact.group, fact.partition))


def plainly_folded(data: bytes, name: str = NAME) -> tuple[list[Fact | NotUnderstood], list[CommitsFolded]]:
    facts = list(read_segment(io.BytesIO(data), name))
    commits = Commits(log_of(name))
    for fact in facts:
        if isinstance(fact, OffsetRecorded):
            commits.take(fact)
    others = [fact for fact in facts if not isinstance(fact, OffsetRecorded)]
    return others, sorted(commits.facts(), key=lambda fact: (fact.group, fact.partition))


def everything(folds: Sequence[CommitsFolded]) -> list[tuple[object, ...]]:
    """All fields, those that equality passes over, too."""
    return [tuple(getattr(fold, name) for name in CommitsFolded.__dataclass_fields__) for fold in folds]


@pytest.mark.parametrize("way", WAYS)
@given(batches=st.lists(PLAIN | ODD, max_size=30), chunk=st.integers(300, 5_000), cut=st.integers(0, 200))
def test_both_ways_give_the_facts_notes_and_folds_of_plain_reading(
    way: Callable[[int], ExitStack], batches: list[Written], chunk: int, cut: int
) -> None:
    data = segment(batches)[0]
    data = data[: len(data) - cut] if cut < 100 else data + bytes(cut)
    with way(chunk):
        others, folds = folded(data)
    expected_others, expected = plainly_folded(data)
    assert others == expected_others
    assert everything(folds) == everything(expected)


def findings(sources: list[Source]) -> list[Finding]:
    return of_sources(sources).findings


@given(files=st.lists(IN_ORDER, min_size=1, max_size=3), copies=st.sets(st.integers(0, 2)), chunk=st.integers(300, 900))
def test_folded_and_plain_sources_have_the_same_findings(
    files: list[list[list[Written]]], copies: set[int], chunk: int
) -> None:
    base, time_ms = 0, 1_000
    plain, folds = [], []
    for number, ordered in enumerate(files):
        data, base, time_ms = segment([one for some in ordered for one in some], base, time_ms + 1)
        for copy in range(2 if number in copies else 1):
            name = f"broker-{copy}/{NAME}/{number}"
            facts = [fact for fact in read_segment(io.BytesIO(data), name) if not isinstance(fact, NotUnderstood)]
            plain.append(Source(name, facts=facts))
            source = Source(name, commits=Commits(log_of(name)))
            with by_columns(chunk):
                fold_segment(io.BytesIO(data), name, source.take, source.commits)
            folds.append(source)
    assert findings(folds) == findings(plain)


def test_commits_that_go_back_within_and_between_segments_are_found() -> None:
    back = [commit("a", 0, 10), commit("a", 0, 4), commit("a", 1, 5), commit("a", 1, 5)]
    first, base, time_ms = segment([Written((pair,)) for pair in back])
    second, _, _ = segment([Written((commit("a", 1, 3),))], base, time_ms)
    sources = []
    for number, data in enumerate([second, first, first]):  # in any order, and one of them twice
        source = Source(f"{NAME}/{number}", commits=Commits(NAME))
        fold_segment(io.BytesIO(data), source.name, source.take, source.commits)
        sources.append(source)
    (finding,) = findings(sources)
    assert finding.title == "the committed offset went back in t-0, t-1"
    assert (finding.since_ms, finding.until_ms) == (1_002, 1_005)
    assert [place.number for place in finding.evidence] == [1, 4]


def test_a_commit_that_its_transaction_makes_valid_late_sets_nothing_back() -> None:
    late = Written((commit("a", 0, 3),), attributes=TRANSACTIONAL, producer=1)
    data = segment([late, Written((commit("a", 0, 8),)), marker(True, 1), Written((commit("a", 0, 9),))])[0]
    (fold,) = folded(data)[1]
    assert (fold.count, fold.last, fold.back) == (3, 9, ())


@pytest.mark.parametrize("path", sorted(DATA.glob("*/segment-*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_recorded_segments_are_folded_as_they_are_read(path: Path) -> None:
    data = path.read_bytes()
    expected = plainly_folded(data, path.name)
    for way in WAYS:
        with way(2_000):
            others, folds = folded(data, path.name)
        assert others == expected[0]
        assert everything(folds) == everything(expected[1])
    assert expected[0] + expected[1]


def test_thousands_of_commits_are_no_thousands_of_objects(tmp_path: Path) -> None:
    made = generate(tmp_path / "made", Plan(groups=4, commits=40_000, offsets_partitions=1, problems={}, hours=2))
    (path,) = (tmp_path / "made").glob("broker-*/*/*.log")
    with patch.object(folding, "record_facts", wraps=record_facts) as plainly:
        source = read_file(path)
    assert source.commits.count == made.commits > 39_000
    assert len(source.commits.folds) == 4 * Plan().topic_partitions
    assert plainly.call_count == len(source.facts) - 1  # the first record shows which topic it is
