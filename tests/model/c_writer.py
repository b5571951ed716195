"""Writes the trees of a compiled model down as C: a second backend, whose only purpose is to contradict the first.

Every operand becomes a variable of its own, so that all is computed in the order in which Python does. What an index
beyond its array and a divisor of 0 do is what `llvm` says of its ``@fault``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rebalance_check.model.checker.compiler.tree import (
    Address,
    Assign,
    Binary,
    Both,
    Break,
    Call,
    Checked,
    Choose,
    Compare,
    Constant,
    Continue,
    Convert,
    CopyRecord,
    Do,
    Either,
    Expression,
    Fault,
    Function,
    If,
    Load,
    Local,
    Loop,
    Not,
    Operator,
    Pointer,
    Return,
    Statement,
    Store,
    While,
    length_of,
)
from rebalance_check.model.checker.compiler.types import Array, Cell, Number

REGISTER: Final = {Number.TRUTH: "bool", Number.INT: "i64", Number.BITS: "u64"}
MEMORY: Final = {Cell.U8: "u8", Cell.U32: "u32", Cell.I32: "i32", Cell.I64: "i64", Cell.U64: "u64"}
NAMED: Final = {
    Operator.DIV: "floor_div",
    Operator.MOD: "floor_mod",
    Operator.LEFT: "left",
    Operator.RIGHT: "right",
}
"""The operations that C does not define for all numbers, by the function of `RUNTIME` that does."""

RUNTIME: Final = """\
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sched.h>
typedef uint8_t u8; typedef uint32_t u32; typedef int32_t i32; typedef int64_t i64; typedef uint64_t u64;
i32 fault = 0;
static i64 checked(i64 at, i64 length, i32 where) {
  if (at >= 0 && at < length) return at;
  fault = where;
  return 0;
}
static i64 divisor(i64 by, i32 where) {
  if (by) return by;
  fault = where;
  return 1;
}
static i64 amount(i64 by, i32 where) {
  if (by >= 0) return by;
  fault = where;
  return 0;
}
static i64 floor_div(i64 a, i64 b) { return b == -1 ? -a : a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }
static i64 floor_mod(i64 a, i64 b) { return b == -1 ? 0 : a % b + ((a % b != 0 && (a % b < 0) != (b < 0)) ? b : 0); }
static i64 left(i64 a, i64 by) { return by > 63 ? 0 : (i64)((u64)a << by); }
static i64 right(i64 a, i64 by) { return a >> (by > 63 ? 63 : by); }
static u64 floor_div_bits(u64 a, u64 b) { return a / b; }
static u64 floor_mod_bits(u64 a, u64 b) { return a % b; }
static u64 left_bits(u64 a, u64 by) { return by > 63 ? 0 : a << by; }
static u64 right_bits(u64 a, u64 by) { return by > 63 ? 0 : a >> by; }
static void f_prefetch(u8 *table, i64 length, i64 at) { __builtin_prefetch(table + 8 * at); }
static void f_meet(u8 *numbers, i64 length, i64 workers) {
  i64 *arrived = (i64 *)numbers, *turn = arrived + 8;
  if (workers == 1) return;
  i64 mine = __atomic_load_n(turn, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL) == workers) {
    __atomic_store_n(arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(turn, mine + 1, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) == mine) sched_yield();
}
"""
"""What every program has; `-fwrapv` defines what the operators of C leave open."""


def module(functions: Iterable[Function], tables: Mapping[str, Sequence[int]], exports: Iterable[str]) -> str:
    """The text of a program, as `llvm.module` gives it; an exported function has the name of the model."""
    public = set(exports)
    texts = [RUNTIME]
    for name, values in tables.items():
        texts.append(f"static const i32 t_{name}[] = {{{', '.join(map(str, values or (0,)))}}};")
    for at, one in enumerate(functions, 1):
        texts.append(FunctionWriter(one, at).text())
        if one.name in public:
            texts.append(f'__typeof__(f_{one.name}) {one.name} __attribute__((alias("f_{one.name}")));')
    return "\n".join(texts) + "\n"


class FunctionWriter:
    """Writes one function, which has the number ``at``."""

    def __init__(self, function: Function, at: int) -> None:
        self.function, self.at = function, at
        self.lines: list[str] = []
        self.count = 0

    def text(self) -> str:
        """The definition."""
        variables = [f"{REGISTER[kind]} {named(name)} = 0;" for name, kind in self.function.locals.items()]
        self.block(self.function.body or ())
        head = f"{result(self.function)} f_{self.function.name}({', '.join(self.parameters()) or 'void'})"
        return "\n".join([f"{head} {{", *variables, *self.lines, "}"])

    def parameters(self) -> Iterable[str]:
        """The parameters; an array of unknown length brings it along."""
        for parameter in self.function.parameters:
            if isinstance(parameter.type, Number):
                yield f"{REGISTER[parameter.type]} {named(parameter.name)}"
                continue
            yield f"u8 *{named(parameter.name)}"
            if isinstance(parameter.type, Array) and parameter.type.length is None:
                yield f"i64 {named(length_of(parameter.name))}"
        if len(self.function.results) > 1:
            yield "i64 *results"

    def let(self, kind: Number, value: str) -> str:
        """A new variable of this value; its name."""
        self.count += 1
        self.lines.append(f"{REGISTER[kind]} x{self.count} = {value};")
        return f"x{self.count}"

    # -------------------------------------------------------------------------------------------- statements

    def block(self, statements: Iterable[Statement]) -> None:
        """Statements in braces."""
        self.lines.append("{")
        for each in statements:
            self.statement(each)
        self.lines.append("}")

    def statement(self, node: Statement) -> None:
        """One statement."""
        match node:
            case Assign():
                self.lines.append(f"{named(node.name)} = {self.number(node.value)};")
            case Store():
                value, kind = self.number(node.value), MEMORY[node.cell]
                self.lines.append(f"*({kind} *)({self.address(node.address)}) = ({kind}){value};")
            case CopyRecord():
                self.lines.append(f"memmove({self.address(node.to)}, {self.address(node.of)}, {node.bytes});")
            case Do():
                self.lines.append(f"{self.call(node.function, node.arguments)};")
            case If():
                self.lines.append(f"if ({self.number(node.test)})")
                self.block(node.then)
                self.lines.append("else")
                self.block(node.other)
            case Loop():
                self.loop(node)
            case While():
                self.lines.append("for (;;) {")
                self.lines.append(f"if (!{self.number(node.test)}) break;")
                self.block(node.body)
                self.lines.append("}")
            case Break():
                self.lines.append("break;")
            case Continue():
                self.lines.append("continue;")
            case Return():
                self.end([self.number(value) for value in node.values])
            case Fault():
                self.lines.append(f"fault = {self.at};")
                self.end(["0" for _ in self.function.results])

    def loop(self, node: Loop) -> None:
        """A loop, whose end is computed once."""
        at, last, first = named(node.name), self.number(node.last), self.number(node.first)
        self.lines.append(f"for ({at} = {first}; {at} < {last}; {at} += {node.step})")
        self.block(node.body)

    def end(self, values: Sequence[str]) -> None:
        """The function ends; several results are written where the caller wants them."""
        if len(values) == 1:
            self.lines.append(f"return {values[0]};")
            return
        self.lines += [f"results[{at}] = {value};" for at, value in enumerate(values)]
        self.lines.append("return;")

    # -------------------------------------------------------------------------------------------- expressions

    def number(self, node: Expression) -> str:
        """The operand that has the value of an expression."""
        match node:
            case Constant():
                return f"(({REGISTER[node.type]}){node.value % 2**64}ull)"
            case Local():
                return self.let(node.type, named(node.name))
            case Load():
                return self.let(node.type, f"*({MEMORY[node.cell]} *)({self.address(node.address)})")
            case Binary():
                return self.binary(node)
            case Compare():
                left, right = self.number(node.left), self.number(node.right)
                return self.let(node.type, f"{left} {node.comparison} {right}")
            case Both():
                return self.branch(node.left, node.right, Constant(Number.TRUTH, 0))
            case Either():
                return self.branch(node.left, Constant(Number.TRUTH, 1), node.right)
            case Choose():
                return self.branch(node.test, node.then, node.other)
            case Not():
                return self.let(node.type, f"!{self.number(node.value)}")
            case Convert():
                return self.let(node.type, self.number(node.value))
            case Checked():
                return self.let(Number.INT, self.checked(node.at, node.length))
            case Call():
                return self.let(node.type, self.call(node.function, node.arguments))

    def branch(self, test: Expression, then: Expression, other: Expression) -> str:
        """One of two values, of which only that which counts is computed."""
        chosen = self.let(then.type, "0")
        self.lines.append(f"if ({self.number(test)}) {{")
        self.lines.append(f"{chosen} = {self.number(then)}; }} else {{")
        self.lines.append(f"{chosen} = {self.number(other)}; }}")
        return chosen

    def binary(self, node: Binary) -> str:
        """An operation: C's operator, or a function where C leaves something open."""
        left, right = self.number(node.left), self.number(node.right)
        if node.operator not in NAMED:
            return self.let(node.type, f"{left} {node.operator} {right}")
        if node.operator in {Operator.DIV, Operator.MOD}:
            right = f"divisor({right}, {self.at})"
        elif node.type is Number.INT:
            right = f"amount({right}, {self.at})"
        name = NAMED[node.operator] + ("_bits" if node.type is Number.BITS else "")
        return self.let(node.type, f"{name}({left}, {right})")

    def checked(self, at: Expression, length: Expression) -> str:
        """An index, 0 where there is no such item."""
        return f"checked({self.number(at)}, {self.number(length)}, {self.at})"

    def address(self, node: Address) -> str:
        """A pointer, each index checked."""
        base = named(node.base.name) if isinstance(node.base, Pointer) else f"(u8 *)t_{node.base.name}"
        for item in node.items:
            at = self.number(item.at) if item.length is None else self.checked(item.at, item.length)
            base += f" + {self.let(Number.INT, at)} * {item.stride}"
        return f"{base} + {node.offset}"

    def call(self, function: Function, arguments: Sequence[Expression | Address]) -> str:
        """The text of a call."""
        given = [self.address(each) if isinstance(each, Address) else self.number(each) for each in arguments]
        return f"f_{function.name}({', '.join(given)})"


def named(name: str) -> str:
    """A variable or a parameter as C may call it."""
    return f"v_{name.replace('.', '__')}"


def result(function: Function) -> str:
    """What a function returns."""
    return REGISTER[function.results[0]] if len(function.results) == 1 else "void"
