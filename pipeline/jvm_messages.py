"""The standard error of Spark's JVM, without the lines that say nothing about a run."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

SAYS_NOTHING: Final = ("WARNING: Using incubator modules: ",)
"""How lines begin that the JVM writes by itself at each start; log4j2.properties chooses among the lines of logs."""


@contextmanager
def filtered_errors() -> Iterator[int]:
    """A file descriptor for the standard error of a JVM that is started inside: the JVM's output there, also later,
    reaches ours, but for the lines that say nothing."""
    reading, writing = os.pipe()
    threading.Thread(target=_forward, args=(os.fdopen(reading, "rb"),), name="jvm-messages", daemon=True).start()
    try:
        yield writing
    finally:
        os.close(writing)  # the JVM has its own copy, and the thread ends with that


def _forward(messages: BinaryIO) -> None:
    with messages:
        for line in messages:
            text = line.decode(errors="backslashreplace")
            if not text.startswith(SAYS_NOTHING):
                sys.stderr.write(text)
                sys.stderr.flush()
