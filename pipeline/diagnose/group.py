"""Everything that the sources say about one group, put together: the input of all findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from rebalance_check.pipeline.diagnose.clocks import Clock
from rebalance_check.pipeline.diagnose.commits import CommitsFolded
from rebalance_check.pipeline.diagnose.facts import (
    AssignmentStored,
    ClientFact,
    ConfigRecorded,
    CoordinatorMoved,
    Fact,
    GroupLoaded,
    GroupRecorded,
    JoinPhaseEnded,
    MemberDescribed,
    ModernGroupSeen,
    Place,
    RebalanceBegan,
    StatusRecorded,
    WorkerFact,
)
from rebalance_check.pipeline.diagnose.members import Members
from rebalance_check.pipeline.diagnose.ownership import Span, spans
from rebalance_check.pipeline.diagnose.rebalances import Rebalance, rebalances


@dataclass
class Group:
    """One group: its facts in the order of their times, and all that follows from them."""

    name: str
    facts: list[Fact]
    clocks: dict[str, Clock] = field(default_factory=dict)
    moves: list[CoordinatorMoved] = field(default_factory=list)
    """Loads and unloads of the partition of ``__consumer_offsets`` that holds the group."""
    last_ms: int | None = None
    """The last time that any source of the coordinator has: what is open then may have gone on."""

    @cached_property
    def rebalances(self) -> list[Rebalance]:
        """In order."""
        return rebalances(self.facts)

    @cached_property
    def members(self) -> Members:
        """By member id."""
        members = Members()
        members.take(self.facts)
        return members

    @cached_property
    def spans(self) -> list[Span]:
        """The times for which clients' logs show an owner of a partition."""
        return spans(self.facts)

    @cached_property
    def has_broker(self) -> bool:
        """Whether a log of the coordinator names the group."""
        return any(isinstance(fact, RebalanceBegan | JoinPhaseEnded | AssignmentStored) for fact in self.facts)

    @cached_property
    def has_clients(self) -> bool:
        """Whether a client's log names the group."""
        return any(isinstance(fact, ClientFact) for fact in self.facts)

    @cached_property
    def has_records(self) -> bool:
        """Whether records of ``__consumer_offsets`` describe its members."""
        return any(isinstance(fact, GroupRecorded) for fact in self.facts)

    @cached_property
    def is_connect(self) -> bool:
        """Whether its members are Connect workers."""
        return any(
            isinstance(fact, WorkerFact | StatusRecorded | ConfigRecorded)
            or (isinstance(fact, GroupRecorded) and fact.protocol_type == "connect")
            for fact in self.facts
        )

    @cached_property
    def modern_kind(self) -> str:
        """``consumer``, ``share`` or ``streams`` for a group of a newer protocol, else empty."""
        return next((fact.kind for fact in self.facts if isinstance(fact, ModernGroupSeen)), "")

    @property
    def span_ms(self) -> tuple[int, int] | None:
        """The first and the last time of its facts."""
        times = [fact.time_ms for fact in self.facts if fact.time_ms is not None]
        times += [one.since_ms for one in self.facts if isinstance(one, CommitsFolded) and one.since_ms is not None]
        return (min(times), max(times)) if times else None

    @property
    def size(self) -> int:
        """How many facts it has, each commit counted."""
        return sum(fact.count if isinstance(fact, CommitsFolded) else 1 for fact in self.facts)

    @property
    def was_only_loaded(self) -> bool:
        """Whether a coordinator has only read it from its topic: replayed records say nothing of now."""
        return all(isinstance(fact, MemberDescribed | GroupLoaded) for fact in self.facts)

    def shares_clock(self, one: Fact, other: Fact) -> bool:
        """Whether the times of two facts can be compared: one source, known zones, or generations in common."""
        if one.place.source == other.place.source:
            return True
        clocks = [self._clock_of(fact) for fact in (one, other)]
        return all(clock is None or clock.bound_by > 0 or not clock.assumed for clock in clocks)

    def _clock_of(self, fact: Fact) -> Clock | None:
        return self.clocks.get(fact.place.source.partition("[")[0])

    def tolerance_ms(self) -> int:
        """Twice the largest skew of its sources' clocks: a shorter overlap may be one of the clocks."""
        names = {fact.place.source for fact in self.facts}
        skews = [
            abs(clock.skew_ms)
            for name, clock in self.clocks.items()
            if name in names or any(other.startswith(name + "[") for other in names)
        ]
        return 2 * max(skews, default=0)


def groups(
    facts: Mapping[str, Sequence[Fact]], clocks: Sequence[Clock], only: frozenset[str] = frozenset()
) -> list[Group]:
    """The groups that the sources name, those with the most facts first."""
    by_name: dict[str, list[tuple[str, Fact]]] = {}
    moves: list[CoordinatorMoved] = []
    last: int | None = None
    for source, fact in ((source, fact) for source, found in facts.items() for fact in found):
        if isinstance(fact, CoordinatorMoved):
            moves.append(fact)
        elif fact.group and (not only or fact.group in only):
            by_name.setdefault(fact.group, []).append((source, fact))
        if fact.time_ms is not None and not isinstance(fact, ClientFact):
            last = max(last or 0, fact.time_ms)
    single = {name: without_copies(own) for name, own in by_name.items()}
    _adopt(single, facts, only)
    found = [group_of(name, own, clocks, moves, last) for name, own in single.items()]
    return sorted(found, key=lambda group: (-group.size, group.name))


def group_of(
    name: str, facts: Sequence[Fact], clocks: Sequence[Clock], moves: Sequence[CoordinatorMoved], last_ms: int | None
) -> Group:
    """A group with its facts in order, and those of ``moves`` that are of its coordinator."""
    group = Group(name, sorted(facts, key=_order), {clock.source: clock for clock in clocks}, last_ms=last_ms)
    group.moves = _moves_of(group, moves)
    return group


OF_CONNECT: Final = "Connect"
"""The name of a Connect group that no source names: statuses and configs do not."""


def _adopt(by_name: dict[str, list[Fact]], facts: Mapping[str, Sequence[Fact]], only: frozenset[str]) -> None:
    """Statuses and configs name no group: they are those of the only Connect group, if there is one."""
    own: list[Fact] = [
        fact for found in facts.values() for fact in found if isinstance(fact, StatusRecorded | ConfigRecorded)
    ]
    nameless = [fact for fact in own if not fact.group]
    workers = [name for name, found in by_name.items() if Group(name, found).is_connect]
    if nameless and len(workers) == 1:
        by_name[workers[0]] += nameless
    elif nameless and not workers and not only:
        by_name[OF_CONNECT] = nameless


_ANYWHERE: Final = Place("", 0)


def without_copies(facts: Sequence[tuple[str, Fact]]) -> list[Fact]:
    """The facts of a group, each after its source, without those that another source has at the same time: a log that
    was given twice, or collected twice; the replicas of a partition."""
    seen: dict[Fact, tuple[str, str]] = {}
    found: list[Fact] = []
    for source, fact in facts:
        where = source, fact.place.source
        if fact.time_ms is None or seen.setdefault(replace(fact, place=_ANYWHERE), where) == where:
            found.append(fact)
    return found


def _order(fact: Fact) -> tuple[bool, int]:
    return (fact.time_ms is None, fact.time_ms or 0)


def _moves_of(group: Group, moved: Sequence[CoordinatorMoved]) -> list[CoordinatorMoved]:
    partitions = {fact.partition for fact in group.facts if isinstance(fact, RebalanceBegan) and fact.partition}
    own = [one for one in moved if f"__consumer_offsets-{one.partition}" in partitions]
    return sorted(own, key=_order)
