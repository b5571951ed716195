"""The generations and member ids that a judge keeps after they are gone: the last of them, so that its memory is
bounded.

A member learns of a generation when its JoinGroup is answered, and of its removal when its next request is: some
generations late at most. The judge keeps `GENERATIONS` generations and `DEPARTED` members that left; older ones
take part in no comparison any more, and count as unknown.
"""

from __future__ import annotations

from typing import Final, TypeVar

K = TypeVar("K")
V = TypeVar("V")

GENERATIONS: Final = 128
"""So many generations are kept after they began."""
DEPARTED: Final = 256
"""So many member ids are kept after they left the group."""
WAITING: Final = 4096
"""So many requests and ids are kept that wait for something that may never come."""


class Recent(dict[K, V]):
    """A dictionary of at most ``limit`` keys; a new key pushes out the oldest, an old one keeps its age.

    ``has_forgotten``: keys were pushed out, so that one that is not there may have been.
    """

    __slots__ = ("has_forgotten", "limit")

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.has_forgotten = False

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > self.limit:
            del self[next(iter(self))]
            self.has_forgotten = True
