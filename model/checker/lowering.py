"""Rewrites a model's functions for packed records of given sizes: what the compiled backend makes of `layout`'s marks.

The functions of a model name every field of their state, whatever the sizes. In the packed records an absent field has
no place, an alias is no field, and a record cannot be handed to `layout.reset`, which is a method call in disguise. So
the syntax tree is rewritten: an alias becomes the field, ``reset(net)`` a call of the generated ``reset_Message(net)``,
the read of an absent field the number that it reads as, and a write to one is dropped. What is then decided (``0 ==
Phase.LOADING``) is folded, and the branch not taken goes, so that nothing is compiled which these sizes never need.

The rewriting goes by types, which it takes from the annotations of parameters and follows through assignments.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from rebalance_check.model.checker.layout import Field, Layout, Sizes, empty_number, nested

GENERATED: Final = ("reset", "assign")
"""The functions of `layout` that have a generated one for each layout."""

COMPARED: Final[Mapping[type[ast.cmpop], Callable[[int, int], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Typed(NamedTuple):
    """What is known of an expression: its layout (None: a number of this kind), if a list, and if absent."""

    item: type[Layout] | None
    kind: str
    is_list: bool
    is_absent: bool


def lower(tree: ast.Module, state: type[Layout], sizes: Sizes, config: Mapping[str, Any], space: Any) -> None:
    """Rewrite the functions of a module for states of these sizes.

    ``config`` are the values of the configuration: one that is 0 and has the name of a dimension that is 0 counts as a
    constant. ``space`` holds the globals so far, of which enumerations are constants.
    """
    zero = {name for name, value in config.items() if not value and sizes.get(name) == 0}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            Lowering(nested(state), sizes, zero, space).function(node)


class AbsentRecordError(ValueError):
    """A function hands on a record that is absent."""

    def __init__(self, place: str) -> None:
        super().__init__(f"{place} is absent at these sizes, and no number: read its fields, or guard the call")


class Lowering(ast.NodeTransformer):
    """Rewrites one function."""

    def __init__(self, classes: Mapping[str, type[Layout]], sizes: Sizes, zero: set[str], space: Any) -> None:
        self.classes, self.sizes, self.zero, self.space = classes, sizes, zero, space
        self.types: dict[str, Typed] = {}
        self.config = ""
        self.name = ""

    def function(self, node: ast.FunctionDef) -> None:
        """Rewrite a function in place."""
        self.name = node.name
        for argument in node.args.args:
            if isinstance(argument.annotation, ast.Name):
                if argument.annotation.id in self.classes:
                    self.types[argument.arg] = Typed(self.classes[argument.annotation.id], "", False, False)
                elif argument.annotation.id == "Config":
                    self.config = argument.arg
        try:
            node.body = self.block(node.body)
        except AbsentRecordError as error:  # no step of these sizes calls it, or the run ends with this message
            node.body = ast.parse(f"raise ValueError({str(error)!r})").body

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements rewritten, without those behind a return."""
        kept: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            kept += made if isinstance(made, list) else [made] if made is not None else []
            if kept and isinstance(kept[-1], ast.Return):
                break
        return kept or [ast.copy_location(ast.Pass(), statements[0])]

    # -------------------------------------------------------------------------------------------- types

    def typed(self, node: ast.expr) -> Typed | None:
        """What is known of an expression; None: nothing, or that it belongs to no record."""
        if isinstance(node, ast.Name):
            return self.types.get(node.id)
        if isinstance(node, ast.Subscript):
            owner = self.typed(node.value)
            return owner._replace(is_list=False) if owner and owner.is_list else None
        if isinstance(node, ast.Attribute):
            owner = self.typed(node.value)
            field = field_of(owner, node.attr)
            if owner is not None and field is not None:
                is_absent = owner.is_absent or not field.is_present(self.sizes)
                return Typed(field.item, field.kind, field.dimension is not None, is_absent)
        return None

    def is_absent(self, node: ast.expr) -> bool:
        """Whether an expression belongs to an absent field."""
        known = self.typed(node)
        return known is not None and known.is_absent

    # -------------------------------------------------------------------------------------------- statements

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        """Note the type of a variable; drop what is written to an absent field, and names of absent records."""
        target, value = node.targets[0], node.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
        kept = [(self.target(one), self.visit(other)) for one, other in pairs if not self.is_dropped(one, other)]
        if not kept:
            return None
        node.targets, node.value = [kept[0][0]], kept[0][1]
        if len(kept) > 1:
            node.targets = [ast.copy_location(ast.Tuple([one for one, _ in kept], ast.Store()), target)]
            node.value = ast.copy_location(ast.Tuple([other for _, other in kept], ast.Load()), value)
        return node

    def is_dropped(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether an assignment has no effect at these sizes. One to a variable tells its type."""
        if not isinstance(target, ast.Name):
            return self.is_absent(target)
        self.types.pop(target.id, None)
        known = self.typed(value)
        if known is None or (known.item is None and not known.is_list):
            return False
        self.types[target.id] = known
        return known.is_absent

    def target(self, node: ast.expr) -> ast.expr:
        """The target of an assignment, rewritten in place."""
        return node if isinstance(node, ast.Name) else self.place(node)

    def place(self, node: ast.expr) -> ast.expr:
        """An access rewritten in place: aliases become fields, and what stands in brackets is rewritten."""
        if isinstance(node, ast.Subscript):
            node.value, node.slice = self.place(node.value), self.visit(node.slice)
        elif isinstance(node, ast.Attribute):
            owner = self.typed(node.value)
            field = field_of(owner, node.attr)
            node.value = self.place(node.value)
            node.attr = field.name if field else node.attr
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | None:
        """Drop what changes an absent field."""
        if self.is_absent(node.target):
            return None
        self.target(node.target)
        node.value = self.visit(node.value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        """Let ``reset`` and ``assign`` call the function of their layout, or drop them.

        Raises `ValueError` when no annotation says the layout of the record.
        """
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in GENERATED):
            node.value = self.visit(call)
            return node
        known = self.typed(call.args[0])
        if known is None or known.item is None:
            raise ValueError(f"{self.place_of(call)} needs a record whose layout follows from an annotation")
        if known.is_absent:
            return None
        call.func.id = f"{call.func.id}_{known.item.__name__}"
        call.args = [self.place(each) for each in call.args]
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        """Keep one branch alone where the condition is decided."""
        node.test = self.visit(node.test)
        decided = self.constant(node.test)
        if decided is not None:
            taken = node.body if decided else node.orelse
            return self.block(taken) if taken else []
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse) if node.orelse else []
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        """Rewrite the block."""
        node.iter = self.visit(node.iter)
        node.body = self.block(node.body)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        """Rewrite condition and block."""
        node.test = self.visit(node.test)
        node.body = self.block(node.body)
        return node

    # -------------------------------------------------------------------------------------------- expressions

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """The read of a field."""
        if isinstance(node.value, ast.Name) and node.value.id == self.config and node.attr in self.zero:
            return constant(node, 0)
        return self.read(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """The read of an item."""
        return self.read(node)

    def read(self, node: ast.Attribute | ast.Subscript) -> ast.expr:
        """What an access reads: a constant where the field is absent.

        Raises `AbsentRecordError` when the field is absent and cannot be read as a number.
        """
        known = self.typed(node)
        if known is None:
            self.generic_visit(node)
            return node
        if not known.is_absent:
            return self.place(node)
        if known.item is not None or known.is_list:
            raise AbsentRecordError(self.place_of(node))
        return constant(node, empty_number(known.kind))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A variable, which must not stand for an absent record. Raises `AbsentRecordError` when it does."""
        if isinstance(node.ctx, ast.Load) and self.is_absent(node):
            raise AbsentRecordError(self.place_of(node))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Decide what is compared with constants."""
        self.generic_visit(node)
        terms = [self.constant(each) for each in (node.left, *node.comparators)]
        if len(terms) == 2 and type(node.ops[0]) in COMPARED:
            one, other = terms
            if one is not None and other is not None:
                return constant(node, COMPARED[type(node.ops[0])](one, other))
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Decide ``and`` and ``or`` as far as their terms are; a term that is called is not dropped."""
        stops = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        for each in node.values:
            term = self.visit(each)
            decided = self.constant(term)
            if decided is not None and bool(decided) != stops:
                continue
            kept.append(term)
            if decided is not None:
                if not any(isinstance(inner, ast.Call) for one in kept for inner in ast.walk(one)):
                    return constant(node, stops)
                break
        if not kept:
            return constant(node, not stops)
        node.values = kept
        return node if len(kept) > 1 else kept[0]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Decide ``not``."""
        self.generic_visit(node)
        decided = self.constant(node.operand)
        return constant(node, not decided) if isinstance(node.op, ast.Not) and decided is not None else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Keep one value alone where the condition is decided."""
        test = self.visit(node.test)
        decided = self.constant(test)
        if decided is not None:
            made: ast.expr = self.visit(node.body if decided else node.orelse)
            return made
        node.test, node.body, node.orelse = test, self.visit(node.body), self.visit(node.orelse)
        return node

    def constant(self, node: ast.expr) -> int | None:
        """The value of an expression that is decided: a number, or a member of an enumeration."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self.space.get(node.value.id)
            if isinstance(owner, type) and issubclass(owner, IntEnum):
                return int(owner[node.attr])
        return None

    def place_of(self, node: ast.expr) -> str:
        """Where an expression stands, for messages."""
        return f"{self.name}, line {node.lineno}: {ast.unparse(node)}"


def field_of(owner: Typed | None, name: str) -> Field | None:
    """The field that a name means in a record."""
    if owner is None or owner.is_list or owner.item is None:
        return None
    return owner.item.FIELDS.get(owner.item.ALIASES.get(name, name))


def constant(node: ast.expr, value: int) -> ast.expr:
    """A constant in place of an expression."""
    return ast.copy_location(ast.Constant(value), node)
