"""Python's garbage collector while a history is made or judged: many objects that all stay, so it has little to find.

Looking through them at the usual pace is a fifth of the time of a simulation, and a tenth of that of a judgement.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

RARELY: Final = (50_000, 20, 100)
"""After how many new objects the youngest are looked through, and how many times as seldom the older ones are."""


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let the collector look seldom while the body runs, and as often as before afterwards.

    One that is switched off, or looks more seldom, stays as it is. It is one for all threads of the process.
    """
    before = gc.get_threshold()
    if before[0] == 0 or before[0] >= RARELY[0]:
        yield
        return
    gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*before)
