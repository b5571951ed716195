"""What an observer of the classic model remembers, and how it calls things."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, TypedDict

from rebalance_check.model.classic.observer.logged_ids import IdsOnRecord
from rebalance_check.model.classic.observer.replies import Door
from rebalance_check.model.classic.state import (
    MessageKind,
    has,
)
from rebalance_check.model.vocabulary.errors import Error

COORDINATOR: Final = "coordinator"
HARNESS: Final = "harness"
TOPIC: Final = "t"
"""The topic whose partitions the members share."""

REPLY_APIS: Final = {
    MessageKind.JOIN_REPLY: "JoinGroup",
    MessageKind.SYNC_REPLY: "SyncGroup",
    MessageKind.HEARTBEAT_REPLY: "Heartbeat",
    MessageKind.COMMIT_REPLY: "OffsetCommit",
}

RESETS: Final = frozenset({Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.FENCED_INSTANCE_ID})
"""The errors after which a process belongs to no generation."""

Claims = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(slots=True)
class Ledger:
    """What an observer remembers that the state of the model need not: numbers and names.

    ``ids`` counts the member ids that each slot was given; ``known`` is the number of the one at the coordinator, and
    ``log`` has those in its log; ``told_id`` is the one in the last JoinGroup answer, ``held_id`` the one that its
    process holds, ``sent_id`` the one in its last request; ``requests`` numbers its requests, and ``outstanding`` is
    the number of the one in its slot (a heartbeat beside a SyncGroup is not); ``joined_life`` is the incarnation of its
    generation, ``told_life`` that of the last JoinGroup answer on its way to it; ``listed_members`` the
    metadata that a leader was shown; ``seq`` numbers the events of each source; ``steps`` is the time.
    """

    ids: list[int]
    known: list[int]
    log: IdsOnRecord
    told_id: list[str]
    held_id: list[str]
    sent_id: list[str]
    requests: list[int]
    outstanding: list[int]
    joined_life: list[int]
    told_life: list[int]
    listed_members: list[tuple[Claims, tuple[tuple[str, int], ...]]]
    copied_id: str = ""
    deposed_life: int = 0
    steps: int = 0
    seq: dict[str, int] = field(default_factory=dict)
    door: Door = field(default_factory=Door)

    @classmethod
    def for_members(cls, n: int) -> Ledger:
        """A ledger in which nothing has happened."""
        return cls(
            [0] * n,
            [0] * n,
            IdsOnRecord([0] * n, [0] * n),
            [""] * n,
            [""] * n,
            [""] * n,
            [0] * n,
            [-1] * n,
            [-1] * n,
            [-1] * n,
            [((), ())] * n,
        )

    def copy(self) -> Ledger:
        """An independent copy."""
        return replace(
            self, ids=[*self.ids], known=[*self.known], log=self.log.copy(), told_id=[*self.told_id],
            held_id=[*self.held_id], sent_id=[*self.sent_id], requests=[*self.requests],
            outstanding=[*self.outstanding], joined_life=[*self.joined_life], told_life=[*self.told_life],
            listed_members=[*self.listed_members], seq={**self.seq}, door=self.door.copy(),
        )  # fmt: skip


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
