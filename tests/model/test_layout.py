"""Layouts: what is generated from a declaration walks over every field, and agrees with the packed record."""

from random import Random
from typing import Annotated

import pytest

from rebalance_check.model.checker.layout import (
    NIL,
    Dimension,
    Index,
    IndexSet,
    Layout,
    Number,
    PerMember,
    layout,
    leaves,
    record_type,
    relabellings,
    width,
)
from rebalance_check.model.checker.layout_objects import helpers


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
    assert type(made) is Whole
    assert [type(part) for part in (*made.part, made.single)] == [Part] * 4


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
