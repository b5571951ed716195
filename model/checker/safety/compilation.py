"""Compiling apart from the main thread, so that it can be watched and interrupted.

LLVM takes a second or more, in which no Python runs and no signal is handled. So it does so in a thread of its own
while the caller waits. The thread cannot be stopped: a caller that was interrupted leaves it running, and a process
that wants to end then ends with `os._exit` (`is_compiling`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.safety.limits import SearchListener, no_stop
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.in_thread import WAKE_EVERY_S, InThread
from rebalance_check.model.vocabulary.bounds import Bounds

COMPILER: Final = "rebalance-check-compiler"
"""The name of the thread that compiles."""

STACK: Final = 16 << 20
"""Bytes of stack for LLVM: threads have less than the main thread on some platforms."""


def is_compiling() -> bool:
    """Whether a thread of this process compiles; the interpreter must not be finalised then."""
    return any(thread.name == COMPILER for thread in threading.enumerate())


def compile_apart(
    model: Model, bounds: Bounds, listener: SearchListener | None = None, stop: Callable[[], bool] = no_stop
) -> Program | None:
    """Compile a model, or take it from the cache, and wait; None when ``stop`` ended the waiting.

    Raises: RebalanceCheckError as `Program` does, and MemoryError where there is none for a thread.
    """
    made = list[Program]()
    started = time.perf_counter()
    compiling = InThread(lambda: made.append(Program(model, bounds)), COMPILER, STACK)
    while not compiling.ends_within(WAKE_EVERY_S):
        if stop():
            return None
        if listener is not None:
            listener.compiling(time.perf_counter() - started)
    compiling.wait()
    return made[0]


def compiled(model: Model, bounds: Bounds, listener: SearchListener | None) -> Program:
    """A compiled model, for a search that nothing but a signal interrupts, which ends the waiting."""
    program = compile_apart(model, bounds, listener)
    assert program is not None, "nothing asked to stop"
    return program
