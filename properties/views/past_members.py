"""Members of generations that are gone, and member ids that left, as many as `recent` keeps."""

from __future__ import annotations

from collections import deque

from rebalance_check.model.vocabulary.events import UNKNOWN_INCARNATION
from rebalance_check.properties.views.recent import DEPARTED, GENERATIONS, Recent


class Departed:
    """The member ids that left most recently, in the order in which they left."""

    __slots__ = ("_order", "forgot_some")

    def __init__(self) -> None:
        self._order: deque[tuple[int, str]] = deque()
        self.forgot_some = False

    def note(self, incarnation: int, member_id: str) -> tuple[int, str] | None:
        """A member id left; returns the (incarnation, member id) that is to be forgotten now, if any."""
        self._order.append((incarnation, member_id))
        if len(self._order) <= DEPARTED:
            return None
        self.forgot_some = True
        return self._order.popleft()


class GenerationMembers:
    """The incarnation of the coordinator that had a member id in a generation, for clients that cannot see it."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        self._of: Recent[int, dict[int, frozenset[str]]] = Recent(GENERATIONS)

    def note(self, incarnation: int, generation: int, members: frozenset[str]) -> None:
        """These members are in this generation of this incarnation."""
        of_generation = self._of.get(generation)
        if of_generation is None:
            of_generation = self._of[generation] = {}
        of_generation.pop(incarnation, None)
        of_generation[incarnation] = members

    def incarnation_of(self, member_id: str, generation: int) -> int:
        """The last incarnation that had the member in the generation; -1 where no event says it."""
        of_generation = self._of.get(generation)
        if of_generation is None:
            return UNKNOWN_INCARNATION
        for incarnation in reversed(of_generation):
            if member_id in of_generation[incarnation]:
                return incarnation
        return UNKNOWN_INCARNATION
