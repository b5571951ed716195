"""Events are checked when Python code makes them: the error names event, field, value, and what belongs there."""

import json
from dataclasses import fields, replace
from functools import partial
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.event_checks import MalformedEvent
from rebalance_check.model.vocabulary.events import (
    EVENT_TYPES,
    AssignmentComputed,
    Event,
    HeartbeatReplied,
    IncarnationStarted,
    MemberStarted,
    NodeChanged,
    OffsetCommitted,
    PartitionsAssigned,
    RequestSent,
    RunStarted,
)
from rebalance_check.properties.history import decode, encode
from rebalance_check.properties.judge import judge

ASSIGNED = PartitionsAssigned(member="m", generation=1, partitions=("t-1",))

STARTED = partial(MemberStarted, member="m")
GIVEN = partial(PartitionsAssigned, member="m", generation=1)
NO_GENERATION = partial(PartitionsAssigned, member="m", partitions=())
INCARNATION = partial(IncarnationStarted, incarnation=0, generation=0)

WRONG = [
    *((GIVEN, "partitions", value, "a tuple of str") for value in ("t-1", ["t-1"], {"t-1"}, None, ("t-1", 2))),
    *((NO_GENERATION, "generation", value, "an int") for value in (True, 1.0, "1")),
    *((MemberStarted, "member", value, "a str") for value in (b"m", object(), None)),
    (STARTED, "time_ms", 0.5, "an int"),
    (partial(RunStarted, subject="s"), "punctual", 1, "a bool"),
    (partial(RunStarted, subject="s"), "format", 1, "2"),
    (partial(HeartbeatReplied, incarnation=0, generation=1, request=1), "error", Error.NONE, "a str"),
    (partial(OffsetCommitted, member="m", generation=1, partition="t", offset=1), "error", Error.NONE, "a str or None"),
    (partial(NodeChanged, change="killed"), "node", None, "an int"),
    *((INCARNATION, "instances", value, "a tuple of (str, str)") for value in ({"m": "i"}, (("m",),))),
    (
        partial(AssignmentComputed, member="m", generation=1),
        "assignments",
        (("m", "t-1"),),
        "a tuple of (str, tuple of str)",
    ),
]


@pytest.mark.parametrize(("make", "field", "value", "advice"), WRONG)
def test_a_wrong_type_is_refused_where_the_event_is_made(make: Any, field: str, value: Any, advice: str) -> None:
    with pytest.raises(MalformedEvent) as refused:
        make(**{field: value})
    assert f".{field} is {value!r} ({type(value).__name__}): write {advice}" in str(refused.value)


def test_a_copy_with_another_value_is_checked() -> None:
    with pytest.raises(MalformedEvent, match=r"PartitionsAssigned\.partitions is 't-1'"):
        replace(ASSIGNED, partitions="t-1")  # type: ignore[arg-type] # the wrong type is the point


def test_subclasses_of_text_are_text() -> None:
    event = RequestSent(member="m", api=Api.JOIN_GROUP, request=1)
    assert decode(encode(event)) == event
    assert OffsetCommitted(member="m", generation=1, partition="t-0", offset=1, error=None).error is None


def test_a_forgotten_field_is_named_as_python_does() -> None:
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'member'"):
        MemberStarted()  # type: ignore[call-arg] # the missing field is the point


@pytest.mark.parametrize("event_type", EVENT_TYPES.values(), ids=EVENT_TYPES)
@settings(max_examples=4)
@given(data=st.data())
def test_what_python_makes_can_be_read_back(event_type: type[Event], data: st.DataObject) -> None:
    """Any values at all: an event either cannot be made, or its line is read back as the same event."""
    values = st.one_of(
        st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(), st.binary(),
        st.lists(st.text()), st.tuples(st.text(), st.integers()), st.lists(st.tuples(st.text(), st.text())).map(tuple),
    )  # fmt: skip
    hints = get_type_hints(event_type)
    given_values = {f.name: data.draw(st.one_of(st.from_type(hints[f.name]), values)) for f in fields(event_type)}
    try:
        event = event_type(**given_values)
    except MalformedEvent:
        return
    assert decode(encode(event)) == event


def test_decoding_is_not_checked_twice() -> None:
    """A decoder fills the fields itself: checking them again would cost as much as decoding."""
    assert not any(hasattr(event_type, "__post_init__") for event_type in EVENT_TYPES.values())


def test_a_string_never_passes_for_partitions() -> None:
    """The history that used to show an owner of ``t``, ``-`` and ``1``."""
    line = json.dumps({"event": "PartitionsAssigned", "member": "m", "generation": 1, "partitions": ["t-1"]})
    assert judge([decode(line.encode())]).events == 1
    with pytest.raises(MalformedEvent):
        judge([PartitionsAssigned(member="m", generation=1, partitions="t-1")])  # type: ignore[arg-type] # the wrong type is the point
