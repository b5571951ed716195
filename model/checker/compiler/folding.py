"""Builds expressions, and folds what is known: one function for each kind, to be used instead of its class.

Numbers are computed as Python computes them, wrapped to 64 bits. What Python refuses (to divide by 0, to shift by less
than nothing) stays, and is noticed when it happens. An expression that calls a function that writes is never folded
away.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Final

from rebalance_check.model.checker.compiler.tree import (
    FALSE,
    TRUE,
    Address,
    Binary,
    Both,
    Call,
    Checked,
    Choose,
    Compare,
    Comparison,
    Constant,
    Convert,
    Either,
    Expression,
    Function,
    Load,
    Local,
    Not,
    Operator,
)
from rebalance_check.model.checker.compiler.types import Number

WORD: Final = 64
"""The bits of a number."""


COMPUTED: Final[Mapping[Operator, Callable[[int, int], int]]] = {
    Operator.ADD: operator.add,
    Operator.SUB: operator.sub,
    Operator.MUL: operator.mul,
    Operator.DIV: operator.floordiv,
    Operator.MOD: operator.mod,
    Operator.AND: operator.and_,
    Operator.OR: operator.or_,
    Operator.XOR: operator.xor,
    Operator.LEFT: operator.lshift,
    Operator.RIGHT: operator.rshift,
}

COMPARED: Final[Mapping[Comparison, Callable[[int, int], bool]]] = {
    Comparison.EQ: operator.eq,
    Comparison.NE: operator.ne,
    Comparison.LT: operator.lt,
    Comparison.LE: operator.le,
    Comparison.GT: operator.gt,
    Comparison.GE: operator.ge,
}

NEUTRAL: Final[Mapping[Operator, int]] = {
    Operator.ADD: 0,
    Operator.SUB: 0,
    Operator.MUL: 1,
    Operator.DIV: 1,
    Operator.OR: 0,
    Operator.XOR: 0,
    Operator.LEFT: 0,
    Operator.RIGHT: 0,
}
"""The right operand that changes nothing."""


def truth(value: bool) -> Constant:
    """A truth value that is known."""
    return TRUE if value else FALSE


def integer(value: int) -> Constant:
    """A number that is known."""
    return Constant(Number.INT, value)


def wrapped(kind: Number, value: int) -> Constant:
    """A number cut to 64 bits, as registers cut it."""
    cut = value & ((1 << WORD) - 1)
    if kind is not Number.BITS and cut >> (WORD - 1):
        cut -= 1 << WORD
    return Constant(kind, cut)


def binary(operation: Operator, left: Expression, right: Expression) -> Expression:
    """``left operation right``, both of one type."""
    if isinstance(right, Constant):
        if isinstance(left, Constant) and is_allowed(operation, right.value):
            return wrapped(left.type, COMPUTED[operation](left.value, right.value))
        if NEUTRAL.get(operation) == right.value:
            return left
    return Binary(operation, left, right)


def is_allowed(operation: Operator, right: int) -> bool:
    """Whether Python computes an operation with this right operand."""
    if operation in {Operator.DIV, Operator.MOD}:
        return right != 0
    return operation not in {Operator.LEFT, Operator.RIGHT} or 0 <= right <= WORD


def compare(comparison: Comparison, left: Expression, right: Expression) -> Expression:
    """``left comparison right``, both of one type."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        return truth(COMPARED[comparison](left.value, right.value))
    return Compare(comparison, left, right)


def both(left: Expression, right: Expression) -> Expression:
    """``left and right``."""
    if isinstance(left, Constant):
        return right if left.value else FALSE
    if isinstance(right, Constant):
        if right.value:
            return left
        if is_pure(left):
            return FALSE
    return Both(left, right)


def either(left: Expression, right: Expression) -> Expression:
    """``left or right``."""
    if isinstance(left, Constant):
        return TRUE if left.value else right
    if isinstance(right, Constant):
        if not right.value:
            return left
        if is_pure(left):
            return TRUE
    return Either(left, right)


def opposite(value: Expression) -> Expression:
    """``not value``."""
    if isinstance(value, Constant):
        return truth(not value.value)
    return value.value if isinstance(value, Not) else Not(value)


def choose(test: Expression, then: Expression, other: Expression) -> Expression:
    """``then if test else other``, both of one type."""
    if isinstance(test, Constant):
        return then if test.value else other
    return then if then == other and is_pure(test) else Choose(test, then, other)


def convert(value: Expression, kind: Number) -> Expression:
    """A value as one of another type: a truth value as 0 or 1, a number as its bits, bits as a number with a sign."""
    if value.type is kind:
        return value
    if kind is Number.TRUTH:
        return compare(Comparison.NE, value, Constant(value.type, 0))
    if isinstance(value, Constant):
        return wrapped(kind, value.value)
    return Convert(kind, value)


def call(function: Function, arguments: tuple[Expression | Address, ...]) -> Expression:
    """A call of a function with one result, or what it always returns."""
    if function.constant is not None and all(is_pure(each) for each in arguments):
        return Constant(function.results[0], function.constant)
    return Call(function, arguments, function.results[0])


def is_pure(value: Expression | Address) -> bool:
    """Whether to compute a value writes nothing, so that it may be left out."""
    match value:
        case Constant() | Local():
            return True
        case Address():
            return all(is_pure(item.at) for item in value.items)
        case Load():
            return is_pure(value.address)
        case Checked():
            return is_pure(value.at)
        case Not() | Convert():
            return is_pure(value.value)
        case Binary() | Compare() | Both() | Either():
            return is_pure(value.left) and is_pure(value.right)
        case Choose():
            return is_pure(value.test) and is_pure(value.then) and is_pure(value.other)
        case Call():
            return value.function.is_pure and all(is_pure(each) for each in value.arguments)
