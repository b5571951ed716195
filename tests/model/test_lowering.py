"""What the compiled backend makes of a model's functions: the same behaviour, on records without absent fields."""

import ast
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

import pytest

from rebalance_check.model.checker.layout import (
    Alias,
    Index,
    IndexSet,
    Layout,
    Number,
    PerMember,
    When,
    assign,
    layout,
    reset,
)
from rebalance_check.model.checker.layout_objects import helpers
from rebalance_check.model.checker.layout_source import records_source
from rebalance_check.model.checker.lowering import lower


class Light(IntEnum):
    """A constant of the model."""

    OFF = 0
    ON = 1


class Config(NamedTuple):
    """The configuration of the model."""

    members: int
    counted: int


@layout
class Ticket(Layout):
    """A record with an alias and an absent field."""

    flag: Number
    is_urgent: Annotated[Number, Alias("flag")]
    holder: Annotated[Index, When("held")]
    parts: PerMember[Number]


@layout
class Desk(Layout):
    """A state of which a part may be absent."""

    open: Number
    light: Annotated[Number, When("counted")]
    served: Annotated[IndexSet, When("counted")]
    tickets: PerMember[Ticket]
    spare: Annotated[Ticket, When("counted")]


ON = {"members": 2, "held": 1, "counted": 1}
OFF = {"members": 2, "held": 0, "counted": 0}

MODEL = """
def is_lit(c: Config, s: Desk) -> bool:
    return s.light == Light.ON and c.members > 0

def is_dark(s: Desk) -> bool:
    return not s.light == Light.ON

def note(c: Config, s: Desk, m: int) -> None:
    if c.counted > 0:
        s.served = s.served | 1 << m
        s.light += 1

def move(c: Config, s: Desk, m: int) -> bool:
    ticket, spare = s.tickets[m], s.spare
    if spare.flag == 1 or s.served & 1 == 1:
        return False
    ticket.is_urgent = 1 if spare.holder == 255 else 2
    ticket.holder = 255
    for x in range(c.members):
        spare.parts[x] = 0
        ticket.parts[x] = ticket.parts[x] + ticket.is_urgent + spare.parts[x]
    reset(s.tickets[1 - m])
    assign(s.tickets[1 - m], ticket)
    reset(spare)
    return True
"""


def space_for(sizes: dict[str, int], *, lowered: bool, text: str = MODEL) -> dict[str, Any]:
    """The functions of the model, as they stand or rewritten for packed records."""
    space: dict[str, Any] = {"Light": Light, "Desk": Desk, "Ticket": Ticket, "Config": Config}
    space |= {"reset": reset, "assign": assign}
    tree = ast.parse(text)
    if lowered:
        config = Config(sizes["members"], sizes["counted"])
        lower(tree, Desk, sizes, config._asdict(), space)
        exec(records_source(Desk, sizes), space)
    exec(compile(tree, "<model>", "exec", dont_inherit=True), space)
    return space | {"text": ast.unparse(tree)}


@pytest.mark.parametrize("sizes", [ON, OFF], ids=["present", "absent"])
def test_a_rewritten_step_does_what_the_step_does(sizes: dict[str, int]) -> None:
    config, results = Config(sizes["members"], sizes["counted"]), []
    for lowered in (False, True):
        space, desk = space_for(sizes, lowered=lowered), Desk(sizes)
        desk.tickets[0].parts[1] = 5
        assert space["move"](config, desk, 0)
        space["note"](config, desk, 1)
        seen = (space["is_lit"](config, desk), space["is_dark"](desk))
        results.append((helpers(Desk, sizes).pack(desk), seen))
    assert results[0] == results[1]


def test_rewritten_functions_name_no_absent_field_and_no_alias() -> None:
    text = space_for(OFF, lowered=True)["text"]
    assert not [name for name in ("light", "served", "spare", "holder", "is_urgent", "reset(") if name in text]
    assert "reset_Ticket(s.tickets[1 - m])" in text
    assert "assign_Ticket(s.tickets[1 - m], ticket)" in text


def test_present_fields_are_left_as_they_are() -> None:
    text = space_for(ON, lowered=True)["text"]
    assert "s.served = s.served | 1 << m" in text
    assert "reset_Ticket(spare)" in text


def test_a_branch_that_is_never_taken_is_left_out() -> None:
    text = space_for(OFF, lowered=True)["text"]
    assert "def note(c: Config, s: Desk, m: int) -> None:\n    pass" in text
    assert "def is_lit(c: Config, s: Desk) -> bool:\n    return False" in text
    assert "def is_dark(s: Desk) -> bool:\n    return True" in text


@pytest.mark.parametrize(
    ("expression", "becomes"),
    [
        ("s.light == 1 or acts(s)", "acts(s)"),
        ("s.light == 0 or acts(s)", "True"),
        ("acts(s) and s.light == 1", "acts(s) and False"),
        ("s.open == 1 and s.light == 1", "False"),
        ("s.open if s.light == 1 else s.tickets[0].is_urgent", "s.tickets[0].flag"),
        ("s.served | s.open", "0 | s.open"),
        ("0 <= s.light <= s.open", "0 <= 0 <= s.open"),
    ],
)
def test_what_is_decided_is_folded_and_no_call_is_dropped_that_was_made(expression: str, becomes: str) -> None:
    text = space_for(OFF, lowered=True, text=f"def f(s: Desk):\n    return {expression}\n")["text"]
    assert text == f"def f(s: Desk):\n    return {becomes}"


def test_an_absent_record_cannot_be_handed_on() -> None:
    text = "def f(s: Desk) -> None:\n    f(s.spare)\n"
    space = space_for(OFF, lowered=True, text=text)
    with pytest.raises(ValueError, match=r"f, line 2: s.spare is absent at these sizes, .*: read its fields"):
        space["f"](Desk(OFF))


def test_reset_needs_a_record_of_a_known_layout() -> None:
    text = "def f(s: Desk, x) -> None:\n    reset(x)\n"
    with pytest.raises(ValueError, match=r"f, line 2: reset\(x\) needs a record whose layout follows from an annot"):
        space_for(OFF, lowered=True, text=text)
