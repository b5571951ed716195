"""The part that every compiled program has, as LLVM's text: the place of a fault, and checked operands.

A refusal of Python's is noticed instead of done: an index beyond its array becomes 0, a divisor of 0 becomes 1, and
an amount of less than no bits becomes 0; the number of the function stands in ``@fault`` then. A division by -1 is
done without the instruction, which traps where the least number is divided.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.compiler.subset import Function, Parameter
from rebalance_check.model.checker.compiler.types import Array, Cell, Number

HASHES: Final = Array(Cell.U64, Cell.U64.bytes, None)

_OPERAND: Final = """\
define internal i64 @NAME(i64 %by, i32 %where) alwaysinline nounwind {
  %is_wrong = icmp WRONG i64 %by, 0
  br i1 %is_wrong, label %wrong, label %right, !prof !1
wrong:
  store i32 %where, ptr @fault
  br label %right
right:
  %sure = phi i64 [%by, %0], [INSTEAD, %wrong]
  ret i64 %sure
}"""
"""A right operand, checked; another one instead of a wrong one."""

_TEXT: Final = """\
@fault = global i32 0
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
define internal i64 @checked(i64 %at, i64 %length, i32 %where) alwaysinline nounwind {
  %is_inside = icmp ult i64 %at, %length
  br i1 %is_inside, label %inside, label %beyond, !prof !0
beyond:
  store i32 %where, ptr @fault
  br label %inside
inside:
  %sure = phi i64 [%at, %0], [0, %beyond]
  ret i64 %sure
}
OPERANDS
define internal i64 @floor_div(i64 %a, i64 %b) alwaysinline nounwind {
  %is_opposite = icmp eq i64 %b, -1
  %by = select i1 %is_opposite, i64 1, i64 %b
  %q = sdiv i64 %a, %by
  %r = srem i64 %a, %by
  %is_rest = icmp ne i64 %r, 0
  %signs = xor i64 %r, %b
  %is_other = icmp slt i64 %signs, 0
  %is_less = and i1 %is_rest, %is_other
  %less = sext i1 %is_less to i64
  %floor = add i64 %q, %less
  %opposite = sub i64 0, %a
  %result = select i1 %is_opposite, i64 %opposite, i64 %floor
  ret i64 %result
}
define internal i64 @floor_mod(i64 %a, i64 %b) alwaysinline nounwind {
  %is_opposite = icmp eq i64 %b, -1
  %by = select i1 %is_opposite, i64 1, i64 %b
  %r = srem i64 %a, %by
  %is_rest = icmp ne i64 %r, 0
  %signs = xor i64 %r, %b
  %is_other = icmp slt i64 %signs, 0
  %is_less = and i1 %is_rest, %is_other
  %more = select i1 %is_less, i64 %b, i64 0
  %modulo = add i64 %r, %more
  ret i64 %modulo
}
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
define internal void @prefetch(ptr %table, i64 %length, i64 %at) alwaysinline nounwind {
  %slot = getelementptr inbounds i64, ptr %table, i64 %at
  call void @llvm.prefetch.p0(ptr %slot, i32 1, i32 3, i32 1)
  ret void
}
!0 = !{!"branch_weights", i32 1000000, i32 1}
!1 = !{!"branch_weights", i32 1, i32 1000000}
"""

_OPERANDS: Final = "\n".join(
    _OPERAND.replace("NAME", name).replace("WRONG", wrong).replace("INSTEAD", instead)
    for name, wrong, instead in (("divisor", "eq", "1"), ("amount", "slt", "0"))
)
RUNTIME: Final = _TEXT.replace("OPERANDS", _OPERANDS)
"""Its text."""

PROVIDED: Final = (
    Function("prefetch", (Parameter("table", HASHES), Parameter("at", Number.INT)), None, lines=(), is_pure=False),
)
"""The functions of `RUNTIME` that a program may call."""
