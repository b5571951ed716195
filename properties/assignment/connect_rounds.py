"""The rounds of a Connect group, with all that went into them and came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

import msgspec

from rebalance_check.properties.assignment.connect_steps import Item, configured_items, read_item


class MemoryView(msgspec.Struct, frozen=True, kw_only=True):
    """The memory of an incremental assignor after a round, by the names of our own; items by name, sorted.

    None where a release does not remember such a thing.
    """

    previous_assignment: tuple[str, ...] = ()
    previous_revocation: tuple[str, ...] = ()
    revoked_in_previous: bool = False
    candidates: tuple[str, ...] = ()
    scheduled_rebalance_ms: int = 0
    delay_ms: int = 0
    previous_generation: int | None = None
    previous_members: tuple[str, ...] | None = None
    successive_revocations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAnswer:
    """The work given to one member, in addition to its claims and less the revoked (under the eager protocol: all)."""

    error: int
    leader: str | None
    leader_url: str | None
    config_offset: int
    assigned: tuple[Item, ...]
    revoked: tuple[Item, ...]
    delay_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseRound:
    """One round. Members go by member id; ``workers`` says which process each is.

    ``offsets`` are the config offsets that the members reported, ``leader_offset`` is the one that the leader could
    read when asked again. ``before`` and ``after`` are the leader's memory, ``completed`` the members
    that got their answers, ``completed_before`` says whether the leader completed the last round that it led.
    """

    generation: int
    now_ms: int
    max_delay_ms: int
    eager: bool
    leader: str
    workers: Mapping[str, str]
    claims: Mapping[str, tuple[Item, ...]]
    offsets: Mapping[str, int]
    leader_offset: int
    task_counts: Mapping[str, int]
    before: MemoryView
    after: MemoryView
    failure: str = ""
    answers: Mapping[str, MemberAnswer] = field(default_factory=dict)
    owners: Mapping[Item, str] = field(default_factory=dict)
    completed: frozenset[str] = frozenset()
    completed_before: bool = False

    @property
    def mismatch(self) -> bool:
        """Whether the leader could not assign for want of configs."""
        return any(answer.error for answer in self.answers.values())

    @property
    def is_eager(self) -> bool:
        """Whether the leader assigned, and by the eager protocol."""
        return self.eager and not self.mismatch

    @property
    def is_incremental(self) -> bool:
        """Whether the leader assigned, and incrementally."""
        return not self.eager and not self.mismatch

    @property
    def configured(self) -> frozenset[Item]:
        """Everything that is to run."""
        return configured_items(self.task_counts)

    @property
    def claimed(self) -> Counter[Item]:
        """How many members claim each item."""
        return Counter(chain.from_iterable(map(frozenset, self.claims.values())))

    @property
    def duplicated(self) -> frozenset[Item]:
        """The items that more than one member claims."""
        return frozenset(item for item, count in self.claimed.items() if count > 1)

    @property
    def assigned(self) -> frozenset[Item]:
        """The items given to any member."""
        return frozenset(chain.from_iterable(answer.assigned for answer in self.answers.values()))

    @property
    def revoked(self) -> frozenset[Item]:
        """The items taken from any member."""
        return frozenset(chain.from_iterable(answer.revoked for answer in self.answers.values()))

    @property
    def remembered(self) -> frozenset[Item]:
        """The items that the leader remembers as assigned when the round begins."""
        return frozenset(map(read_item, self.before.previous_assignment))

    @property
    def ends_a_delay(self) -> bool:
        """Whether a rebalance was scheduled, and is due."""
        return 0 < self.before.scheduled_rebalance_ms <= self.now_ms

    @property
    def delay_ms(self) -> int:
        """The delay that the members are given; 0 when there is none."""
        return max((answer.delay_ms for answer in self.answers.values()), default=0)

    def next_claims(self) -> dict[str, frozenset[Item]]:
        """The claims of each member after the round, if it completes it."""
        return {
            member: frozenset(answer.assigned)
            if self.eager
            else frozenset(self.claims[member]) - frozenset(answer.revoked) | frozenset(answer.assigned)
            for member, answer in self.answers.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The rounds of a history, then those of the quiet time after it: only the group itself asks for these.

    ``settling`` is the index of the first round of that time: the last one of the history, where all completed that
    and nothing happened since. ``quiet`` says that the last round asked for no other: it
    revoked nothing and scheduled nothing.
    """

    rounds: tuple[CourseRound, ...]
    settling: int
    quiet: bool

    @property
    def failure(self) -> str:
        """The error that an assignor threw; empty when it did not."""
        return next((one.failure for one in self.rounds if one.failure), "")

    def pairs(self) -> Iterator[tuple[CourseRound, CourseRound]]:
        """Each incremental round with the last one before it that the same assignor computed.

        Only where that assignor remembers it: its process was not started anew in between.
        """
        last: dict[str, CourseRound] = {}
        for one in self.rounds:
            if not one.is_incremental:
                continue
            worker = one.workers[one.leader]
            if worker in last and one.before == last[worker].after:
                yield last[worker], one
            last[worker] = one


CONNECT_EAGER: Final = "connect-eager"
CONNECT_INCREMENTAL: Final = "connect-incremental"
CONNECT_ASSIGNORS: Final = (CONNECT_EAGER, CONNECT_INCREMENTAL)
