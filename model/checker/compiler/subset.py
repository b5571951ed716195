"""What a model may be written in, and what names mean in it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from rebalance_check.model.checker.compiler.tree import Address, Expression, Function
from rebalance_check.model.checker.compiler.types import Absent, Array, Number, Record
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


@dataclass(frozen=True, slots=True)
class Place:
    """A record or an array in memory. ``length`` is the number of items of an array."""

    address: Address
    type: Record | Array
    length: Expression | None = None


class Configuration:
    """What the configuration's name means: its fields are constants."""


CONFIGURATION = Configuration()

Value = Expression | Place | Absent | Configuration | Callable[..., Any] | type[Any]
"""What a name or an access may mean: also an enumeration, a conversion such as ``int``, or a function."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What all functions of a program share.

    ``sources`` are the functions by name, ``globals`` what else their modules know: enumerations and constants.
    ``config`` is the configuration. ``types`` gives the type for the name of an annotation.
    ``functions`` are those read so far, and at first those that the backend provides.
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
