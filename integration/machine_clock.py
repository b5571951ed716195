"""The clock that everything outside of the simulator goes by."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Milliseconds of this machine's monotonic clock: one clock for all processes, which never jumps."""
    return time.monotonic_ns() // 1_000_000
