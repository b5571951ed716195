"""An interrupted campaign keeps what is finished: workers stop before the next seed, and hand over what they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Thread
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
        self._thread = Thread(target=self._run, daemon=True, name="interruptible")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._call()
        except BaseException as failure:
            self._failure = failure

    def wait(self) -> None:
        """Return when the call has ended, and raise what it raised."""
        while self._thread.is_alive():
            self._thread.join(_CHECK_S)
        if self._failure is not None:
            raise self._failure

    def ended_well(self, within_s: float) -> bool:
        """Whether the call ends within so many seconds, and raises nothing."""
        self._thread.join(within_s)
        return not self._thread.is_alive() and self._failure is None
