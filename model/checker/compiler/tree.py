"""A function between its source and machine code: a tree of typed expressions and statements.

Everything that is known when a model is compiled is folded away while the tree is built (`folding`), so that a backend
writes down what is left without a thought. A tree has no names but those of locals and parameters, and no two locals of
a function share a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from rebalance_check.model.checker.compiler.types import Array, Cell, Number, Record


class Operator(StrEnum):
    """An operation on two numbers of one type."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "//"
    MOD = "%"
    AND = "&"
    OR = "|"
    XOR = "^"
    LEFT = "<<"
    RIGHT = ">>"


class Comparison(StrEnum):
    """A comparison of two numbers of one type."""

    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


# ------------------------------------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that is known."""

    type: Number
    value: int


@dataclass(frozen=True, slots=True)
class Local:
    """The value of a local variable or of a parameter that is a number."""

    type: Number
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """One item of an array: which, and how far apart items lie; ``length`` is how many there are, None where it was
    checked before that there is such an item."""

    at: Expression
    stride: int
    length: Expression | None


@dataclass(frozen=True, slots=True)
class Address:
    """A place in memory: so many bytes beyond what a pointer parameter, or a table, points to, then items of arrays."""

    base: Pointer | Table
    offset: int = 0
    items: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True)
class Pointer:
    """A parameter that points to a record or an array."""

    name: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the configuration, which becomes a constant of the program."""

    name: str


@dataclass(frozen=True, slots=True)
class Load:
    """What stands in memory."""

    cell: Cell
    address: Address

    @property
    def type(self) -> Number:
        """That of the cell."""
        return self.cell.number


@dataclass(frozen=True, slots=True)
class Binary:
    """An operation on two numbers."""

    operator: Operator
    left: Expression
    right: Expression

    @property
    def type(self) -> Number:
        """That of both."""
        return self.left.type


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two numbers."""

    comparison: Comparison
    left: Expression
    right: Expression
    type: Number = Number.TRUTH


@dataclass(frozen=True, slots=True)
class Both:
    """``left and right``: the right is computed only where the left holds."""

    left: Expression
    right: Expression
    type: Number = Number.TRUTH


@dataclass(frozen=True, slots=True)
class Either:
    """``left or right``: the right is computed only where the left does not hold."""

    left: Expression
    right: Expression
    type: Number = Number.TRUTH


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    value: Expression
    type: Number = Number.TRUTH


@dataclass(frozen=True, slots=True)
class Choose:
    """``then if test else other``: only the one that counts is computed."""

    test: Expression
    then: Expression
    other: Expression

    @property
    def type(self) -> Number:
        """That of both values."""
        return self.then.type


@dataclass(frozen=True, slots=True)
class Convert:
    """A truth value as a number, or a number as bits and back."""

    type: Number
    value: Expression


@dataclass(frozen=True, slots=True)
class Checked:
    """An index, checked to be one of an array of this length."""

    at: Expression
    length: Expression
    type: Number = Number.INT


@dataclass(frozen=True, slots=True)
class Call:
    """What a function of the program returns; an argument is a number or a place in memory."""

    function: Function
    arguments: tuple[Expression | Address, ...]
    type: Number


Expression = Constant | Local | Load | Binary | Compare | Both | Either | Not | Choose | Convert | Checked | Call

TRUE: Final = Constant(Number.TRUTH, 1)
FALSE: Final = Constant(Number.TRUTH, 0)

# ------------------------------------------------------------------------------------------------ statements


@dataclass(frozen=True, slots=True)
class Assign:
    """A local variable takes a value."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Store:
    """A place in memory takes a value, cut to its size."""

    cell: Cell
    address: Address
    value: Expression


@dataclass(frozen=True, slots=True)
class CopyRecord:
    """So many bytes of memory become those of another place."""

    to: Address
    of: Address
    bytes: int


@dataclass(frozen=True, slots=True)
class Do:
    """A function is called for what it does."""

    function: Function
    arguments: tuple[Expression | Address, ...]


@dataclass(frozen=True, slots=True)
class If:
    """One of two blocks."""

    test: Expression
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A block for each number from ``first`` on and below ``last``, ``step`` apart."""

    name: str
    first: Expression
    last: Expression
    step: int
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class While:
    """A block as long as something holds."""

    test: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """The innermost loop ends."""


@dataclass(frozen=True, slots=True)
class Continue:
    """The innermost loop goes on with its next turn."""


@dataclass(frozen=True, slots=True)
class Return:
    """The function ends, with values where it has a result."""

    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """What must not happen, because it would use a record that is absent: it is noticed, and the function ends."""


Statement = Assign | Store | CopyRecord | Do | If | Loop | While | Break | Continue | Return | Fault

# ------------------------------------------------------------------------------------------------ functions


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: a number, or what a pointer points to. An array of unknown length brings one, `length_of`."""

    name: str
    type: Number | Record | Array


@dataclass(slots=True)
class Function:
    """A function of the program, whole once ``body`` is there.

    ``locals`` are its variables with their types; ``is_pure`` says that it writes nothing; ``constant`` is what it
    always returns, None where that is not known. Several ``results`` are written through a pointer.
    """

    name: str
    parameters: tuple[Parameter, ...]
    results: tuple[Number, ...]
    body: tuple[Statement, ...] | None = None
    locals: dict[str, Number] = field(default_factory=dict)
    is_pure: bool = True
    constant: int | None = None


def length_of(parameter: str) -> str:
    """The name of the number of items behind a pointer parameter."""
    return f"{parameter}.length"
