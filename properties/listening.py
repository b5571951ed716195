"""Invariants wait for events: a history of consumers has nothing for those about Connect workers.

A fold is started at the first event that it, or a memory of it, takes. Until then its verdict is the same in all
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
    ``waiting`` are the invariants that an event of a type concerns, in the order of the selection. ``memories`` are the
    classes of the memories that take it, before the folds ``takers``.
    """

    def __init__(self, invariants: tuple[Invariant, ...]) -> None:
        self.prototypes: dict[str, Fold] = {}
        self.faults: dict[str, Exception] = {}
        self.untested: dict[str, Verdict] = {}
        self.waiting: dict[type[Event], list[Invariant]] = {}
        self.memories: dict[type[Event], list[type[Memory]]] = {}
        self.takers: dict[type[Event], list[str]] = {}
        memories: Memories = {}
        for invariant in invariants:
            try:
                self._note(invariant, invariant.start(memories))
            except Exception as fault:  # a checker's fault is a verdict, not a crash
                self.faults[invariant.name] = fault
        used = {id(memory) for fold in self.prototypes.values() for memory in fold.memories}
        for kind, memory in memories.items():
            for event_type in memory.handlers if id(memory) in used else ():
                self.memories.setdefault(event_type, []).append(kind)

    def _note(self, invariant: Invariant, fold: Fold) -> None:
        self.prototypes[invariant.name] = fold
        if isinstance(fold.verdict(), Held) and (lacking := fold.lacks({})):
            self.untested[invariant.name] = Untested(lacking)
        for event_type in fold.handlers:
            self.takers.setdefault(event_type, []).append(invariant.name)
        concerned = dict.fromkeys(fold.handlers)
        for memory in fold.memories:
            concerned.update(dict.fromkeys(memory.handlers))
        for event_type in concerned:
            self.waiting.setdefault(event_type, []).append(invariant)


@lru_cache(maxsize=_KEPT)
def listening(invariants: tuple[Invariant, ...]) -> Listening:
    """The event types to which these invariants listen; worked out once for all histories that they judge."""
    return Listening(invariants)
