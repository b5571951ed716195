"""The state of one consumer handle of librdkafka: its group, member, generation, partitions and open lists.

A list of partitions spans many lines without a common id. The line before it has their number; facility and handle
bind them, and a list counts when it is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rebalance_check.pipeline.diagnose.facts import (
    Assigned,
    AssignmentComputed,
    Fact,
    Lost,
    OwnershipFact,
    ProcessStarted,
    RequestRefused,
    Revoked,
)
from rebalance_check.pipeline.diagnose.logs.sentences import SAME_MS, Known

At = dict[str, Any]
"""Place and time of a line: the first arguments of its facts."""


@dataclass(slots=True)
class OpenList:
    """A list of partitions in lines of one facility."""

    facility: str
    count: int
    partitions: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Computed:
    """The leader's assignment: members, each with the number of its partitions and those listed so far."""

    members: int
    cooperative: bool
    at: At
    shares: list[tuple[str, int, list[str]]] = field(default_factory=list)

    def complete(self) -> bool:
        """Whether every member and each of its partitions is listed."""
        return len(self.shares) == self.members and all(count == len(found) for _, count, found in self.shares)

    def total(self) -> int:
        """The number of partitions of all members."""
        return sum(count for _, count, _ in self.shares)


@dataclass(slots=True)
class Handle:
    """The state of a handle. ``owned`` None: unknown, as in a file that begins in the middle."""

    known: Known = field(default_factory=Known)
    generation: int | None = None
    epoch: int | None = None
    owner: str = ""
    owned: frozenset[str] | None = None
    target: tuple[str, ...] | None = None
    lost: bool = False
    join_said: bool = False
    decided: str = ""
    list: OpenList | None = None
    computed: Computed | None = None
    begun: At | None = None
    _refused: tuple[str, str, int | None] = ("", "", None)

    def begin(self, at: At) -> None:
        """A consumer begins in this process: it owns nothing. Its release may follow."""
        self.known.member, self.owner, self.generation, self.epoch = "", "", None, None
        self.owned, self.target, self.lost = frozenset(), None, False
        self.list, self.computed, self.decided = None, None, ""
        self.begun = at

    def started(self, release: str, at: At | None = None) -> Iterator[Fact]:
        """The start of the process, once: with its release, or at a request where no release came before."""
        if at is None and self.begun is None:
            return
        place = at if at is not None else self.begun
        assert place is not None
        self.begun = None
        yield ProcessStarted(client="", release=release, **place)

    def refused(self, request: str, error: str, at: At) -> Iterator[Fact]:
        """A failed request. A second line about the same failure says nothing more."""
        before_request, before_error, before = self._refused
        now = at["time_ms"]
        self._refused = (request or before_request, error, now)
        close = before is not None and now is not None and abs(now - before) <= SAME_MS
        if not (close and error == before_error and request in {"", before_request}):
            yield RequestRefused(client="", request=request, error=error, **at)

    # ------------------------------------------------------------------------------------------------------- lists

    def listed(self, facility: str, partition: str) -> None:
        """A line of a list."""
        if self.list is None or self.list.facility != facility:
            return
        self.list.partitions.append(partition)
        if len(self.list.partitions) == self.list.count:
            self._complete(self.list)

    def list_begins(self, facility: str, count: int) -> None:
        """The line before a list."""
        self.list = OpenList(facility, count)
        if count == 0:
            self._complete(self.list)

    def _complete(self, found: OpenList) -> None:
        self.list = None
        if found.facility == "DUMP_ALL":
            self.owned = frozenset(found.partitions)
        elif found.facility == "ASSIGNMENT":
            self.target = tuple(found.partitions)

    # --------------------------------------------------------------------------------------------------- ownership

    def added(self, count: int, total: int, at: At) -> Iterator[Fact]:
        """The application has taken partitions over: it has ``total`` now."""
        if count == total:
            self.owned = frozenset()
        new: tuple[str, ...] | None = None
        if self.target is not None and self.owned is not None:
            new = tuple(name for name in self.target if name not in self.owned)
        new = new if new is not None and len(new) == count else None
        both = None if new is None or self.owned is None else self.owned | set(new)
        self.owned = both if both is not None and len(both) == total else None
        self.lost = False
        self.owner = self.known.member
        yield from self._ownership(Assigned, count, new, at)

    def removed(self, count: int, total: int, at: At) -> Iterator[Fact]:
        """The application has given up ``count`` of ``total`` partitions."""
        gone: tuple[str, ...] | None = None
        if self.owned is not None and count == total == len(self.owned):
            gone = tuple(sorted(self.owned))
        elif self.owned is not None and self.target is not None:
            gone = tuple(sorted(self.owned - set(self.target)))
        gone = gone if gone is not None and len(gone) == count else None
        if count == total:
            self.owned = frozenset()
        else:
            self.owned = None if gone is None or self.owned is None else self.owned - set(gone)
        kind = Lost if self.lost else Revoked
        self.lost = False
        yield from self._ownership(kind, count, gone, at)

    def _ownership(
        self, kind: type[OwnershipFact], count: int, names: tuple[str, ...] | None, at: At
    ) -> Iterator[Fact]:
        """The member is the one that took the partitions over: it may have lost its id since."""
        if count:
            yield kind(client="", member=self.owner, partitions=names or (), count=None if names else count, **at)

    # ---------------------------------------------------------------------------------------- the leader's assignment

    def share(self, member: str, count: int) -> Iterator[Fact]:
        """A member of the leader's assignment."""
        if self.computed is not None:
            self.computed.shares.append((member, count, []))
            yield from self._computed()

    def share_of(self, partition: str) -> Iterator[Fact]:
        """A partition of the member before."""
        if self.computed is not None and self.computed.shares:
            self.computed.shares[-1][2].append(partition)
            yield from self._computed()

    def assigned_to_consumers(self, total: int) -> Iterator[Fact]:
        """The cooperative leader sends ``total`` partitions. If it computed more, no line says which it withholds."""
        if self.computed is not None and self.computed.cooperative and self.computed.total() == total:
            yield from self._computed(sent=True)
        self.computed = None

    def _computed(self, *, sent: bool = False) -> Iterator[Fact]:
        computed = self.computed
        if computed is None or not computed.complete() or (computed.cooperative and not sent):
            return
        self.computed = None
        shares = tuple((member, tuple(found)) for member, _, found in computed.shares)
        yield AssignmentComputed(client="", generation=self.generation, assignments=shares, **computed.at)
