"""The assignments that leaders computed, by generation and member id; a leader may compute one twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rebalance_check.model.vocabulary.events import AssignmentComputed
from rebalance_check.properties.kinds import Memory

OF_TASKS: Final = frozenset({"default", "compatible", "sessioned", "v0"})
"""The protocols of Connect, and of Schema Registry's election: they assign tasks, which the history shows when they
run."""

KEPT_ROUNDS: Final = 64
"""So many computed assignments are remembered: a member that completes an older one is not compared."""


class Computed(Memory):
    """The partitions that each member of a consumer group was assigned."""

    def __init__(self) -> None:
        super().__init__({AssignmentComputed: self._on_computed})
        self._computed: dict[tuple[int, str], list[tuple[frozenset[str], AssignmentComputed]]] = {}

    def of(self, generation: int, member_id: str) -> Sequence[tuple[frozenset[str], AssignmentComputed]]:
        """Each assignment of a member id in a generation, with its event, oldest first."""
        return self._computed.get((generation, member_id), ())

    def _on_computed(self, event: AssignmentComputed) -> None:
        if event.protocol in OF_TASKS:
            return
        for member, things in event.assignments:
            self._computed.setdefault((event.generation, member), []).append((frozenset(things), event))
        while len(self._computed) > KEPT_ROUNDS:
            del self._computed[next(iter(self._computed))]
