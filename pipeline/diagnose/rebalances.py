"""The rebalances of a group, in order: cause, phases, members and assignments, from whichever sources say them.

The coordinator's log gives begin, cause and end; the group's records give members and assignments of each completed
generation; clients' logs give the rest, and all of it roughly where the coordinator's log is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rebalance_check.pipeline.diagnose.facts import (
    AssignmentComputed,
    AssignmentStored,
    Fact,
    GroupEmptied,
    GroupRecorded,
    Joined,
    JoinPhaseEnded,
    JoinSent,
    LeaveSent,
    MemberAdded,
    MemberExpired,
    MemberLeft,
    MembersEvicted,
    NoMemberJoined,
    RebalanceBegan,
    RejoinDecided,
    Synced,
    WorkerJoined,
)
from rebalance_check.pipeline.diagnose.triggers import (
    Cause,
    Trigger,
    cause_of_leave,
    cause_of_rejoin,
    given_id,
    trigger_of,
)

NEAR_MS: Final = 2_000
"""A leave or an expiry is logged within this time of the rebalance that it causes."""
Contribution = MemberLeft | MemberExpired | MemberAdded | MembersEvicted | NoMemberJoined


@dataclass(slots=True)
class Rebalance:
    """One rebalance. Times are None where no source says them; ``generation`` where it was never reached."""

    group: str
    began_ms: int | None = None
    joined_ms: int | None = None
    ended_ms: int | None = None
    generation: int | None = None
    trigger: Trigger = field(default_factory=lambda: Trigger(Cause.UNKNOWN))
    emptied: bool = False
    superseded: bool = False
    """Another rebalance began before the leader's assignment arrived: nothing was ever assigned."""
    leader: str = ""
    protocol: str = ""
    count: int | None = None
    members: tuple[str, ...] | None = None
    assignments: dict[str, tuple[str, ...]] | None = None
    subscriptions: dict[str, tuple[str, ...]] | None = None
    claims: dict[str, tuple[str, ...]] | None = None
    contributions: list[Contribution] = field(default_factory=list)
    evidence: list[Fact] = field(default_factory=list)
    seen_by_broker: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it has not come to its end."""
        return self.ended_ms is None and not self.emptied and not self.superseded

    @property
    def end_ms(self) -> int | None:
        """The end of its last known phase."""
        return self.ended_ms if self.ended_ms is not None else self.joined_ms

    @property
    def join_ms(self) -> int | None:
        """How long the coordinator waited for members."""
        return _span(self.began_ms, self.joined_ms)

    @property
    def sync_ms(self) -> int | None:
        """How long the members waited for the leader."""
        return _span(self.joined_ms, self.ended_ms)

    @property
    def duration_ms(self) -> int | None:
        """From the first cause to the assignment."""
        return _span(self.began_ms, self.end_ms)

    @property
    def starts_from_empty(self) -> bool:
        """Whether it is the first of its group, which the initial rebalance delay prolongs."""
        return self.generation == 1


def _span(first: int | None, last: int | None) -> int | None:
    return last - first if first is not None and last is not None else None


def rebalances(facts: Sequence[Fact]) -> list[Rebalance]:
    """The rebalances of one group from its facts in the order of their times."""
    group = facts[0].group if facts else ""
    found = _of_coordinator(group, facts)
    if not found:
        found = _of_generations(group, facts)
    _describe(found, facts)
    if not any(one.seen_by_broker for one in found):
        _membership_triggers(found, facts)
    for one in found:
        _deduce(one, facts)
    return found


def _deduce(one: Rebalance, facts: Sequence[Fact]) -> None:
    """Where the coordinator gives no reason: that of a client, or a member that comes or goes as it begins."""
    if one.trigger.cause is Cause.REJOINED and one.began_ms is not None:
        decided = [fact for fact in facts if isinstance(fact, RejoinDecided) and fact.time_ms is not None
                   and -NEAR_MS <= fact.time_ms - one.began_ms <= 0]  # fmt: skip
        own = _own_trigger(decided)
        if own.cause is not Cause.UNKNOWN:
            one.trigger = replace(own, member=one.trigger.member or own.member)
    if one.trigger.cause is not Cause.UNKNOWN or not one.seen_by_broker or one.trigger.words:
        return
    near = [each for each in one.contributions if not one.evidence or _near(each, one.evidence[0])]
    for each in near:
        if isinstance(each, MemberAdded):
            one.trigger = Trigger(Cause.NEW_MEMBER, each.member)
        elif isinstance(each, MemberLeft):
            one.trigger = Trigger(cause_of_leave(each.reason), each.member, each.reason)
        elif isinstance(each, MemberExpired):
            one.trigger = Trigger(Cause.EXPIRED, each.member)
        else:
            continue
        return
    only = one.members[0] if one.members is not None and len(one.members) == 1 else ""
    one.trigger = Trigger(Cause.REJOINED, only, by_leader=bool(only) and only == one.leader)


# ------------------------------------------------------------------------------------------- from the coordinator's log


def _of_coordinator(group: str, facts: Iterable[Fact]) -> list[Rebalance]:
    reader = _CoordinatorReader(group)
    for fact in facts:
        reader.take(fact)
    return reader.found


class _CoordinatorReader:
    """Follows the sentences of one group: begin, end of the join phase, assignment."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.found: list[Rebalance] = []
        self._recent: list[Contribution] = []

    def take(self, fact: Fact) -> None:
        match fact:
            case RebalanceBegan():
                self._begin(fact)
            case JoinPhaseEnded():
                current = self._current(fact, fact.generation)
                current.joined_ms, current.count = fact.time_ms, fact.members
                if fact.ids:
                    current.members, current.leader = tuple(sorted(fact.ids)), fact.leader
            case AssignmentStored():
                current = self._current(fact, fact.generation)
                current.ended_ms, current.leader = fact.time_ms, fact.leader or current.leader
                current.count = fact.members if fact.members is not None else current.count
            case GroupEmptied():
                current = self._current(fact, fact.generation)
                current.emptied, current.joined_ms, current.count = True, fact.time_ms, 0
            case MemberLeft() | MemberExpired() | MemberAdded() | MembersEvicted() | NoMemberJoined():
                self._contribute(fact)
            case _:
                pass

    def _begin(self, fact: RebalanceBegan) -> None:
        if self.found and self.found[-1].is_open:
            self.found[-1].superseded = True
        began = Rebalance(self.group, began_ms=fact.time_ms, trigger=trigger_of(fact.reason), seen_by_broker=True)
        began.evidence.append(fact)
        recent, self._recent = self._recent, []
        began.contributions += [one for one in recent if _near(one, fact)]
        self.found.append(began)
        self._name_leave(began)

    def _current(self, fact: Fact, generation: int) -> Rebalance:
        """The rebalance that the line goes on with; one whose begin is not in the log has none."""
        last = self.found[-1] if self.found else None
        fits = last is not None and (
            (last.is_open and last.generation in {None, generation}) or last.generation == generation
        )
        if last is None or not fits:
            last = Rebalance(self.group, seen_by_broker=True)
            self.found.append(last)
        last.generation = generation
        last.evidence.append(fact)
        return last

    def _contribute(self, fact: Contribution) -> None:
        """Leaves are logged after the begin in 3.x, before it in 2.x and 4.x."""
        self._recent.append(fact)
        last = self.found[-1] if self.found else None
        if last is not None and (last.is_open or _near(fact, last.evidence[0])):
            last.contributions.append(fact)
            self._name_leave(last)

    def _name_leave(self, began: Rebalance) -> None:
        """The reason of a leave stands in its own line in 4.x."""
        if began.trigger.cause is not Cause.LEFT:
            return
        for one in began.contributions:
            if isinstance(one, MemberLeft) and one.member == began.trigger.member and one.reason:
                began.trigger = replace(began.trigger, cause=cause_of_leave(one.reason), words=one.reason)


def _near(one: Fact, other: Fact) -> bool:
    return one.time_ms is None or other.time_ms is None or abs(one.time_ms - other.time_ms) <= NEAR_MS


# ---------------------------------------------------------------------------------------- without the coordinator's log


def _of_generations(group: str, facts: Sequence[Fact]) -> list[Rebalance]:
    """One rebalance per generation that clients, workers or the group's records name."""
    found: dict[tuple[int, int], Rebalance] = {}
    era, highest = 0, -1
    for fact in facts:
        if not isinstance(fact, Joined | Synced | GroupRecorded | WorkerJoined) or fact.generation is None:
            continue
        if fact.generation < highest and isinstance(fact, GroupRecorded) and fact.generation <= 1:
            era, highest = era + 1, -1  # the group was deleted, and began again
        highest = max(highest, fact.generation)
        if isinstance(fact, GroupRecorded) and not fact.members and not fact.protocol_type:
            continue  # the record that 4.x writes when a group is created
        current = found.setdefault((era, fact.generation), Rebalance(group, generation=fact.generation))
        current.evidence.append(fact)
        _phases(current, fact)
    ordered = sorted(found.values(), key=lambda one: (one.end_ms or 0, one.generation or 0))
    _begins(ordered, facts)
    return ordered


def _phases(current: Rebalance, fact: Joined | Synced | GroupRecorded | WorkerJoined) -> None:
    match fact:
        case Joined():
            current.joined_ms = _earlier(current.joined_ms, fact.time_ms)
        case GroupRecorded() if not fact.members:
            current.emptied, current.joined_ms = True, fact.state_time_ms or fact.time_ms
        case GroupRecorded():
            current.joined_ms = fact.state_time_ms if fact.state_time_ms is not None else current.joined_ms
            current.ended_ms = _earlier(current.ended_ms, fact.time_ms)
        case _:
            current.ended_ms = _earlier(current.ended_ms, fact.time_ms)


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _begins(found: Sequence[Rebalance], facts: Sequence[Fact]) -> None:
    """The earliest request to join, or decision to join, since the generation before."""
    asked = [fact for fact in facts if isinstance(fact, JoinSent | RejoinDecided) and fact.time_ms is not None]
    since: int | None = None
    for current in found:
        until = current.joined_ms if current.joined_ms is not None else current.ended_ms
        if until is None:
            continue
        phase = [one for one in asked if (since is None or one.time_ms > since) and one.time_ms <= until]  # type: ignore[operator]  # asked have times
        if phase:
            current.began_ms = phase[0].time_ms
            current.evidence.append(phase[0])
            current.trigger = _own_trigger(phase)
        since = until


def _membership_triggers(found: Sequence[Rebalance], facts: Sequence[Fact]) -> None:
    """Where no client gives a cause: a member id that no generation before had, or a member that left since then."""
    known: set[str] = set()
    since: int | None = None
    before: tuple[str, ...] = ()
    for current in found:
        joined = [fact for fact in current.evidence if isinstance(fact, Joined) and fact.member]
        ids = [fact.member for fact in joined] or list(current.members or ())
        arrived = next((member for member in ids if member not in known), "")
        if current.trigger.cause is Cause.UNKNOWN:
            left = _left_between(facts, since, current.joined_ms or current.ended_ms)
            if left is not None:
                current.trigger = Trigger(cause_of_leave(left.reason), left.member, left.reason)
            elif arrived:
                current.trigger = Trigger(Cause.NEW_MEMBER, arrived)
            elif gone := sorted(set(before).difference(before if current.members is None else current.members)):
                current.trigger = Trigger(Cause.LEFT, gone[0])
        known.update(ids)
        before = current.members or ()
        since = current.joined_ms or current.ended_ms


def _left_between(facts: Sequence[Fact], since: int | None, until: int | None) -> MemberLeft | LeaveSent | None:
    if until is None:
        return None
    left = (fact for fact in facts if isinstance(fact, MemberLeft | LeaveSent) and fact.time_ms is not None)
    return next((fact for fact in left if (since or 0) <= (fact.time_ms or 0) <= until), None)


def _own_trigger(phase: Sequence[JoinSent | RejoinDecided]) -> Trigger:
    """The first reason of a client that is a cause; one that follows others into a rebalance gives none."""
    for one in phase:
        if isinstance(one, RejoinDecided):
            cause = cause_of_rejoin(one.reason)
            if cause is not Cause.REJOINED:
                return Trigger(cause, one.member or given_id(one.reason), one.reason)
    return Trigger(Cause.UNKNOWN)


# ---------------------------------------------------------------------------------------------- members and assignments


def _describe(found: Sequence[Rebalance], facts: Iterable[Fact]) -> None:
    """Members, protocol and assignments, from the facts that name the same generation near its end."""
    by_generation: dict[int, list[Rebalance]] = {}
    for one in found:
        if one.generation is not None:
            by_generation.setdefault(one.generation, []).append(one)
    for fact in facts:
        generation = getattr(fact, "generation", None)
        if generation not in by_generation or not isinstance(fact, Joined | AssignmentComputed | GroupRecorded):
            continue
        _described(_nearest(by_generation[generation], fact), fact)


def _nearest(candidates: Sequence[Rebalance], fact: Fact) -> Rebalance:
    if fact.time_ms is None:
        return candidates[-1]
    time_ms = fact.time_ms
    return min(candidates, key=lambda one: abs((one.end_ms or time_ms) - time_ms))


def _described(current: Rebalance, fact: Joined | AssignmentComputed | GroupRecorded) -> None:
    match fact:
        case Joined():
            current.protocol = current.protocol or fact.protocol
            if fact.leader and fact.member:
                current.leader = current.leader or fact.member
        case AssignmentComputed():
            current.assignments = dict(fact.assignments)
            current.members = tuple(sorted(current.assignments))
            current.leader = current.leader or fact.member
        case GroupRecorded():
            current.members = tuple(sorted(one.member for one in fact.members))
            current.count = len(fact.members)
            current.leader, current.protocol = fact.leader, fact.protocol
            current.subscriptions = {one.member: one.topics for one in fact.members if one.topics}
            current.claims = {one.member: one.owned for one in fact.members}
            known = {one.member: one.assignment for one in fact.members if one.assignment is not None}
            if len(known) == len(fact.members):
                current.assignments = known
