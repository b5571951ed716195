"""The argument of a counterexample: the events without any one of which the claim would not be seen broken like this.

A judge needs far fewer events for a verdict than a run has. They are found by leaving events out for as long as the
claim says the same: the same headline, the same reasons from the same events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rebalance_check.model.shrink import ddmin
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.properties.completeness import Completeness
from rebalance_check.properties.kinds import Invariant, Place
from rebalance_check.properties.listening import listening
from rebalance_check.properties.panel import Panel
from rebalance_check.properties.verdict import Counterexample, Violated

MOST_HANDLED: Final = 400_000
"""So many events are judged at most while looking for those that are needed: some two seconds."""

MOST_RUNS: Final = 20_000


def argument(history: Sequence[Event], found: Counterexample, invariant: Invariant) -> tuple[Event, ...]:
    """The events of ``history`` that ``invariant`` needs for ``found``, in their order.

    Of a long history it may be more than are needed: the search ends after `MOST_HANDLED` events. It is empty where
    the claim does not say ``found`` of the history. One turn stands for what repeats.
    """
    if found.repeats:  # without any other turn the loop would be seen as often, so each would count as needed
        return found.events
    left = MOST_HANDLED

    def still_said(events: tuple[Event, ...]) -> tuple[Event, ...] | None:
        nonlocal left
        if left < len(events):
            return None
        left -= len(events)
        return events if _says(invariant, events) == found else None

    needed = still_said(_until(_listened_to(history, found.group, invariant), found))
    if needed is None:
        return ()
    return ddmin(needed, lambda events: events, still_said, MOST_RUNS)


def _listened_to(history: Sequence[Event], group: str, invariant: Invariant) -> list[Event]:
    """The events of the group to which the invariant, or a memory of it, listens."""
    kinds = listening((invariant,)).kinds
    return [
        event
        for event in history
        if type(event) in kinds and (event.group in {group, ""} or isinstance(event, RunStarted | RunEnded))
    ]


def _until(events: list[Event], found: Counterexample) -> tuple[Event, ...]:
    """The events up to the one at which the claim broke."""
    last = found.events[-1]
    return tuple(events[: 1 + next((i for i, event in enumerate(events) if event == last), len(events))])


def _says(invariant: Invariant, events: Sequence[Event]) -> Counterexample | None:
    """The counterexample in events that were picked out of a history: holes do not matter."""
    place = Place()
    panel = Panel((invariant,), "", Completeness(place), place)
    for event in events:
        place.has_one_clock = event.punctual if isinstance(event, RunStarted) else place.has_one_clock
        panel.observe(event)
    fold = panel.folds.get(invariant.name)
    verdict = None if fold is None else fold.verdict()
    return verdict.counterexample if isinstance(verdict, Violated) else None
