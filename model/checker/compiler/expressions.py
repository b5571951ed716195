"""Compiles the expressions of a function: from syntax to instructions, with known values folded away.

``and``, ``or`` and ``if`` are branches, so that operands which Python would skip are skipped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rebalance_check.model.checker.compiler.accesses import CONVERSIONS, AccessCompiler
from rebalance_check.model.checker.compiler.instructions import (
    COMPARISONS,
    OPERATIONS,
    REGISTER,
    constant,
    integer,
    truth_of,
)
from rebalance_check.model.checker.compiler.subset import (
    CONFIGURATION,
    AbsentRecordError,
    Function,
    Operand,
    Place,
    Value,
)
from rebalance_check.model.checker.compiler.types import Absent, Array, Cell, Number, Record

LEAST_AND_MOST: Final[Mapping[Any, str]] = {min: "smin", max: "smax"}
"""The functions that choose one of several numbers."""


class ExpressionCompiler(AccessCompiler):
    """Compiles expressions of every kind."""

    # -------------------------------------------------------------------------------------------- truth

    def truth(self, node: ast.expr) -> Operand:
        """Whether an expression holds: where only that matters, a number holds if it is not 0."""
        if not isinstance(node, ast.BoolOp):
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                value = self.truth(node.operand)
                known = value.known is not None
                return truth_of(not value.known) if known else self.let(Number.TRUTH, f"xor i1 {value.text}, true")
            return self.convert(self.number(node), Number.TRUTH)
        yes, no, behind = self.label(), self.label(), self.label()
        known_truth = self.jump(node, yes, no)
        if known_truth is not None:
            return truth_of(known_truth)
        for label in (yes, no):
            self.begin(label)
            self.go(behind)
        self.begin(behind)
        return self.let(Number.TRUTH, f"phi i1 [true, %{yes}], [false, %{no}]")

    def jump(self, node: ast.expr, then: str, other: str) -> bool | None:
        """Jump to one of two labels; where it is known whether the expression holds, say so and do not jump."""
        if isinstance(node, ast.BoolOp):
            return self.jump_on_several(node, then, other)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.jump(node.operand, other, then)
            return None if known is None else not known
        value = self.truth(node)
        if value.known is not None:
            return bool(value.known)
        self.branch(value, then, other)
        return None

    def jump_on_several(self, node: ast.BoolOp, then: str, other: str) -> bool | None:
        """`jump` for ``and`` and ``or``: a term that is known decides, or is left out."""
        is_and, begin, is_decided = isinstance(node.op, ast.And), self.mark(), False
        for number, each in enumerate(node.values, 1):
            middle = self.label() if number < len(node.values) else then if is_and else other
            known = self.jump(each, middle if is_and else then, other if is_and else middle)
            if known is None and number < len(node.values):
                self.begin(middle)
            elif known is not None and known != is_and:
                if self.writes == begin.writes:
                    self.undo(begin)
                    return known
                is_decided = True
                self.go(then if known else other)
                break
        if len(self.lines) == begin.lines:
            return is_and
        if not is_decided:
            self.go(then if is_and else other)
        return None

    # -------------------------------------------------------------------------------------------- by what stands there

    def located(self, node: ast.expr) -> Value:
        """The meaning of an expression; a number in memory is a `Place`, and a variable a `Slot`.

        Raises `SubsetError` for a kind of expression that cannot be compiled.
        """
        match node:
            case ast.Constant():
                return self.constant(node)
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.BinOp():
                return self.binary(node, node.op, self.integer(node.left), self.integer(node.right))
            case ast.UnaryOp():
                return self.unary(node)
            case ast.BoolOp():
                return self.joined(node)
            case ast.Compare():
                return self.compared(node)
            case ast.IfExp():
                return self.chosen(node)
            case ast.Call():
                return self.called(node)
        kind = type(node).__name__
        raise self.refuse(node, f"{ast.unparse(node)} ({kind}) is not known", "write it with loops and plain numbers")

    # -------------------------------------------------------------------------------------------- operations

    def binary(self, node: ast.AST, operation: ast.operator, left: Operand, right: Operand) -> Operand:
        """An operation on two numbers of one type; a truth value is counted with as a number."""
        if type(operation) not in OPERATIONS:
            raise self.refuse(node, f"{type(operation).__name__} is not known", "use + - * // % & | ^ << >>")
        return self.compute(type(operation), *self.alike(node, left, right))

    def alike(self, node: ast.AST, left: Operand, right: Operand) -> tuple[Operand, Operand]:
        """Both of one type: a truth value is counted with as a number."""
        kind = self.common(node, left, right)
        return self.convert(left, kind), self.convert(right, kind)

    def common(self, node: ast.AST, left: Operand, right: Operand) -> Number:
        """The type in which two numbers meet.

        Raises `SubsetError` where bits meet a number.
        """
        if left.type is right.type:
            return left.type
        if Number.BITS not in {left.type, right.type}:
            return Number.INT
        raise self.refuse(node, f"a number of type {left.type} meets one of {right.type}", "convert one of them first")

    def unary(self, node: ast.UnaryOp) -> Operand:
        """``not``, ``-``, ``+`` and ``~``."""
        match node.op:
            case ast.Not():
                return self.truth(node)
            case ast.UAdd():
                return self.integer(node.operand)
            case ast.USub():
                return self.binary(node, ast.Sub(), integer(0), self.integer(node.operand))
            case ast.Invert():
                return self.binary(node, ast.BitXor(), self.integer(node.operand), integer(-1))
        raise self.refuse(node, f"{ast.unparse(node)} is not known", "use not, -, + or ~")

    def joined(self, node: ast.BoolOp) -> Operand:
        """``and`` and ``or`` as a value: of truth values alone, because Python gives one of the operands."""
        for each in node.values:
            begin = self.mark()
            value = self.number(each)
            self.undo(begin)
            if value.type is not Number.TRUTH:
                instead = f"write bool({ast.unparse(each)}), or use it in a condition"
                raise self.refuse(each, f"{ast.unparse(each)} in {ast.unparse(node)} is no truth value", instead)
            if value.known == isinstance(node.op, ast.Or):
                break
        return self.truth(node)

    def compared(self, node: ast.Compare) -> Operand:
        """Comparisons, also in a row: all that stands there is computed, so the terms must write nothing."""
        left, writes = self.number(node.left), self.writes
        found = truth_of(True)
        for operation, term in zip(node.ops, node.comparators, strict=True):
            right = self.number(term)
            if len(node.ops) > 1 and self.writes != writes:
                raise self.refuse(node, f"{ast.unparse(node)} calls a function that writes", "compare two at a time")
            if type(operation) not in COMPARISONS:
                raise self.refuse(node, f"{ast.unparse(node)} is no comparison of numbers", "use == != < <= > >=")
            one = self.compare(type(operation), *self.alike(node, left, right))
            found = one if found.known else self.let(Number.TRUTH, f"and i1 {found.text}, {one.text}")
            left = right
        return found

    def chosen(self, node: ast.IfExp) -> Operand:
        """``then if test else other``; where the test is known the other value is not looked at."""
        yes, no, behind = self.label(), self.label(), self.label()
        known = self.jump(node.test, yes, no)
        if known is not None:
            return self.number(node.body if known else node.orelse)
        self.begin(yes)
        then, at, then_from = self.number(node.body), len(self.lines), self.here
        self.is_open = False
        self.begin(no)
        other = self.number(node.orelse)
        kind = self.common(node, then, other)
        other, other_from = self.convert(other, kind), self.here
        self.go(behind)
        rest, self.lines[at:], self.is_open = self.lines[at:], [], True
        then = self.convert(then, kind)
        self.go(behind)
        self.lines += rest
        self.begin(behind)
        ways = f"[{then.text}, %{then_from}], [{other.text}, %{other_from}]"
        return self.let(kind, f"phi {REGISTER[kind]} {ways}")

    # -------------------------------------------------------------------------------------------- calls

    def called(self, node: ast.Call) -> Operand:
        """A call that gives a number: of a function of the program, of ``min`` or ``max``, or a conversion."""
        if node.keywords:
            raise self.refuse(node, f"{ast.unparse(node)} names its arguments", "give them in their order")
        if isinstance(node.func, ast.Name) and self.words.has_function(node.func.id):
            begin = self.mark()
            function, arguments = self.call_of(node, node.func.id)
            if function.result is None:
                raise self.refuse(node, f"{function.name} returns no number", "call it on a line of its own")
            if function.constant is not None and self.writes == begin.writes:
                self.undo(begin)
                return constant(function.result, function.constant)
            return self.let(function.result, self.call_text(function, arguments))
        meaning = self.value(node.func)
        if meaning in LEAST_AND_MOST:
            return self.least_or_most(node, LEAST_AND_MOST[meaning])
        if meaning in CONVERSIONS and len(node.args) == 1:
            return self.convert(self.number(node.args[0]), CONVERSIONS[meaning])
        raise self.refuse(node, f"{ast.unparse(node.func)} cannot be called", "call a function of the model")

    def least_or_most(self, node: ast.Call, name: str) -> Operand:
        """The least or the greatest of several numbers."""
        numbers = [self.integer(each) for each in node.args]
        if len(numbers) < 2:
            raise self.refuse(node, f"{ast.unparse(node)} is not known", "give it two numbers or more")
        kept = numbers[0]
        for each in numbers[1:]:
            if kept.known is not None and each.known is not None:
                kept = integer((min if name == "smin" else max)(kept.known, each.known))
                continue
            kept = self.let(Number.INT, f"call i64 @llvm.{name}.i64(i64 {kept.text}, i64 {each.text})")
        return kept

    def call_of(self, node: ast.Call, name: str) -> tuple[Function, Sequence[str]]:
        """The function of this name, and the arguments of a call: the configuration is not handed on."""
        function = self.function_named(name)
        values = [(each, self.value(each)) for each in node.args]
        given = [(each, value) for each, value in values if value is not CONFIGURATION]
        if len(given) != len(function.parameters):
            names = ", ".join(parameter.name for parameter in function.parameters)
            raise self.refuse(node, f"{ast.unparse(node)} does not fit", f"{function.name} takes {names}")
        arguments = list[str]()
        for parameter, (each, value) in zip(function.parameters, given, strict=True):
            arguments += self.argument(each, value, parameter.type)
        return function, arguments

    def argument(self, node: ast.expr, value: Value, wanted: Number | Record | Array) -> Iterable[str]:
        """An argument for a parameter of this type; an array whose length its type does not say brings that along.

        Raises `AbsentRecordError` for a record that is absent.
        """
        if isinstance(wanted, Number):
            return [f"{REGISTER[wanted]} {self.convert(self.as_number(node, value), wanted).text}"]
        if isinstance(value, Absent):
            raise AbsentRecordError
        if not isinstance(value, Place) or not fits(value.type, wanted):
            raise self.refuse(node, f"{ast.unparse(node)} is no {wanted}", "hand on what the annotation says")
        made = [f"ptr {self.address(value)}"]
        if isinstance(wanted, Array) and wanted.length is None and value.length is not None:
            made.append(f"i64 {value.length.text}")
        return made

    def call_text(self, function: Function, arguments: Iterable[str]) -> str:
        """The text of a call."""
        self.writes += not function.is_pure
        result = REGISTER[function.result] if function.result else "void"
        return f"call {result} @{function.name}({', '.join(arguments)})"


def fits(given: Cell | Record | Array, wanted: Record | Array) -> bool:
    """Whether memory of one type may be handed on as another."""
    if isinstance(given, Array) and isinstance(wanted, Array):
        known = wanted.length is None or wanted.length == given.length
        return known and given.stride == wanted.stride and given.item == wanted.item
    return given == wanted
