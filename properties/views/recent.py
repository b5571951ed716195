"""What a judge keeps of generations and member ids that are gone: the last of them, so that its memory is bounded.

A member learns of a generation when its JoinGroup is answered, and of its removal when its next request is: some
generations late at most. The judge keeps `GENERATIONS` generations and `DEPARTED` members that left; what is older
takes part in no comparison any more, and counts as unknown.
"""

from __future__ import annotations

from collections import deque
from typing import Final, TypeVar

from rebalance_check.model.vocabulary.events import UNKNOWN_INCARNATION

K = TypeVar("K")
V = TypeVar("V")

GENERATIONS: Final = 128
"""So many generations are kept after they began."""
DEPARTED: Final = 256
"""So many member ids are kept after they left the group."""
WAITING: Final = 4096
"""So many requests and ids are kept that wait for something that may never come."""


class Recent(dict[K, V]):
    """A dictionary of at most ``limit`` keys; a new key pushes out the oldest, an old one keeps its age."""

    __slots__ = ("limit",)

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self.limit:
            del self[next(iter(self))]


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
    """Which incarnation of the coordinator had a member id in a generation, for clients that cannot see it."""

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
        for incarnation, members in reversed(self._of.get(generation, {}).items()):
            if member_id in members:
                return incarnation
        return UNKNOWN_INCARNATION
