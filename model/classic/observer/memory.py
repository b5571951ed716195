"""What an observer of the classic model remembers, and how it calls things."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypedDict

from rebalance_check.model.classic.observer.logged_ids import LoggedIds
from rebalance_check.model.classic.observer.replies import Replies
from rebalance_check.model.classic.state import (
    has,
)
from rebalance_check.model.vocabulary.errors import Error

COORDINATOR: Final = "coordinator"
HARNESS: Final = "harness"
TOPIC: Final = "t"
"""The topic whose partitions the members share."""

RESETS: Final = frozenset({Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.FENCED_INSTANCE_ID})
"""The errors after which a process belongs to no generation."""

Claims = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(slots=True)
class Memory:
    """What an observer remembers that the state of the model need not: numbers and names.

    ``ids`` counts the member ids that each slot was given; ``known`` is the number of the one at the coordinator, and
    ``log`` has those in its log; ``replied_id`` is the one in the last JoinGroup answer, ``held_id`` the one that its
    process holds, ``sent_id`` the one in its last request; ``requests`` numbers its requests, and ``outstanding`` is
    the number of the one in its slot (a heartbeat during a SyncGroup is not); ``joined_incarnation`` is the incarnation of its
    generation, ``replied_incarnation`` that of the last JoinGroup answer on its way to it; ``listed_members`` the
    metadata that a leader was shown; ``seq`` numbers the events of each source; ``steps`` is the time.
    """

    ids: list[int]
    known: list[int]
    log: LoggedIds
    replied_id: list[str]
    held_id: list[str]
    sent_id: list[str]
    requests: list[int]
    outstanding: list[int]
    joined_incarnation: list[int]
    replied_incarnation: list[int]
    listed_members: list[tuple[Claims, tuple[tuple[str, int], ...]]]
    zombie_incarnation: int = 0
    steps: int = 0
    seq: dict[str, int] = field(default_factory=dict)
    replies: Replies = field(default_factory=Replies)

    @classmethod
    def for_members(cls, n: int) -> Memory:
        """The memory before anything has happened."""
        return cls(
            [0] * n,
            [0] * n,
            LoggedIds([0] * n, [0] * n),
            [""] * n,
            [""] * n,
            [""] * n,
            [0] * n,
            [-1] * n,
            [-1] * n,
            [-1] * n,
            [((), ())] * n,
        )


class Membership(TypedDict):
    """The fields of a `GenerationEvent`, as keywords."""

    source: str
    member: str
    generation: int
    member_id: str
    incarnation: int


def name(m: int) -> str:
    """The name of a slot's process."""
    return f"m{m}"


def elements(mask: int) -> list[int]:
    """The elements of a set, in order."""
    return [x for x in range(8) if has(mask, x)]
