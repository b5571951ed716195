"""Making a failing run small: the one way in which this project leaves things out of a counterexample.

`ddmin` leaves items out of a list (actions, lines of a scenario), `reduced` walks from one structure to smaller ones.
Both are deterministic, and neither knows what a run is: the caller repeats it and says whether it still fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

F = TypeVar("F")
T = TypeVar("T")


def ddmin(
    found: F,
    items: Callable[[F], Sequence[T]],
    still_fails: Callable[[tuple[T, ...]], F | None],
    most_runs: int,
    *,
    last_first: bool = False,
) -> F:
    """The failing run ``found`` with as few items as leaving out can reach, in at most ``most_runs`` repetitions.

    ``items`` gives the items of a failing run. ``still_fails`` repeats the run with the items that it is given: the run
    when it fails in the same way (it may hold fewer items than asked for, where it ends sooner), else None. Long
    stretches are left out first, then shorter ones, then single items until none can go. ``last_first`` begins at the
    end of the list, which is shorter where a run goes on after its failure. (Zeller and Hildebrandt, "Simplifying and
    isolating failure-inducing input", without its test of subsets.)
    """
    runs, size = 0, len(items(found))
    while size:
        before = len(items(found))
        start = (before - 1) // size * size if last_first else 0
        while 0 <= start < len(items(found)) and runs < most_runs:
            kept = items(found)
            runs += 1
            smaller = still_fails((*kept[:start], *kept[start + size :]))
            if smaller is not None:
                found = smaller
            if last_first:
                start = max(0, min(start, len(items(found))) - size) if start else -1
            elif smaller is None:
                start += size
        if runs == most_runs:
            break
        if size > 1 or len(items(found)) == before:
            size //= 2
    return found


def reduced(found: F, smaller: Callable[[F], Iterable[F]], still_fails: Callable[[F], bool]) -> F:
    """The failing structure ``found``, reduced until no structure of ``smaller`` fails any more.

    Of the reductions that ``smaller`` offers, the first that still fails is taken and reduced further.
    """
    while (better := next((one for one in smaller(found) if still_fails(one)), None)) is not None:
        found = better
    return found
