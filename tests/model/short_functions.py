"""Short functions given as text, which Python runs, and which LLVM and a C compiler compile: for each what it did."""

import __future__

import ctypes
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from typing import Annotated, Any, Final, NamedTuple

import numpy as np

from rebalance_check.model.checker.compiler.functions import Functions, functions_in
from rebalance_check.model.checker.compiler.runtime import PROVIDED
from rebalance_check.model.checker.compiler.subset import Vocabulary
from rebalance_check.model.checker.compiler.tree import Function
from rebalance_check.model.checker.compiler.types import record_of
from rebalance_check.model.checker.layout import (
    NIL,
    Dimension,
    Index,
    Layout,
    Number,
    PerMember,
    When,
    assign,
    layout,
    leaves,
    reset,
    width,
)
from tests.model.backends import Loaded, loaded, prototype

SIZES: Final = {"members": 3, "cells": 4, "extras": 0}
FILE: Final = "short.py"


class Color(IntEnum):
    """An enumeration."""

    RED = 0
    BLUE = 7


@layout
class Part(Layout):
    """A record in a box."""

    x: Number
    who: Index
    shade: Annotated[Number, When("extras")]


@layout
class Box(Layout):
    """What the functions work on."""

    a: Number
    b: Number
    cells: Annotated[list[Number], Dimension("cells")]
    parts: PerMember[Part]
    attic: Annotated[Number, When("extras")]
    tenant: Annotated[Index, When("extras")]
    cellar: Annotated[Part, When("extras")]


class Config(NamedTuple):
    """The configuration."""

    on: bool = True
    off: bool = False
    most: int = 3
    table: tuple[int, ...] = (5, -1, 300)


GLOBALS: Final = {"NIL": NIL, "Color": Color, "np": np, "reset": reset, "assign": assign}


class Done(NamedTuple):
    """What a call did: its result, the bytes of the box, and the function in which a fault was noticed."""

    result: int | None
    box: bytes
    fault: str = ""


def words(text: str) -> Vocabulary:
    """What the functions of a text know."""
    return Vocabulary(
        sources=functions_in(text, FILE),
        globals=GLOBALS,
        config=Config()._asdict(),
        types={"Box": record_of(Box, SIZES), "Part": record_of(Part, SIZES)},
        functions={each.name: each for each in PROVIDED},
    )


def compiled(text: str) -> tuple[list[Function], Vocabulary]:
    """The functions of a text as trees."""
    known = words(text)
    return Functions(known).all(list(known.sources)), known


def filled(box: Sequence[int]) -> Any:
    """A box with these numbers."""
    made = Box(SIZES)
    for leaf, value in zip(leaves(Box, SIZES), box, strict=False):
        exec(f"made{leaf.path} = {value}", {"made": made})
    return made


def interpreted(text: str, box: Sequence[int], numbers: Sequence[int]) -> Done:
    """What Python does with the last function of a text: ``f(c, s, ...)``."""
    space: dict[str, Any] = dict(GLOBALS)
    exec(compile(text, FILE, "exec", __future__.annotations.compiler_flag, dont_inherit=True), space)
    made, name = filled(box), list(functions_in(text, FILE))[-1]
    result = space[name](Config(), made, *numbers)
    packed = bytes(eval(f"made{leaf.path}", {"made": made}) for leaf in leaves(Box, SIZES))
    return Done(None if result is None else int(result), packed)


@cache
def program(backend: str, text: str) -> tuple[Loaded, list[Function]]:
    """The functions of a text, compiled."""
    functions, known = compiled(text)
    return loaded(backend, functions, known.tables, [list(known.sources)[-1]]), functions


def native(backend: str, text: str, box: Sequence[int], numbers: Sequence[int]) -> Done:
    """What the compiled function does."""
    library, functions = program(backend, text)
    function, size = functions[-1], sum(1 for _ in leaves(Box, SIZES))
    buffer = ctypes.create_string_buffer(bytes(box), width(Box, SIZES))
    fault = library.fault()
    fault.value = 0
    found = prototype(function)(library.address(function.name))(ctypes.addressof(buffer), *numbers)
    wrong = functions[fault.value - 1].name if fault.value else ""
    return Done(int(found) if function.results else None, buffer.raw[:size], wrong)
