"""Places of a function where one small edit makes it another one, found in its syntax tree.

The kinds are those of mutation testing (Jia and Harman, *An Analysis and Survey of the Development of Mutation
Testing*, IEEE TSE 37(5), 2011), without edits that no type checker or first call would let pass.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

EditKind: TypeAlias = Literal[
    "negated guard", "dropped condition", "and/or", "comparison swapped", "off by one", "plus/minus",
    "swapped constant", "swapped argument", "wrong attribute", "opposite function", "dropped keyword",
    "dropped statement", "early exit dropped",
]  # fmt: skip
EDIT_KINDS: Final[tuple[EditKind, ...]] = get_args(EditKind)
"""The kinds of edits, in the order in which tables show them."""

_COMPARED: Final[dict[type[ast.cmpop], tuple[str, ...]]] = {
    ast.Eq: ("!=",), ast.NotEq: ("==",), ast.Lt: ("<=", ">="), ast.LtE: ("<", ">"), ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"), ast.In: ("not in",), ast.NotIn: ("in",), ast.Is: ("is not",), ast.IsNot: ("is",),
}  # fmt: skip
_OPPOSITE: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
_ATOMS: Final = (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript, ast.Tuple, ast.List, ast.Set)
_OPAQUE: Final = (ast.JoinedStr, ast.Assert, ast.Raise)
"""Not looked into: the words of messages, of which Python 3.11 does not know where they stand, and assertions."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text: lines count from 1, columns in octets from 0, as in a syntax tree."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Site:
    """A place for one edit of a kind: at ``span``, any of ``texts`` may stand instead.

    ``first`` and ``last`` are the lines of the statement around it; where none of them runs, no edit here does.
    """

    kind: EditKind
    span: Span
    texts: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The meaning of the names in a function.

    ``names`` are those of its module; ``fields`` are the annotated names of its class, ``parameters`` its own, each
    with its annotation; ``segment`` gives the text of a node.
    """

    names: Mapping[str, Any]
    fields: Mapping[str, str]
    parameters: Mapping[str, str]
    segment: Callable[[ast.AST], str]


_Found: TypeAlias = Iterator[tuple[EditKind, Span, tuple[str, ...]]]


def sites_of(function: ast.FunctionDef, around: Surroundings) -> Iterator[Site]:
    """Every site of the body, in the order of the text; nested functions belong to it."""
    found = [site for statement in function.body for site in _statement_sites(statement, function, around)]
    yield from sorted(found, key=lambda site: (site.span.line, site.span.column, EDIT_KINDS.index(site.kind)))


def _statement_sites(statement: ast.stmt, function: ast.FunctionDef, around: Surroundings) -> Iterator[Site]:
    first, last = _own_lines(statement)
    for kind, span, texts in _of_statement(statement, function, around):
        exits = kind == "early exit dropped"
        yield Site(kind, span, texts, span.line if exits else first, span.end_line if exits else last)
    for node in _expressions(statement):
        for kind, span, texts in _of_expression(node, around):
            yield Site(kind, span, texts, min(first, span.line), max(last, span.end_line))
    for inner in _bodies(statement):
        if not _is_docstring(inner):
            yield from _statement_sites(inner, function, around)


def _own_lines(statement: ast.stmt) -> tuple[int, int]:
    """The lines of a statement without those of the statements inside."""
    inner = [each.lineno for each in _bodies(statement)]
    end = statement.end_lineno or statement.lineno
    return statement.lineno, max(statement.lineno, min([end, *(line - 1 for line in inner)]))


def _bodies(statement: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(statement, name, ())
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from part.body


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Every node of a statement outside the statements inside, annotations and messages left out."""
    if isinstance(statement, _OPAQUE):
        return
    pending: list[ast.AST] = [each for each in ast.iter_child_nodes(statement) if not _is_elsewhere(statement, each)]
    while pending:
        node = pending.pop()
        if isinstance(node, _OPAQUE):
            continue
        yield node
        pending += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)]


def _is_elsewhere(statement: ast.stmt, child: ast.AST) -> bool:
    annotation = getattr(statement, "annotation", None)
    return isinstance(child, ast.stmt | ast.arguments | ast.ExceptHandler) or child is annotation


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


# ---------------------------------------------------------------------------------------------------- statements


def _of_statement(statement: ast.stmt, function: ast.FunctionDef, around: Surroundings) -> _Found:
    if _may_be_dropped(statement, function):
        yield "dropped statement", span_of(statement), ("pass",)
    for guarded in _bodies(statement) if isinstance(statement, ast.If | ast.For | ast.While) else ():
        if (
            isinstance(guarded, ast.Return | ast.Continue | ast.Break | ast.Raise)
            and function.body[-1] is not statement
        ):
            yield "early exit dropped", span_of(guarded), ("pass",)
    if isinstance(statement, ast.If | ast.While):
        yield from _negated(statement.test, around)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add | ast.Sub):
        sign = "-=" if isinstance(statement.op, ast.Add) else "+="
        text = f"{around.segment(statement.target)} {sign} {around.segment(statement.value)}"
        yield "plus/minus", span_of(statement), (text,)


def _may_be_dropped(statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Whether something is left that runs: not without the attributes that ``__init__`` makes, or a name's first
    value."""
    match statement:
        case ast.Expr(value=ast.Call()) | ast.Delete() | ast.AugAssign():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return function.name != "__init__"
        case ast.Assign(targets=[ast.Name(id=name)]):
            return any(
                isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
                and node.lineno < statement.lineno
                for node in ast.walk(function)
            ) or name in [argument.arg for argument in function.args.args]  # fmt: skip
        case _:
            return False


def _negated(test: ast.expr, around: Surroundings) -> _Found:
    """The guard turned round; a single comparison is turned round in a kind of its own."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield "negated guard", span_of(test), (f"({around.segment(test.operand)})",)
    else:
        yield "negated guard", span_of(test), (f"not ({around.segment(test)})",)


# ---------------------------------------------------------------------------------------------------- expressions


def _of_expression(node: ast.AST, around: Surroundings) -> _Found:
    match node:
        case ast.IfExp(test=test):
            yield from _negated(test, around)
        case ast.comprehension(ifs=tests):
            for test in tests:
                yield from _negated(test, around)
        case ast.match_case(guard=ast.expr() as test):
            yield from _negated(test, around)
        case ast.BoolOp():
            yield from _of_bool_op(node, around)
        case ast.Compare(ops=[operator], comparators=[right]):
            yield "comparison swapped", span_of(node), _compared(node.left, operator, right, around)
        case ast.BinOp(op=ast.Add() | ast.Sub()) if not _is_text(node.left) and not _is_text(node.right):
            sign = "-" if isinstance(node.op, ast.Add) else "+"
            text = f"{_closed(node.left, around)} {sign} {_closed(node.right, around)}"
            yield "plus/minus", span_of(node), (text,)
        case ast.Constant(value=bool() as value):
            yield "swapped constant", span_of(node), (str(not value),)
        case ast.Constant(value=int() as value):
            yield "off by one", span_of(node), (str(value + 1), f"({value - 1})" if value < 1 else str(value - 1))
        case ast.Name() | ast.Attribute():
            yield from _of_name(node, around)
        case ast.Call():
            yield from _of_call(node, around)
        case _:
            pass


def _of_bool_op(node: ast.BoolOp, around: Surroundings) -> _Found:
    word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    values = [_closed(value, around) for value in node.values]
    yield "and/or", span_of(node), (f" {other} ".join(values),)
    fewer = [[*values[:i], *values[i + 1 :]] for i in range(len(values))]
    yield "dropped condition", span_of(node), tuple(f" {word} ".join(left) for left in fewer)


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr, around: Surroundings) -> tuple[str, ...]:
    return tuple(f"{_closed(left, around)} {other} {_closed(right, around)}" for other in _COMPARED[type(operator)])


def _of_name(node: ast.Name | ast.Attribute, around: Surroundings) -> _Found:
    """A constant for another one of its kind, and a field for another one of its type."""
    if not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node, ast.Name):
        if node.id in _OPPOSITE:
            yield "opposite function", span_of(node), (_OPPOSITE[node.id],)
        if others := _other_constants(node.id, around.names):
            yield "swapped constant", span_of(node), others
    elif isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in around.fields:
        alike = [name for name, kind in around.fields.items() if kind == around.fields[node.attr] and name != node.attr]
        if alike:
            yield "wrong attribute", span_of(node), tuple(f"self.{name}" for name in alike)
    elif isinstance(node.value, ast.Name) and _is_enum(around.names.get(node.value.id)):
        members = [one for one in around.names[node.value.id].__members__ if one != node.attr]
        if node.attr in around.names[node.value.id].__members__ and members:
            yield "swapped constant", span_of(node), tuple(f"{node.value.id}.{one}" for one in members)


def _other_constants(name: str, names: Mapping[str, Any]) -> tuple[str, ...]:
    """The module's other constants of the same type, where the name is one of a number or of a text."""
    value = names.get(name)
    if not name.isupper() or not isinstance(value, int | float | str):
        return ()
    return tuple(other for other, one in names.items() if other.isupper() and type(one) is type(value) and one != value)


def _is_enum(value: object) -> bool:
    return isinstance(value, enum.EnumMeta)


def _of_call(node: ast.Call, around: Surroundings) -> _Found:
    texts = [around.segment(argument) for argument in node.args]
    for left, right in zip(node.args, node.args[1:], strict=False):
        if around.segment(left) != around.segment(right) and _are_alike(left, right, around):
            position = node.args.index(left)
            swapped = [*texts[:position], texts[position + 1], texts[position], *texts[position + 2 :]]
            inside = Span(left.lineno, left.col_offset, *_end(node.args[-1]))
            yield "swapped argument", inside, (", ".join(swapped[position:]),)
    if isinstance(node.func, ast.Name) and node.func.id == "replace" and len(node.keywords) > 1:
        for keyword in node.keywords:
            kept = [*texts, *(around.segment(other) for other in node.keywords if other is not keyword)]
            yield "dropped keyword", span_of(node), (f"replace({', '.join(kept)})",)


def _are_alike(left: ast.expr, right: ast.expr, around: Surroundings) -> bool:
    """Whether both may be of one type: others no type checker lets pass. Names with annotations name theirs."""
    if isinstance(left, ast.Starred) or isinstance(right, ast.Starred):
        return False
    known = [_type_of(node, around) for node in (left, right)]
    return known[0] == known[1] and (bool(known[0]) or type(left) is type(right))


def _type_of(node: ast.expr, around: Surroundings) -> str:
    match node:
        case ast.Name(id=name):
            return around.parameters.get(name, "")
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return around.fields.get(name, "")
        case ast.Constant(value=value):
            return type(value).__name__
        case ast.BinOp() | ast.UnaryOp():
            return "int"
        case ast.Compare() | ast.BoolOp():
            return "bool"
        case _:
            return ""


def _closed(node: ast.expr, around: Surroundings) -> str:
    text = around.segment(node)
    return text if isinstance(node, _ATOMS) else f"({text})"


def _is_text(node: ast.expr) -> bool:
    """Whether it is certainly no number: an edit that only raises a TypeError teaches nothing."""
    shown: Sequence[type[ast.expr]] = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
    return isinstance(node, tuple(shown)) or (isinstance(node, ast.Constant) and not isinstance(node.value, int))


def span_of(node: ast.AST) -> Span:
    """Where a node stands."""
    return Span(node.lineno, node.col_offset, *_end(node))  # type: ignore[attr-defined] # expressions and statements


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset
