"""No reader fails: cut, changed or random input gives facts and notes, and nothing is raised."""

import io
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.pipeline.diagnose.dumps.batches import LOG_OVERHEAD, batch_of, records_of
from rebalance_check.pipeline.diagnose.dumps.console import is_console, read_console
from rebalance_check.pipeline.diagnose.dumps.describe import is_describe, read_describe
from rebalance_check.pipeline.diagnose.dumps.dump_log import is_dump_log, read_dump_log
from rebalance_check.pipeline.diagnose.dumps.records import kind_of, record_facts
from rebalance_check.pipeline.diagnose.dumps.rest import is_rest, read_rest
from rebalance_check.pipeline.diagnose.dumps.segments import is_segment, read_segment
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood

DATA = Path(__file__).parents[3] / "data" / "diagnose" / "dumps"
Reader = Callable[[Iterable[tuple[int, str]], str], Iterator[Any]]
READERS: dict[str, tuple[Reader, Callable[[str], bool]]] = {
    "console": (read_console, is_console),
    "describe": (read_describe, is_describe),
    "dump_log": (read_dump_log, is_dump_log),
    "rest": (read_rest, is_rest),
}
TEXTS = [path for path in sorted(DATA.rglob("*")) if path.suffix in {".dump", ".table", ".json", ".jsonl"}]
LINES = [line for path in TEXTS for line in path.read_text(encoding="utf-8").split("\n") if line]
SEGMENTS = sorted(DATA.rglob("segment-*.log"))
PIECES = st.sampled_from([
    '{"key":{"type":2,"data":{"group":"g"}},"value":', "}", '"', "\\", "\t", "\x00", "\ud800", "[", "]", "{", "::NULL",
    "GROUP  STATE", "TOPIC PARTITION CURRENT-OFFSET", "#PARTITIONS", " key: ", " payload: ", "| offset: 3 ",
    "| offset: 3 CreateTime: 9 key: ", "status-task-a-0\t", "commit-a\t{", "9" * 5_000, "-", "\u0669", "٣",
    '"connector":{"state":', "Consumer group '' is rebalancing", "a" * 300 + "\n",
])  # fmt: skip


LONG_LINES = [
    "[" * 100_000,
    '{"key":{"type":' + "[" * 100_000,
    '{"connector":' * 20_000,
    "- " * 50_000,
    "'" + "Consumer group 'g " * 5_000,
    "[" + "a,t,1]::" * 5_000 + "OffsetAndMetadata(offset=",
    "status-task-" + "a: " * 30_000,
    '"' * 100_000,
    '"\\' * 50_000,
    "g::GroupMetadata(groupId=" + "MemberMetadata(memberId=" * 5_000,
]


def read_all(reader: Reader, lines: list[str]) -> list[Any]:
    found = list(reader(enumerate(lines, start=1), "x"))
    assert all(isinstance(each, Fact | NotUnderstood) and each.place.source == "x" for each in found)
    assert all(0 <= each.place.number <= len(lines) for each in found if isinstance(each, NotUnderstood))
    return found


def changed(text: str, choice: random.Random) -> str:
    """A text without its end, or with characters put in or left out."""
    for _ in range(choice.randint(1, 4)):
        at = choice.randint(0, len(text))
        match choice.randrange(4):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + text[at + choice.randint(1, 9) :]
            case 2:
                text = text[:at] + choice.choice('{}[]",:0-\\ \t\x00é') + text[at:]
            case _:
                text = text[:at] + text[max(0, at - 30) :]
    return text


@pytest.mark.parametrize("name", READERS)
@given(st.randoms(use_true_random=False))
def test_changed_lines_of_all_samples(name: str, choice: random.Random) -> None:
    reader, recognised = READERS[name]
    lines = [changed(choice.choice(LINES), choice) for _ in range(choice.randint(1, 12))]
    read_all(reader, lines)
    recognised("\n".join(lines))


@pytest.mark.parametrize("name", READERS)
@given(st.lists(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=8).map("".join), max_size=8))
def test_lines_of_pieces(name: str, lines: list[str]) -> None:
    reader, recognised = READERS[name]
    read_all(reader, lines)
    recognised("\n".join(lines))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("line", LONG_LINES)
def test_deep_and_long_lines(name: str, line: str) -> None:
    read_all(READERS[name][0], ["GROUP  STATE", f"| offset: 1 CreateTime: 2 key: {line}", line])


@given(st.binary(max_size=300))
def test_random_bytes_are_no_segment(data: bytes) -> None:
    assert all(isinstance(each, Fact | NotUnderstood) for each in read_segment(io.BytesIO(data), "x"))
    is_segment(data)


@pytest.mark.parametrize("path", SEGMENTS, ids=lambda path: path.parent.name + path.stem[-2:])
@given(st.randoms(use_true_random=False))
def test_changed_segments(path: Path, choice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(choice.randint(1, 5)):
        at = choice.randrange(len(data))
        data[at] = choice.randrange(256)
    cut = bytes(data[: choice.randint(0, len(data))])
    found = list(read_segment(io.BytesIO(cut), "x"))
    assert all(isinstance(each, Fact | NotUnderstood) for each in found)
    is_segment(cut[:65_536])


KEYS = st.one_of(
    st.binary(max_size=40),
    st.builds(lambda number, rest: number.to_bytes(2, "big") + rest, st.integers(0, 30), st.binary(max_size=60)),
    st.builds(lambda head, rest: head + rest,
              st.sampled_from([b"status-task-", b"status-topic-", b"commit-", b"target-state-", b"task-"]),
              st.binary(max_size=20)),
)  # fmt: skip


@given(KEYS, st.one_of(st.none(), st.binary(max_size=200)))
def test_any_record(key: bytes, value: bytes | None) -> None:
    kind_of(key)
    facts = record_facts(key, value, source="x", offset=0, time_ms=0)
    assert all(isinstance(each, Fact | NotUnderstood) for each in facts)


def damaged_values() -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of records of a sample, each with one part cut out."""
    kept: list[tuple[bytes, bytes]] = []
    data, at = SEGMENTS[-1].read_bytes(), 0
    while at + LOG_OVERHEAD < len(data) and len(kept) < 80:
        end = at + LOG_OVERHEAD + int.from_bytes(data[at + 8 : at + LOG_OVERHEAD], "big")
        if end <= len(data):
            kept += [(record.key or b"", record.value or b"") for record in records_of(batch_of(data[at:end]))]
        at = end
    yield from kept


RECORDS = list(damaged_values())


@given(st.sampled_from(RECORDS), st.randoms(use_true_random=False))
def test_damaged_records_of_groups(pair: tuple[bytes, bytes], choice: random.Random) -> None:
    key, value = pair
    changes = bytearray(value)
    for _ in range(choice.randint(0, 3)):
        if changes:
            changes[choice.randrange(len(changes))] = choice.randrange(256)
    cut = bytes(changes[: choice.randint(0, len(changes))])
    facts = record_facts(key, cut, source="x", offset=0, time_ms=None)
    assert facts
    assert all(isinstance(each, Fact | NotUnderstood) for each in facts)
