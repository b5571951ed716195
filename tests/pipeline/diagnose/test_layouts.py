"""Layouts of logs seen in production: each says the same as Kafka's own, and bad input loses nothing else."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.pipeline.diagnose.diagnosis import NOTHING_READ, diagnose
from rebalance_check.pipeline.diagnose.facts import Fact, Place
from rebalance_check.pipeline.diagnose.logs.mixed import ProcessLogs
from rebalance_check.pipeline.diagnose.logs.records import LogRecord, records
from rebalance_check.pipeline.diagnose.logs.stamps import Stamp, stamp
from rebalance_check.pipeline.diagnose.sources import Source, expanded, read_family, read_file

LOGS: Final = Path("tests/data/diagnose/logs")
PLAIN: Final = LOGS / "broker/3.9.2/pay-polltimeout.log"
NOWHERE: Final = Place("", 0)
SECONDS_ONLY: Final = {"no-millis.log"}


def said(source: Source, *, precise: bool = True) -> list[Fact]:
    """The facts without their places."""
    unit = 1 if precise else 1_000
    return [replace(fact, place=NOWHERE, time_ms=(fact.time_ms or 0) // unit) for fact in source.facts]


@pytest.mark.parametrize("layout", sorted((LOGS / "layouts/derived").glob("*.log")), ids=lambda path: path.stem)
def test_an_envelope_changes_no_fact(layout: Path) -> None:
    precise = layout.name not in SECONDS_ONLY
    assert said(read_file(layout), precise=precise) == said(read_file(PLAIN), precise=precise)


def test_rotated_files_are_one_log__in_the_order_of_their_times() -> None:
    (family,) = expanded([LOGS / "layouts/derived/rotated"])
    sources = read_family(family)
    assert [source.name for source in sources] == ["server.log.2026-11-28-13.gz", "server.log"]
    whole = read_file(LOGS / "broker/3.9.2/orders-churn.log")
    assert [fact for source in sources for fact in said(source)] == said(whole)


@pytest.mark.parametrize("release", ["3.9.2", "4.3.1"])
def test_zones_without_a_name_are_found_by_shared_generations(release: str) -> None:
    files = sorted((LOGS / "layouts").glob(f"{release}-*.log"))
    diagnosis = diagnose(files)
    clocks = {clock.source: clock for clock in diagnosis.clocks}
    assert clocks[f"{release}-alpha-a1.log"].shift_ms == -int(5.5 * 3_600_000)
    assert clocks[f"{release}-beta-b1.log"].shift_ms == 0
    assert clocks[f"{release}-alpha-a2.log"].untimed
    assert {group.group.name for group in diagnosis.groups} == {"alpha", "beta"}
    for one in diagnosis.groups:
        assert [str(each.trigger.cause) for each in one.group.rebalances] == [
            "a new member", "a new member",
            "a member's session timed out" if one.group.name == "alpha" else "a member closed", "a member closed",
        ]  # fmt: skip
        assert not [finding for finding in one.findings if finding.severity.value != "note"]


STAMPS: Final = [
    ("[2026-11-28 14:10:03,233] INFO", 1_795_875_003_233, False, True),
    ("2026-11-28T09:10:03.233-05:00 INFO", 1_795_875_003_233, True, True),
    ("2026-11-28T14:10:03.233123456Z x", 1_795_875_003_233, True, True),
    ("2026-11-28T14:10:03.233+0000", 1_795_875_003_233, True, True),
    ("2026/11/28 14:10:03.233456 text", 1_795_875_003_233, False, True),
    ("2026-11-28 14:10:03 INFO", 1_795_875_003_000, False, True),
    ("%7|1795875003.233|CGRP|", 1_795_875_003_233, True, True),
    ("14:10:03.233 [main]", 51_003_233, False, False),
]


@pytest.mark.parametrize(("text", "time_ms", "zoned", "dated"), STAMPS)
def test_a_stamp(text: str, time_ms: int, zoned: bool, dated: bool) -> None:
    found = stamp(text)
    assert found == Stamp(time_ms, zoned, dated, exact=",2" in text or ".2" in text, end=found.end if found else 0)


@pytest.mark.parametrize("text", ["", "[2026-13-28 14:10:03,233] INFO", "no stamp", "20:61 x", "[main] INFO x - y"])
def test_no_stamp(text: str) -> None:
    assert stamp(text) is None


def test_a_time_of_day_goes_on_over_midnight() -> None:
    lines = ["23:59:59.900 [main] INFO a - b", "00:00:00.100 [main] INFO a - c"]
    first, second = records(enumerate(lines, 1), "x")
    assert (second.time_ms or 0) - (first.time_ms or 0) == 200


def test_lines_without_a_stamp_belong_to_the_record_before__of_their_own_container() -> None:
    lines = ["a-1  | 2026-11-28 14:10:03,233 INFO one", "b-1  | 2026-11-28 14:10:03,234 INFO two", "a-1  | \tat more"]
    found = {record.process: record.message for record in records(enumerate(lines, 1), "x")}
    assert found == {"a-1": "INFO one\n\tat more", "b-1": "INFO two"}


# ------------------------------------------------------------------------------------------------------------ bad input


def test_a_file_that_is_cut_in_the_middle_of_its_compression_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = gzip.compress(PLAIN.read_bytes() * 50)
    (tmp_path / "server.log.gz").write_bytes(whole[: len(whole) // 2])
    (source,) = read_family([tmp_path / "server.log.gz"])
    assert source.facts
    assert source.fault.startswith("reading ends after line")


@pytest.mark.parametrize(("content", "fault"), [
    (b"", "the file is empty"),
    (b"\x7fELF\x02\x01\x01\x00" * 100, "binary"),
    (b"\x1f\x8b\x08\x00broken", "its compression is damaged"),
])  # fmt: skip
def test_a_file_that_is_no_text_is_said_to_be_so(content: bytes, fault: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    diagnosis = diagnose([tmp_path / "x", PLAIN])
    assert [source.fault for source in diagnosis.sources if fault in source.fault]
    assert diagnosis.groups
    assert diagnose([tmp_path / "x"]).exit_code() == NOTHING_READ


def test_a_missing_file_hides_no_other() -> None:
    diagnosis = diagnose([Path("no-such.log"), PLAIN])
    assert [source.fault for source in diagnosis.sources] == ["", "no such file or folder"]


LINES: Final = [
    line
    for path in [PLAIN, LOGS / "client/java-3.9.2/pay-polltimeout-m2.log"]
    for line in path.read_text().splitlines()
]


@given(
    st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=80)), max_size=30),
    st.integers(0, 40),
    st.integers(0, 200),
)
def test_mangled_lines_never_stop_the_reader(lines: list[str], at: int, cut: int) -> None:
    mangled = [line[:cut] if place == at else line for place, line in enumerate(lines)]
    reader = ProcessLogs()
    found: list[LogRecord] = list(records(enumerate(mangled, 1), "x"))
    for record in found:
        for _kind, one in reader.read(record):
            assert one.place.source.startswith("x")
