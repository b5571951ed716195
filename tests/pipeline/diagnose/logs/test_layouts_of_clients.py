"""Layouts that the logs of clients and workers bring: logfmt, fields of JSON, loggers at the end of a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_check.pipeline.diagnose.logs.logfmt import logfmt
from rebalance_check.pipeline.diagnose.logs.records import LogRecord, records
from rebalance_check.pipeline.diagnose.logs.sentences import file_name

HERDER = "org.apache.kafka.connect.runtime.distributed.DistributedHerder"


def one(line: str) -> LogRecord:
    (record,) = records([(1, line)], "a.log")
    return record


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"2022-01-21 07:21:15,022 INFO   ||  Starting task a-0   [{HERDER}]", "INFO   ||  Starting task a-0"),
        (f"2022-01-21 07:21:15,022 INFO Starting task a-0 ({HERDER}) [main]", "INFO Starting task a-0"),
        (f"[2022-01-21 07:21:15,022] INFO Starting task a-0 ({HERDER}:2024)", "INFO Starting task a-0"),
    ],
)
def test_a_logger_at_the_end(line: str, message: str) -> None:
    record = one(line)
    assert (record.logger, record.message, record.time_ms) == (HERDER, message, 1_642_749_675_022)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("a.log", "a"), ("/var/log/a.b.log.gz", "a.b"), ("a.log.2026-11-28-14", "a"), ("a.txt", "a"), ("a", "a"),
        (".log", ".log"), ("C:\\\\logs\\\\a.log", "a"), ("compose.log[web-1]", "compose[web-1]"),
    ],
)  # fmt: skip
def test_the_name_of_a_file_stands_for_a_client(source: str, name: str) -> None:
    assert file_name(source) == name


def test_topics_in_brackets_are_no_logger() -> None:
    assert one("2022-01-21 07:21:15,022 INFO topics [a.b]").message == "INFO topics [a.b]"


def test_logfmt() -> None:
    record = one(
        'time=2026-11-29T23:47:36.732Z level=INFO msg="new \\"x\\" begun" group=g empty= list="a, b" msg=second'
    )
    assert (record.time_ms, record.message) == (1_795_996_056_732, 'new "x" begun')
    assert record.fields["list"] == "a, b"
    assert (record.fields["group"], record.fields["empty"]) == ("g", "")


def test_the_fields_of_json() -> None:
    record = one('{"time":"2026-11-29T23:47:36.732Z","msg":"synced","assigned":{"t":[0]}}')
    assert (record.message, record.fields["assigned"]) == ("synced", {"t": [0]})


@pytest.mark.parametrize("line", ["[INFO] joined; group: g", "INFO:kafka.coordinator:(Re-)joining group g"])
def test_a_line_without_a_time_begins_a_record(line: str) -> None:
    assert [record.message for record in records([(1, line), (2, " more")], "a.log")] == [f"{line}\n more"]


@given(st.text(alphabet='abc="\\ \n', max_size=30))
def test_any_text_is_read_as_logfmt(text: str) -> None:
    assert all(name in text for name in logfmt(text))
    assert len(list(records([(1, f"level=x {text} msg={text}")], "a.log"))) == 1
