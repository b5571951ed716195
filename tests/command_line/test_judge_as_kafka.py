"""``judge --as-kafka``: a recorded group's replies are held to the reference coordinator."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.model.vocabulary.events import Event, ReplyObserved, RequestObserved
from rebalance_check.properties.history import write_history

Command = Callable[..., Any]

JOIN = RequestObserved(
    group="g", source="wire", seq=0, request=1, connection=1, api="JoinGroup", version=3, client_id="c",
    session_timeout_ms=10_000, rebalance_timeout_ms=10_000, protocol_type="consumer", protocols=("range",),
)  # fmt: skip
JOINED = ReplyObserved(
    group="g", source="wire", seq=1, request=1, connection=1, api="JoinGroup", reply_generation=1,
    assigned_member_id="c-1", leader="c-1", protocol="range", members=(("c-1", ""),),
)  # fmt: skip


@pytest.mark.parametrize(
    ("events", "code", "said"),
    [
        ((JOIN, JOINED), 0, "as Kafka, group g: 1 replies accepted"),
        ((JOIN, replace(JOINED, protocol="roundrobin")), 10, "as Kafka, group g: reply 1 is refused"),
        ((replace(JOIN, member_id="c-1"), JOINED), 12, "as Kafka, group g: undecided: the record begins with a"),
    ],
    ids=["accepted", "refused", "an older group"],
)  # fmt: skip
def test_the_reply_that_no_kafka_coordinator_gives_is_named(
    command: Command, tmp_path: Path, events: tuple[Event, ...], code: int, said: str
) -> None:
    write_history(tmp_path / "history.jsonl", events)
    answer = command("judge", tmp_path / "history.jsonl", "--as-kafka", "--exclude", "wire_metadata_is_readable")
    assert said in answer.out
    assert answer.code == code
    assert ("verdict: violated: as_kafka" in answer.out) is (code == 10)


def test_the_json_form_has_both_replies(command: Command, tmp_path: Path) -> None:
    write_history(tmp_path / "history.jsonl", (JOIN, replace(JOINED, protocol="roundrobin")))
    answer = command("judge", tmp_path / "history.jsonl", "--as-kafka", "--json")
    (found,) = json.loads(answer.out)["as_kafka"]
    assert (found["group"], found["outcome"], found["refusal"]["reply"]) == ("g", "violated", 1)
    assert "protocol=roundrobin" in found["refusal"]["given"]
    assert "protocol=range" in found["refusal"]["expected"][0]
