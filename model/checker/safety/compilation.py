"""Compiling apart from the main thread, so that it can be watched and interrupted.

Numba compiles a model in half a minute, most of it in LLVM, where no Python runs and no signal is handled. So it does
so in a thread of its own while the caller waits. That thread cannot be stopped: a caller that was interrupted leaves it
running, and a process that wants to end then ends with `os._exit` (`is_compiling`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from rebalance_check.model.checker.safety.compiled import Program, last_compile_seconds, note_compile_seconds
from rebalance_check.model.checker.safety.limits import SearchListener, no_stop
from rebalance_check.model.in_thread import WAKE_EVERY_S, InThread

COMPILER: Final = "rebalance-check-compiler"
"""The name of the thread that compiles."""

STACK: Final = 16 << 20
"""Bytes of stack for LLVM: threads have less than the main thread on some platforms."""


def is_compiling() -> bool:
    """Whether a thread of this process compiles; the interpreter must not be finalised then."""
    return any(thread.name == COMPILER for thread in threading.enumerate())


def compile_apart(
    program: Program,
    compile_all: Callable[[], None],
    listener: SearchListener | None,
    stop: Callable[[], bool] = no_stop,
) -> bool:
    """Run ``compile_all``, which compiles ``program``, and wait; False when ``stop`` ended the waiting.

    The listener is called only where the program is not cached yet. Raises what ``compile_all`` raises, and
    `MemoryError` where there is none for a thread.
    """
    was_cached = program.is_cached()
    started = time.perf_counter()
    compiling = InThread(compile_all, COMPILER, STACK)
    expected = None if was_cached else last_compile_seconds()
    while not compiling.ends_within(WAKE_EVERY_S):
        if stop():
            return False
        if listener is not None and not was_cached:
            listener.compiling(time.perf_counter() - started, expected)
    compiling.wait()
    if not was_cached:
        note_compile_seconds(time.perf_counter() - started)
    return True
