"""Statuses of connectors as REST shows them, in the shapes in which people save its replies."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from rebalance_check.pipeline.diagnose.dumps import rest
from rebalance_check.pipeline.diagnose.dumps.rest import is_rest, read_rest
from rebalance_check.pipeline.diagnose.facts import NotUnderstood, StatusRecorded

Read = Callable[..., list[Any]]
STATUS: dict[str, Any] = {
    "name": "a-b",
    "connector": {"state": "RUNNING", "worker_id": "w0:8083"},
    "tasks": [
        {"id": 0, "state": "RUNNING", "worker_id": "w0:8083"},
        {"id": 11, "state": "FAILED", "worker_id": "w1:8083", "trace": "java.lang.X: no\n\tat y"},
    ],
    "type": "source",
}
ROWS = [("a-b", "RUNNING", "w0:8083", ""), ("a-b-0", "RUNNING", "w0:8083", ""),
        ("a-b-11", "FAILED", "w1:8083", "java.lang.X: no\n\tat y")]  # fmt: skip
INFO = {"name": "a-b", "config": {"database.password": "hunter2"}, "tasks": [{"connector": "a-b", "task": 0}]}
EXPANDED = {"a-b": {"status": STATUS, "info": INFO}}


def rows(facts: list[Any]) -> list[tuple[str, str, str, str]]:
    return [(fact.work, fact.state, fact.worker, fact.trace) for fact in facts]


@pytest.mark.parametrize(
    ("text", "time_ms"),
    [
        (json.dumps(STATUS), None),
        (json.dumps(STATUS, indent=2), None),
        (json.dumps(EXPANDED), None),
        (json.dumps(EXPANDED, indent=4), None),
        (json.dumps([STATUS], indent=1), None),
        ("HTTP/1.1 200 OK\r\nDate: Sat, 28 Nov 2026 14:10:21 GMT\r\n\r\n" + json.dumps(STATUS), 1795875021000),
        ("Sat Nov 28 14:10:21 UTC 2026\n" + json.dumps(STATUS), 1795875021000),
        (json.dumps({"at_ms": 17, "asked": "w1", "code": 200, "body": EXPANDED}), 17),
        (json.dumps({"time": "2026-11-28T14:10:21Z", "response": STATUS}), 1795875021000),
        (json.dumps({"ts": 1795875021.5, "body": [STATUS]}), 1795875021500),
    ],
)
def test_a_reply_is_read_in_each_shape(text: str, time_ms: int | None, read: Read) -> None:
    facts = read(read_rest, "r", text)
    assert all(isinstance(fact, StatusRecorded) for fact in facts)
    assert rows(facts) == ROWS
    assert {(fact.time_ms, fact.generation) for fact in facts} == {(time_ms, None)}
    assert "hunter2" not in "".join(map(repr, facts)) + "".join(fact.place.text for fact in facts)
    assert is_rest(text)


def test_many_replies_follow_one_another(read: Read) -> None:
    facts = read(read_rest, "r", json.dumps(STATUS) + json.dumps(STATUS) + "\n" + json.dumps(EXPANDED, indent=2))
    assert rows(facts) == ROWS * 3
    assert [fact.place.number for fact in facts] == [1] * 6 + [2] * 3


def test_a_log_of_replies_with_their_times_is_read(read: Read) -> None:
    facts = read(read_rest, "connect-3.9.2/rest-status.jsonl")
    assert len(facts) == 168
    assert {(fact.worker, fact.state) for fact in facts if fact.work == "demo-1"} == {
        ("127.0.0.1:52139", "RUNNING"), ("127.0.0.1:52139", "PAUSED"), ("127.0.0.1:52139", "FAILED"),
        ("127.0.0.1:47863", "RUNNING"),
    }  # fmt: skip
    assert (facts[0].time_ms, facts[0].place.text) == (1795875140697, "w1: demo RUNNING 127.0.0.1:47863")
    failed = next(fact for fact in facts if fact.state == "FAILED")
    assert failed.trace.startswith("java.lang.IllegalStateException: ")


def test_a_status_of_the_field_is_read(read: Read) -> None:
    assert rows(read(read_rest, "field/connect-status.json")) == [
        ("mm2", "RUNNING", "w0:8083", ""), ("mm2-0", "UNASSIGNED", "w1:8083", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (json.dumps(STATUS)[:-20], "the JSON document has no end"),
        (json.dumps(STATUS, indent=2)[:-20], "the JSON document has no end"),
        (json.dumps(STATUS).replace('"a-b"', "a-b"), "the JSON of a status is damaged"),
        (json.dumps({**STATUS, "name": None, "tasks": []}).replace("null", '""'), "a status of '' lacks the name"),
    ],
)
def test_a_damaged_reply_is_noted_and_the_next_is_read(text: str, why: str, read: Read) -> None:
    note, *facts = read(read_rest, "r", f"{text}\n{json.dumps(STATUS)}")
    assert isinstance(note, NotUnderstood)
    assert why in note.why
    if "\n" not in text:
        assert rows(facts) == ROWS


def test_a_document_that_is_too_long_is_noted(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "_LONGEST", 100)
    notes = read(read_rest, "r", json.dumps(STATUS, indent=2))
    assert {note.why for note in notes} == {"a JSON document has more than 100 characters"}


@pytest.mark.parametrize("task", [None, 7, {"state": "RUNNING"}, {"id": 3}, {"id": 3, "state": None}])
def test_a_task_without_its_number_or_state_is_noted(task: Any, read: Read) -> None:
    connector, note = read(read_rest, "r", json.dumps({**STATUS, "tasks": [task]}))
    assert rows([connector]) == ROWS[:1]
    assert isinstance(note, NotUnderstood)


@pytest.mark.parametrize("text", ['{"error_code":404,"message":"No status found"}', "[]", "{}", "no JSON", '["a-b"]'])
def test_other_replies_say_nothing(text: str, read: Read) -> None:
    assert read(read_rest, "r", text) == []
    assert not is_rest(text)
