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

COMPILER: Final = "rebalance-check-compiler"
"""The name of the thread that compiles."""

WAKE_EVERY: Final = 0.1
"""Seconds between two reports, and the longest time until an interrupt is seen."""

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
    failed, done, was_cached = list[BaseException](), threading.Event(), program.is_cached()

    def work() -> None:
        try:
            compile_all()
        except BaseException as error:  # it is raised again, in the thread that waits
            failed.append(error)
        finally:
            done.set()

    started = time.perf_counter()
    start(work)
    expected = None if was_cached else last_compile_seconds()
    while not done.wait(WAKE_EVERY):
        if stop():
            return False
        if listener is not None and not was_cached:
            listener.compiling(time.perf_counter() - started, expected)
    if failed:
        raise failed[0]
    if not was_cached:
        note_compile_seconds(time.perf_counter() - started)
    return True


def start(work: Callable[[], None]) -> None:
    """Start the thread that compiles.

    Raises `MemoryError` where the system has none for it.
    """
    before = threading.stack_size(STACK)
    try:
        threading.Thread(target=work, name=COMPILER, daemon=True).start()
    except RuntimeError as error:
        raise MemoryError(str(error)) from error
    finally:
        threading.stack_size(before)
