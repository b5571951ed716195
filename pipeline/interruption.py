"""An interrupted campaign keeps what is finished: workers stop before the next seed, and hand over what they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple

INTERRUPTIONS: Final = (KeyboardInterrupt, SystemExit)
"""What Ctrl-C and, in the command line, SIGTERM and SIGHUP raise."""

GRACE_S: Final = 2.0
"""How long an interrupted campaign waits for the seeds that are being simulated; what takes longer is dropped."""

_CHECK_S: Final = 0.2


class Simulated(NamedTuple):
    """A file with the runs of some seeds, and what interrupted its making; None where it is whole."""

    path: Path
    seeds: range
    interruption: BaseException | None = None


def stop_file(staging: Path) -> Path:
    """The file whose appearance asks all workers of a campaign to stop, on other machines, too."""
    return staging / "stop"


def until_stopped(seeds: Iterable[int], stop: Path) -> Iterator[int]:
    """The seeds, as long as the file ``stop`` is not there."""
    for seed in seeds:
        if stop.exists():
            return
        yield seed


class InThread:
    """A call in a thread of its own, so that an interruption reaches the thread that waits for it and not the call."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._failure: BaseException | None = None
        self._ended = Event()  # in Python 3.11 an interrupted `Thread.join` takes the thread for ended
        Thread(target=self._run, daemon=True, name="interruptible").start()

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as failure:
            self._failure = failure
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Return when the call has ended, and raise what it raised."""
        while not self._ended.wait(_CHECK_S):
            pass
        if self._failure is not None:
            raise self._failure

    def ended_well(self, within_s: float) -> bool:
        """Whether the call ends within so many seconds, and raises nothing."""
        return self._ended.wait(within_s) and self._failure is None
