"""Invariants wait for events: a history of consumers has nothing for those about Connect workers.

A fold is started at the first event that it takes, and so is a memory. Until then its verdict is the same in all
histories, so that one prototype speaks for it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.kinds import Fold, Invariant, Memories, Memory
from rebalance_check.properties.verdict import Held, Untested, Verdict

_KEPT: Final = 64
"""So many selections of invariants are remembered, in a process that judges with different ones."""


class Listening:
    """The event types to which each of a selection of invariants listens.

    ``prototypes`` has a fold of each that took no event, by name, and ``faults`` the exception where there is none;
    ``untested`` has the verdict on each of them in a complete history of other events.
    ``waiting`` are the invariants whose folds take an event of a type, in the order of the selection, ``memories`` the
    classes of the memories that take it before them, and ``kinds`` all these types. ``looks`` are the classes of the
    memories that each invariant looks at.
    """

    def __init__(self, invariants: tuple[Invariant, ...]) -> None:
        self.prototypes: dict[str, Fold] = {}
        self.faults: dict[str, Exception] = {}
        self.untested: dict[str, Verdict] = {}
        self.waiting: dict[type[Event], list[Invariant]] = {}
        self.memories: dict[type[Event], list[type[Memory]]] = {}
        self.looks: dict[str, frozenset[type[Memory]]] = {}
        memories: Memories = {}
        for invariant in invariants:
            try:
                self._note(invariant, invariant.start(memories))
            except Exception as fault:  # a checker's fault is a verdict, not a crash
                self.faults[invariant.name] = fault
        used = frozenset().union(*self.looks.values())
        for kind, memory in memories.items():
            for event_type in memory.handlers if kind in used else ():
                self.memories.setdefault(event_type, []).append(kind)
        self.kinds = frozenset(self.waiting) | frozenset(self.memories)

    def _note(self, invariant: Invariant, fold: Fold) -> None:
        self.prototypes[invariant.name] = fold
        if isinstance(fold.verdict(), Held) and (lacking := fold.lacks({})):
            self.untested[invariant.name] = Untested(lacking)
        self.looks[invariant.name] = frozenset(map(type, fold.memories))
        for event_type in fold.kinds:
            self.waiting.setdefault(event_type, []).append(invariant)


@lru_cache(maxsize=_KEPT)
def listening(invariants: tuple[Invariant, ...]) -> Listening:
    """The event types to which these invariants listen; worked out once for all histories that they judge."""
    return Listening(invariants)
