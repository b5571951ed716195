"""An interrupted campaign keeps its finished runs: workers stop before the next seed, and hand over theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from rebalance_check.model.vocabulary.errors import INTERRUPTIONS
from rebalance_check.pipeline.seed_set import SeedSet

GRACE_S: Final = 2.0
"""How long an interrupted campaign waits for the seeds that are being simulated; slower ones are dropped."""


class Simulated(NamedTuple):
    """A file with the runs of some seeds, and the signal or error that interrupted it; None where it is whole."""

    path: Path
    seeds: SeedSet
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


@contextmanager
def noted_at_interruption(so_far: Callable[[], str]) -> Iterator[None]:
    """Where a signal ends the block, a note on the exception says how far the campaign came by then."""
    try:
        yield
    except INTERRUPTIONS as end:
        end.add_note(so_far())
        raise
