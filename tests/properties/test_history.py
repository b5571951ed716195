"""Histories on disk: what is written is read back, and what cannot be understood is refused with a helpful sentence."""

from __future__ import annotations

import dataclasses
import json
import random
import typing
from collections.abc import Callable
from pathlib import Path

import jsonschema  # type: ignore[import-untyped] # ships no types
import pytest

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import EVENT_TYPES, Event, MemberStarted, OffsetCommitted, RequestAnswered
from rebalance_check.properties.history import (
    decode,
    encode,
    read_history,
    recorded,
    write_history,
)
from rebalance_check.properties.malformed import MalformedHistory
from rebalance_check.properties.schema import history_schema

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(history_schema())
NAMES = ["", "m0", 't-0"\\', "ä\n", "{step}"]
ANSWER = RequestAnswered(
    group="g", source="m0", seq=3, time_ms=7, member="m0", api="JoinGroup", request=2, error=None, generation=4,
    leader="m1", members=(("m0", ("t-0", "t-1")), ("m1", ())), assignment=("t-0",),
)  # fmt: skip


def value(hint: object, rng: random.Random) -> object:
    """Any value of a type that events use."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        return rng.choice(arguments)
    if arguments[1:] == (...,):
        return tuple(value(arguments[0], rng) for _ in range(rng.randrange(3)))
    if typing.get_origin(hint) is tuple:
        return tuple(value(argument, rng) for argument in arguments)
    if arguments:
        return value(rng.choice(arguments), rng)
    simple = {str: rng.choice(NAMES), int: rng.randrange(-1, 1 << 40), bool: rng.random() < 0.5, type(None): None}
    return simple[typing.cast("type", hint)]


def any_event(event_type: type[Event], rng: random.Random) -> Event:
    hints = typing.get_type_hints(event_type)
    return event_type(**{f.name: value(hints[f.name], rng) for f in dataclasses.fields(event_type)})  # type: ignore[arg-type] # drawn by hint


@pytest.mark.parametrize("event_type", EVENT_TYPES.values(), ids=EVENT_TYPES.keys())
def test_an_event__written_and_read__is_equal_and_fits_the_schema(event_type: type[Event]) -> None:
    rng = random.Random(event_type.__name__)
    for _ in range(4):
        event = any_event(event_type, rng)
        line = encode(event)
        assert decode(line) == event
        assert b"\n" not in line
        SCHEMA.validate(json.loads(line))


def test_a_line__is_the_tag_then_every_field_in_order() -> None:
    line = json.loads(encode(ANSWER))
    assert list(line) == ["event", *(f.name for f in dataclasses.fields(RequestAnswered))]
    assert line["members"] == [["m0", ["t-0", "t-1"]], ["m1", []]]


def test_a_line__fields_in_any_order_and_defaults_left_out__is_read() -> None:
    line = b' {"member": "m0", "seq": 4, "event": "MemberStarted"}'
    assert decode(line) == MemberStarted(member="m0", seq=4)


def test_a_history__written_then_read__is_equal(tmp_path: Path) -> None:
    rng = random.Random(1)
    events = [any_event(event_type, rng) for event_type in EVENT_TYPES.values()]
    path = tmp_path / "made" / "history.jsonl"
    assert write_history(path, events) == len(events)
    assert list(read_history(path)) == events


def test_a_history__whose_source_fails__keeps_what_came_before(tmp_path: Path) -> None:
    def fails() -> typing.Iterator[Event]:
        yield ANSWER
        raise ZeroDivisionError

    path = tmp_path / "history.jsonl"
    with pytest.raises(ZeroDivisionError):
        write_history(path, fails())
    assert list(read_history(path)) == [ANSWER]


def test_recorded__is_on_disk_before_it_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    passing = recorded(path, [ANSWER, ANSWER])
    assert next(passing) == ANSWER
    assert list(read_history(path)) == [ANSWER]


MALFORMED: dict[str, tuple[Callable[[dict[str, object]], object], str]] = {
    "unknown event": (lambda d: d | {"event": "RequestAnswerd"}, "'RequestAnswerd' is no event: did you mean"),
    "event of another type": (lambda d: d | {"event": 5}, "5 is no event"),
    "no event": (lambda _: {"member": "m0"}, "the field 'event' is missing in {'member': 'm0'}: add the name"),
    "unknown field": (lambda d: d | {"epoch": 4}, "RequestAnswered has no field 'epoch' (value 4): remove it"),
    "missing field": (lambda d: {k: v for k, v in d.items() if k != "api"}, "RequestAnswered lacks the field 'api'"),
    "wrong type": (lambda d: d | {"seq": "three"}, "Expected `int`, got `str` - at `$.seq`, value 'three'"),
    "a boolean for a number": (lambda d: d | {"seq": True}, "Expected `int`, got `bool` - at `$.seq`, value True"),
    "wrong type within": (lambda d: d | {"members": [["m0", ["t-0", 7]]]}, "at `$.members[0][1][1]`, value 7"),
    "a list": (lambda _: [1, 2], "[1, 2] is no event: write one JSON object per line"),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "complaint"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_line__is_refused_with_file_line_value_and_next_move(
    tmp_path: Path, damage: Callable[[dict[str, object]], object], complaint: str
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(encode(ANSWER) + b"\n" + json.dumps(damage(json.loads(encode(ANSWER)))).encode() + b"\n")
    events = read_history(path)
    assert next(events) == ANSWER
    with pytest.raises(MalformedHistory) as refused:
        next(events)
    assert str(refused.value).startswith(f"{path}, line 2: ")
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"event":"MemberSta', "the line is cut off after 19 bytes"),
        (b"\n", "the line is empty"),
        (b"m0 joined\n", "'m0 joined' is not JSON"),
        (b'{"event":"MemberStarted","member":"\xff"}\n', "is not JSON"),
        (b'{"event":"MemberStarted","member":"m0"} {}\n', "is not JSON"),
    ],
)
def test_a_line_that_is_no_json__is_refused(tmp_path: Path, line: bytes, complaint: str) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(line)
    with pytest.raises(MalformedHistory, match="line 1") as refused:
        list(read_history(path))
    assert complaint in str(refused.value)


def test_a_history_that_is_not_there__is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RebalanceCheckError, match=r"cannot be opened \(No such file"):
        next(read_history(tmp_path / "nothing.jsonl"))


def test_an_unknown_outcome__stays_unknown() -> None:
    event = OffsetCommitted(member="m0", generation=1, partition="t-0", offset=5, error=None)
    read = decode(encode(event))
    assert isinstance(read, OffsetCommitted)
    assert read.error is None


def test_the_schema__refuses_what_the_reader_refuses() -> None:
    schema = jsonschema.Draft202012Validator(history_schema())
    good = json.loads(encode(ANSWER))
    assert schema.is_valid(good)
    for damage, _ in MALFORMED.values():
        assert not schema.is_valid(damage(dict(good)))


def test_a_line__nested_too_deeply__is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_bytes(b"[" * 100_000 + b"\n")
    with pytest.raises(MalformedHistory, match=r"line 1: its JSON is nested too deeply to be an event"):
        list(read_history(path))
    with pytest.raises(MalformedHistory, match="nested too deeply"):
        decode(b'{"event":"MemberStarted","member":' + b"[" * 100_000)
