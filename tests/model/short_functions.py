"""Short functions given as text, and the layouts that they work on: what the compiler makes of them."""

from enum import IntEnum
from typing import Annotated, Final, NamedTuple

import numpy as np

from rebalance_check.model.checker.compiler.program import Functions, functions_in
from rebalance_check.model.checker.compiler.runtime import PROVIDED
from rebalance_check.model.checker.compiler.subset import Function, Vocabulary
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
    reset,
)

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
    """The record on which the functions work."""

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


def words(text: str) -> Vocabulary:
    """The vocabulary of the functions of a text."""
    return Vocabulary(
        sources=functions_in(text, FILE),
        globals=GLOBALS,
        config=Config()._asdict(),
        types={"Box": record_of(Box, SIZES), "Part": record_of(Part, SIZES)},
        functions={each.name: each for each in PROVIDED},
    )


def compiled(text: str) -> tuple[list[Function], Vocabulary]:
    """The functions of a text, compiled."""
    known = words(text)
    return Functions(known).all(list(known.sources)), known
