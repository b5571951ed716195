"""Child processes end with this one, however it ends: also by SIGKILL, which runs no clean-up of ours."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
"""``prctl(2)``: the signal that the kernel sends to this process when the thread that started it ends."""

_WRAPPER: Final = f"""\
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl({_PR_SET_PDEATHSIG}, int(signal.SIGKILL))
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)  # the parent ended before the call
os.execvp(sys.argv[2], sys.argv[2:])
"""


def ended_with_parent(command: Sequence[str]) -> list[str]:
    """The command line that runs ``command`` in such a way that the kernel kills it when this process ends.

    The setting survives the ``exec`` of the command, and a process that is stopped is killed, too. It works on Linux
    and for processes that the main thread starts: the kernel goes by threads, and others may end early. Elsewhere the
    command is returned as it is; children that read their standard input then still end at its end.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return list(command)
    return [sys.executable, "-I", "-S", "-c", _WRAPPER, str(os.getpid()), *command]


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, where that can be had (Linux)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
