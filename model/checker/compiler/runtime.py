"""What every compiled program has, as LLVM's text: the place of a fault, checked operands, and the meeting of threads.

What Python would refuse is noticed instead of done: an index beyond its array becomes 0, a divisor of 0 becomes 1, and
an amount of less than no bits becomes 0; the number of the function stands in ``@fault`` then. A division by -1 is
done without the instruction, which traps where the least number is divided.
"""

from __future__ import annotations

import platform
from typing import Final

from rebalance_check.model.checker.compiler.tree import Function, Parameter
from rebalance_check.model.checker.compiler.types import Array, Cell, Number

HASHES: Final = Array(Cell.U64, Cell.U64.bytes, None)
NUMBERS: Final = Array(Cell.I64, Cell.I64.bytes, None)

_X86: Final = ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()")
_ARM: Final = ("declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)")
_RELAX: Final = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}
"""How a thread that waits leaves the core to the other thread that the core runs, by the name of the processor."""

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
declare i32 @sched_yield()
DECLARED
define internal void @prefetch(ptr %table, i64 %length, i64 %at) alwaysinline nounwind {
  %slot = getelementptr inbounds i64, ptr %table, i64 %at
  call void @llvm.prefetch.p0(ptr %slot, i32 1, i32 3, i32 1)
  ret void
}
define internal void @meet(ptr %shared, i64 %length, i64 %workers) noinline nounwind {
  %is_alone = icmp eq i64 %workers, 1
  br i1 %is_alone, label %done, label %arrive
arrive:
  %turn = getelementptr inbounds i64, ptr %shared, i64 8
  %mine = load atomic i64, ptr %turn acquire, align 8
  %before = atomicrmw add ptr %shared, i64 1 acq_rel
  %here = add i64 %before, 1
  %is_last = icmp eq i64 %here, %workers
  br i1 %is_last, label %open, label %wait
open:
  store atomic i64 0, ptr %shared monotonic, align 8
  %next = add i64 %mine, 1
  store atomic i64 %next, ptr %turn release, align 8
  ret void
wait:
  %tried = phi i64 [0, %arrive], [%again, %spin], [0, %rest]
  %now = load atomic i64, ptr %turn acquire, align 8
  %is_open = icmp ne i64 %now, %mine
  br i1 %is_open, label %done, label %spin
spin:
  RELAX
  %again = add i64 %tried, 1
  %is_long = icmp eq i64 %again, 1000
  br i1 %is_long, label %rest, label %wait
rest:
  %ignored = call i32 @sched_yield()
  br label %wait
done:
  ret void
}
!0 = !{!"branch_weights", i32 1000000, i32 1}
!1 = !{!"branch_weights", i32 1, i32 1000000}
"""

_DECLARED, _CALLED = _RELAX.get(platform.machine(), ("", ""))
_OPERANDS: Final = "\n".join(
    _OPERAND.replace("NAME", name).replace("WRONG", wrong).replace("INSTEAD", instead)
    for name, wrong, instead in (("divisor", "eq", "1"), ("amount", "slt", "0"))
)
RUNTIME: Final = _TEXT.replace("OPERANDS", _OPERANDS).replace("DECLARED", _DECLARED).replace("RELAX", _CALLED)
"""Its text. `meet` spins for some microseconds and then lets other threads run."""

PROVIDED: Final = (
    Function("prefetch", (Parameter("table", HASHES), Parameter("at", Number.INT)), (), body=(), is_pure=False),
    Function("meet", (Parameter("shared", NUMBERS), Parameter("workers", Number.INT)), (), body=(), is_pure=False),
)
"""The functions of `RUNTIME` that a program may call."""
