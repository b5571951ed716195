"""Runs that a page holds in full: those with findings first, and not more events than a browser opens in seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from rebalance_check.properties.signatures import shape_of
from rebalance_check.report.pages.run_pages import Broken

MOST_EVENTS: Final = 400_000
"""So many events of runs a page of many runs holds, about 40 bytes each; the first run is held in any case."""


def chosen_runs(
    lengths: Mapping[int, int], broken: Mapping[int, Sequence[Broken]], most_events: int = MOST_EVENTS
) -> frozenset[int]:
    """The runs that fit into a page: the shortest of each kind of finding, then the others that broke a claim, then
    the rest, in the order of ``lengths``.

    ``lengths`` has the number of events of every run, ``broken`` the claims that a run broke, both by the run's number.
    """
    shortest: dict[tuple[str, str], int] = {}
    for run in sorted(broken, key=lambda run: (lengths[run], run)):
        for each in broken[run]:
            shortest.setdefault((each.claim, shape_of(each.headline)), run)
    chosen: set[int] = set()
    events = 0
    for run in dict.fromkeys(chain(shortest.values(), sorted(broken), lengths)):
        if chosen and events + lengths[run] > most_events:
            break
        chosen.add(run)
        events += lengths[run]
    return frozenset(chosen)
