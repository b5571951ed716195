"""Histories of format 1 become histories of the present format, and a format that is not known is refused by number."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalance_check.cli import run
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    FORMAT,
    AssignmentComputed,
    Event,
    HeartbeatReplied,
    JoinGroupReplied,
    MemberJoined,
    RunStarted,
)
from rebalance_check.properties.convert import convert_file, convert_line
from rebalance_check.properties.history import decode, encode, read_history
from rebalance_check.properties.malformed import MalformedHistory

OLD: dict[bytes, Event] = {
    b'{"event":"RunStarted","subject":"simulator","seed":7}': RunStarted(subject="simulator", seed=7),
    b'{"event":"JoinGroupReplied","incarnation":0,"generation":1,"request":3,"error":"NONE","asked":0,"told":1,'
    b'"given_id":"a","leader":"a","shown":["a"],"skip":true}': JoinGroupReplied(
        incarnation=0, generation=1, request=3, error="NONE", request_generation=0, reply_generation=1,
        assigned_member_id="a", leader="a", listed_members=("a",), skip_assignment=True,
    ),
    b'{"event":"HeartbeatReplied","incarnation":0,"generation":1,"request":4,"error":"NONE","asked":1}':
        HeartbeatReplied(incarnation=0, generation=1, request=4, error="NONE", request_generation=1),
    b'{"event":"MemberJoined","member":"m0","generation":2,"claims":["t-0"]}':
        MemberJoined(member="m0", generation=2, owned_partitions=("t-0",)),
    b'{"event":"AssignmentComputed","member":"m0","generation":2,"claims":[["a",["t-0"]]],"claim_generations":[["a",1]]}':
        AssignmentComputed(
            member="m0", generation=2, owned_partitions=(("a", ("t-0",)),), owned_generations=(("a", 1),)
        ),
}  # fmt: skip


@pytest.mark.parametrize(("line", "event"), OLD.items(), ids=[type(event).__name__ for event in OLD.values()])
def test_a_line_of_format_1__is_rewritten_once(line: bytes, event: Event) -> None:
    converted = convert_line(line + b"\n")
    assert decode(converted) == event
    assert convert_line(converted) == converted


def test_an_old_field__is_refused_by_the_reader__which_names_the_command() -> None:
    line = b'{"event":"HeartbeatReplied","incarnation":0,"generation":1,"request":4,"error":"NONE","asked":1}'
    with pytest.raises(MalformedHistory, match=r"'asked', which is 'request_generation' since format 2.*convert"):
        decode(line)


@pytest.mark.parametrize("fields", [b"", b',"a_field_of_the_future":1'])
def test_a_newer_format__is_refused_by_its_number(fields: bytes) -> None:
    line = b'{"event":"RunStarted","subject":"simulator","format":%d%s}' % (FORMAT + 1, fields)
    with pytest.raises(MalformedHistory, match=f"has format {FORMAT + 1}, and this version .* reads format {FORMAT}"):
        decode(line)
    with pytest.raises(MalformedHistory, match=f"has format {FORMAT + 1}"):
        convert_line(line)


def test_an_older_format_by_its_number__names_the_command() -> None:
    with pytest.raises(MalformedHistory, match=f"has format 1, not {FORMAT}: run `rebalance-check convert`"):
        decode(b'{"event":"RunStarted","subject":"simulator","format":1}')


def test_a_file__is_replaced_whole__and_left_alone_when_a_line_is_malformed(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(b"".join(line + b"\n" for line in OLD))
    bad.write_bytes(next(iter(OLD)) + b'\n{"event":"Nonsense"}\n')
    before = bad.read_bytes()
    assert convert_file(good) == len(OLD)
    assert list(read_history(good)) == list(OLD.values())
    assert convert_file(good) == 0
    with pytest.raises(MalformedHistory, match=r"bad\.jsonl, line 2: 'Nonsense' is no event"):
        convert_file(bad)
    assert bad.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", "good.jsonl"]


def test_a_file_that_is_not_there__is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RebalanceCheckError, match="cannot be converted into"):
        convert_file(tmp_path / "none.jsonl")


def test_the_command__writes_elsewhere_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = tmp_path / "old.jsonl"
    history.write_bytes(b"".join(line + b"\n" for line in OLD))
    before = history.read_bytes()
    assert run(["convert", str(history), "--out", str(tmp_path / "new")]) == 0
    assert "format 2, 5 lines changed" in capsys.readouterr().out.replace("\n", "")
    assert history.read_bytes() == before
    assert list(read_history(tmp_path / "new" / "old.jsonl")) == list(OLD.values())
    assert run(["convert", str(history), str(history), "--out", str(tmp_path / "two")]) == 2


def test_a_present_history__passes_byte_for_byte() -> None:
    for event in OLD.values():
        assert convert_line(encode(event) + b"\n") == encode(event)
