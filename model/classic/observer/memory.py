"""An observer's memory of the classic model, and its names for things.

Were these numbers and names part of the model's state, two states that behave alike would differ in them, and the
explorer would visit far more states (request numbers alone make the state space infinite). So they are kept here, along
one run at a time.
"""

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
"""The ``source`` of the coordinator's events; there is one, because the model has one group."""

HARNESS: Final = "harness"
"""The ``source`` of events about the run itself."""

TOPIC: Final = "t"
"""The topic whose partitions the members share."""

RESETS: Final = frozenset({Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.FENCED_INSTANCE_ID})
"""The errors after which a process belongs to no generation."""

Claims = tuple[tuple[str, tuple[str, ...]], ...]
"""For each member, by the name of its process, the partitions that its JoinGroup says it owns."""


@dataclass(slots=True)
class Memory:
    """Numbers and names that an observer remembers and that the state of the model need not.

    Lists have one element for each slot. A *member id number* n stands for the n-th member id of the slot, ``m0-n``.
    """

    ids: list[int]
    """How many member ids the slot was given so far."""
    known: list[int]
    """The number of the member id that the coordinator knows of the slot; it falls back at a failover."""
    log: LoggedIds
    """The member id numbers in the coordinator's log."""
    replied_id: list[str]
    """The member id in the last JoinGroup reply to the slot."""
    held_id: list[str]
    """The member id that the process holds; empty for none."""
    sent_id: list[str]
    """The member id in the last request of the process; empty for none."""
    requests: list[int]
    """The number of the next request of the process."""
    outstanding: list[int]
    """The number of the request in the slot's message (a heartbeat during a SyncGroup is not); -1 before the first."""
    joined_incarnation: list[int]
    """The incarnation in which the process's generation began; -1 before its first."""
    replied_incarnation: list[int]
    """The same of the last JoinGroup reply, which may still be on its way to the process."""
    listed_members: list[tuple[Claims, tuple[tuple[str, int], ...]]]
    """The metadata in the last JoinGroup reply: members' claims, and the generation of each claim by member id."""
    zombie_incarnation: int = 0
    """The incarnation that the zombie coordinator goes on serving."""
    steps: int = 0
    """Steps so far: the time in ms of the events of a step."""
    seq: dict[str, int] = field(default_factory=dict)
    """The number of the next event of each source."""
    replies: Replies = field(default_factory=Replies)
    """Numbers that only reply events need: request generations, and the count of replies."""

    @classmethod
    def for_members(cls, n: int) -> Memory:
        """The memory before anything has happened, for ``n`` slots."""
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
    """The elements of a set, in order; a set is a bit mask in one byte, so there are at most 8."""
    return [x for x in range(8) if has(mask, x)]
