"""Layouts: what is generated from a declaration walks over every field, and agrees with the packed record."""

from random import Random
from typing import Annotated

import pytest

from rebalance_check.model.checker.layout import (
    NIL,
    Alias,
    Dimension,
    Index,
    IndexSet,
    Layout,
    Number,
    PerMember,
    When,
    assign,
    layout,
    leaves,
    record_type,
    reset,
    width,
)
from rebalance_check.model.checker.layout_objects import helpers
from rebalance_check.model.checker.layout_source import relabellings


@layout
class Part(Layout):
    """A nested record."""

    status: Number
    seen: IndexSet
    parts: PerMember[Number]


@layout
class Whole(Layout):
    """One field of each kind."""

    leader: Index
    joined: IndexSet
    part: PerMember[Part]
    log: Annotated[list[Number], Dimension("log")]
    single: Part


SIZES = {"members": 3, "log": 2}


def drawn(seed: int) -> Whole:
    """A state with every number drawn."""
    rng, state = Random(seed), Whole(SIZES)
    data = bytes(
        rng.choice([NIL, 0, 1, 2]) if leaf.kind == "index" else rng.randrange(8) for leaf in leaves(Whole, SIZES)
    )
    helpers(Whole, SIZES).unpack(state, data)
    return state


def test_a_new_state_is_all_zero() -> None:
    assert set(helpers(Whole, SIZES).pack(Whole(SIZES))) == {0}


def test_a_layout_takes_no_field_that_was_not_declared() -> None:
    with pytest.raises(AttributeError):
        Whole(SIZES).leadr = 1  # type: ignore[attr-defined]  # the misspelling is the point


@pytest.mark.parametrize("seed", range(5))
def test_unpack_takes_back_what_pack_gave(seed: int) -> None:
    tools, state, again = helpers(Whole, SIZES), drawn(seed), Whole(SIZES)
    tools.unpack(again, tools.pack(state))
    assert tools.pack(again) == tools.pack(state)


def test_copy_leaves_no_field_out() -> None:
    tools, state, made = helpers(Whole, SIZES), drawn(1), Whole(SIZES)
    tools.copy(made, state)
    assert tools.pack(made) == tools.pack(state)
    assert made.part[0] is not state.part[0]


@pytest.mark.parametrize("seed", range(5))
def test_a_clone_has_every_field_and_shares_none(seed: int) -> None:
    tools, state = helpers(Whole, SIZES), drawn(seed)
    before, made = tools.pack(state), tools.clone(state)
    assert tools.pack(made) == before
    tools.unpack(made, bytes((number + 1) % 256 for number in before))
    assert tools.pack(state) == before
    assert type(made) is type(state)
    assert [type(part) for part in (*made.part, made.single)] == [type(state.single)] * 4


@pytest.mark.parametrize("seed", range(5))
def test_packed_bytes_stand_in_the_order_of_the_leaves(seed: int) -> None:
    state = drawn(seed)
    numbers = [eval(f"state{leaf.path}", {"state": state}) for leaf in leaves(Whole, SIZES)]
    assert list(helpers(Whole, SIZES).pack(state)) == numbers


def test_the_packed_record_has_the_bytes_of_pack() -> None:
    numpy = pytest.importorskip("numpy")
    tools, state = helpers(Whole, SIZES), drawn(2)
    data = tools.pack(state).ljust(width(Whole, SIZES), b"\0")
    record = numpy.frombuffer(data, record_type(Whole, SIZES))[0]
    assert record["leader"] == state.leader
    assert record["part"][2]["parts"][1] == state.part[2].parts[1]
    assert record["log"].tolist() == state.log
    assert record["single"]["seen"] == state.single.seen


def test_relabelling_moves_members_and_renames_references() -> None:
    state, moved = Whole(SIZES), Whole(SIZES)
    state.leader, state.joined = 0, 0b011
    state.part[0].status, state.part[0].parts[1] = 7, 5
    perm, sets = next(each for each in relabellings(SIZES) if each[0] == (2, 0, 1))
    helpers(Whole, SIZES).relabel(moved, state, perm, sets)
    assert (moved.leader, moved.joined) == (2, 0b101)
    assert (moved.part[2].status, moved.part[2].parts[0]) == (7, 5)


def test_relabelling_nobody_gives_nobody() -> None:
    state, moved = Whole(SIZES), Whole(SIZES)
    state.leader = NIL
    helpers(Whole, SIZES).relabel(moved, state, *relabellings(SIZES)[3])
    assert moved.leader == NIL


@pytest.mark.parametrize("seed", range(5))
def test_a_signature_does_not_depend_on_names(seed: int) -> None:
    tools, state, moved = helpers(Whole, SIZES), drawn(seed), Whole(SIZES)
    for perm, sets in relabellings(SIZES):
        tools.relabel(moved, state, perm, sets)
        assert [tools.signature(moved, perm[m]) for m in range(3)] == [tools.signature(state, m) for m in range(3)]


# ------------------------------------------------------------------------------------------------ reset and assign


@pytest.mark.parametrize("seed", range(5))
def test_reset_leaves_no_field_out(seed: int) -> None:
    state = drawn(seed)
    reset(state)
    empty = [NIL if leaf.kind == "index" else 0 for leaf in leaves(Whole, SIZES)]
    assert list(helpers(Whole, SIZES).pack(state)) == empty


@pytest.mark.parametrize("seed", range(5))
def test_assign_leaves_no_field_out(seed: int) -> None:
    tools, state, made = helpers(Whole, SIZES), drawn(seed), Whole(SIZES)
    assign(made, state)
    assert tools.pack(made) == tools.pack(state)
    assert made.part[0].parts is not state.part[0].parts


def test_reset_and_assign_touch_the_record_alone() -> None:
    state, other = drawn(1), drawn(2)
    before = helpers(Whole, SIZES).pack(other)
    assign(other.part[0], state.part[1])
    reset(other.single)
    rest = [leaf for leaf in leaves(Whole, SIZES) if not leaf.path.startswith((".part[0]", ".single"))]
    after = helpers(Whole, SIZES).pack(other)
    places = [i for i, leaf in enumerate(leaves(Whole, SIZES)) if leaf in rest]
    assert [after[i] for i in places] == [before[i] for i in places]
    assert other.part[0].status == state.part[1].status


# ------------------------------------------------------------------------------------------------ aliases, absence


@layout
class Ticket(Layout):
    """A record with a name of its own for a byte, which may be absent."""

    flag: Number
    is_urgent: Annotated[Number, Alias("flag")]
    holder: Annotated[Index, When("held")]
    keeper: Annotated[Index, Alias("holder")]
    parts: PerMember[Number]


@layout
class Desk(Layout):
    """A state of which a part may be absent."""

    open: Number
    served: Annotated[IndexSet, When("counted")]
    ticket: Ticket
    spare: Annotated[Ticket, When("counted")]


ON = {"members": 2, "held": 1, "counted": 1}
OFF = {"members": 2, "held": 0, "counted": 0}


def test_an_alias_is_the_same_byte() -> None:
    desk = Desk(ON)
    desk.ticket.is_urgent = 1
    assert desk.ticket.flag == 1
    desk.ticket.flag = 0
    assert desk.ticket.is_urgent == 0
    assert [leaf.path for leaf in leaves(Ticket, ON)] == [".flag", ".holder", ".parts[0]", ".parts[1]"]


def test_an_absent_field_takes_no_byte() -> None:
    assert [leaf.path for leaf in leaves(Desk, OFF)] == [
        ".open",
        ".ticket.flag",
        ".ticket.parts[0]",
        ".ticket.parts[1]",
    ]
    assert len(helpers(Desk, OFF).pack(Desk(OFF))) == 4
    assert len(helpers(Desk, ON).pack(Desk(ON))) == 10


def test_the_packed_record_has_no_place_for_an_absent_field() -> None:
    pytest.importorskip("numpy")
    assert record_type(Desk, OFF).names == ("open", "ticket")
    assert record_type(Desk, ON).names == ("open", "served", "ticket", "spare")


def test_an_absent_field_reads_as_reset_leaves_it() -> None:
    desk = Desk(OFF)
    assert (desk.served, desk.ticket.holder, desk.ticket.keeper) == (0, NIL, NIL)
    assert (desk.spare.flag, desk.spare.is_urgent, desk.spare.holder, desk.spare.parts[1]) == (0, 0, NIL, 0)


def test_what_an_absent_field_reads_as_may_be_written() -> None:
    desk = Desk(OFF)
    desk.served = 0
    desk.ticket.holder = desk.ticket.keeper = NIL
    desk.spare.parts[0] = 0
    reset(desk.spare)
    assign(desk.spare, desk.spare)
    assert desk.served == 0


def test_anything_else_written_to_an_absent_field_is_an_error() -> None:
    desk = Desk(OFF)
    with pytest.raises(AttributeError, match=r"Desk.served is absent at these sizes .*, and cannot become 2"):
        desk.served = 2
    with pytest.raises(AttributeError, match=r"Ticket.holder is absent"):
        desk.ticket.keeper = 0
    with pytest.raises(AttributeError, match=r"its item 1 cannot become 3"):
        desk.spare.parts[1] = 3


def test_a_clone_of_a_state_with_absent_fields_has_them_absent() -> None:
    tools, desk = helpers(Desk, OFF), Desk(OFF)
    desk.open, desk.ticket.parts[1] = 3, 4
    made = tools.clone(desk)
    assert tools.pack(made) == bytes([3, 0, 0, 4])
    with pytest.raises(AttributeError):
        made.served = 1
