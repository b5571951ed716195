"""The part of Python in which a model may be written, and the meaning of names in it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, NamedTuple

from rebalance_check.model.checker.compiler.types import Absent, Array, Cell, Number, Record
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class SubsetError(RebalanceCheckError):
    """A function uses what cannot be compiled; the message says where, what, and what to write instead."""

    def __init__(self, source: Source, node: ast.AST, what: str, instead: str) -> None:
        line = getattr(node, "lineno", source.tree.lineno)
        super().__init__(f"{source.file}, line {line}, in {source.tree.name}: {what}: {instead}")


class AbsentRecordError(Exception):
    """A statement hands on a record that is absent: it must not be reached at these sizes."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a function: its syntax tree, and the file in which it stands."""

    file: str
    tree: ast.FunctionDef


class Operand(NamedTuple):
    """A number as LLVM's text has it; ``known`` is its value where that is known when the model is compiled."""

    type: Number
    text: str
    known: int | None = None


class Slot(NamedTuple):
    """A variable: a place on the stack, which LLVM turns into registers."""

    type: Number
    pointer: str


class Place(NamedTuple):
    """A number, a record or an array in memory, so many bytes behind a pointer. An array has ``length`` items."""

    pointer: str
    type: Cell | Record | Array
    offset: int = 0
    length: Operand | None = None


class Configuration:
    """The meaning of the configuration's name: its fields are constants."""


CONFIGURATION: Final = Configuration()

Value = Operand | Slot | Place | Absent | Configuration | Callable[..., Any] | type[Any]
"""The possible meanings of a name or an access: also an enumeration, a conversion such as ``int``, or a function."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: a number, or the target of a pointer. An array of unknown length brings one, `length_of`."""

    name: str
    type: Number | Record | Array


@dataclass(slots=True)
class Function:
    """A function of the program, whole once ``lines`` are there.

    ``is_pure`` says that it writes nothing; ``constant`` is its only result, None where that is not known.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: Number | None
    lines: Sequence[str] | None = None
    is_pure: bool = True
    constant: int | None = None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The knowledge that all functions of a program share.

    ``sources`` are the functions by name, ``globals`` the other names of their modules: enumerations and constants.
    ``config`` is the configuration, ``types`` gives the type for the name of an annotation. ``functions`` are those
    read so far, and at first those that the backend provides; ``tables`` those of the configuration that are used.
    """

    sources: Mapping[str, Source]
    globals: Mapping[str, Any]
    config: Mapping[str, Any]
    types: Mapping[str, Number | Record | Array]
    functions: dict[str, Function] = field(default_factory=dict)
    tables: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def has_function(self, name: str) -> bool:
        """Whether a function of this name can be called."""
        return name in self.sources or name in self.functions


def enumeration(value: object) -> type[IntEnum] | None:
    """The enumeration that a global is, if it is one."""
    return value if isinstance(value, type) and issubclass(value, IntEnum) else None


def assigned_names(*statements: ast.stmt) -> Counter[str]:
    """How many statements give a value to each name, in these statements and those inside of them."""
    nodes = (node for each in statements for node in ast.walk(each))
    return Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def length_of(parameter: str) -> str:
    """The name of the number of items behind a pointer parameter."""
    return f"{parameter}.length"


def parameter_text(name: str) -> str:
    """A parameter as an operand."""
    return f"%p.{name}"
