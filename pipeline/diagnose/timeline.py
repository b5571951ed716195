"""The timeline of a group: a row per rebalance; durations of rebalances and of times without owner."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from rebalance_check.pipeline.diagnose.facts import JoinSent, MembersEvicted
from rebalance_check.pipeline.diagnose.group import Group
from rebalance_check.pipeline.diagnose.ownership import Gap, gaps
from rebalance_check.pipeline.diagnose.rebalances import Rebalance

SETTLING_MS: Final = 50
"""A client logs its new partitions within this time of the coordinator's reply."""


@dataclass(frozen=True, slots=True)
class Row:
    """One rebalance for people. Times are milliseconds; None where no source says it."""

    time_ms: int | None
    generation: int | None
    duration_ms: int | None
    cause: str
    member: str
    words: str
    waited_for: str
    waited_ms: int | None
    before: int | None
    after: int | None
    moved: int | None
    outcome: str
    """Empty for a rebalance that came to its end."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A count of durations in milliseconds, with median, 95th percentile, maximum and sum."""

    count: int = 0
    median_ms: int = 0
    p95_ms: int = 0
    maximum_ms: int = 0
    total_ms: int = 0


def spread(lengths: Sequence[int]) -> Spread:
    """The spread of durations; a percentile is the smallest value that so many do not exceed."""
    if not lengths:
        return Spread()
    ordered = sorted(lengths)
    return Spread(len(ordered), _share(ordered, 0.5), _share(ordered, 0.95), ordered[-1], sum(ordered))


def _share(ordered: Sequence[int], share: float) -> int:
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def rows(group: Group) -> list[Row]:
    """The timeline."""
    before: Rebalance | None = None
    found: list[Row] = []
    joins = [fact for fact in group.facts if isinstance(fact, JoinSent) and fact.time_ms is not None]
    for one in group.rebalances:
        found.append(_row(group, joins, before, one))
        before = one
    return found


def _row(group: Group, joins: Sequence[JoinSent], before: Rebalance | None, one: Rebalance) -> Row:
    name = group.members.name(one.trigger.member) if one.trigger.member else ""
    waited_for, waited_ms = _waited_for(group, joins, one)
    return Row(
        time_ms=one.began_ms if one.began_ms is not None else one.end_ms, generation=one.generation,
        duration_ms=one.duration_ms, cause=str(one.trigger.cause), member=name, words=one.trigger.words,
        waited_for=waited_for, waited_ms=waited_ms, before=before.count if before is not None else None,
        after=one.count, moved=_moved(before, one), outcome=_outcome(one),
    )  # fmt: skip


def _outcome(one: Rebalance) -> str:
    if one.emptied:
        return "empty"
    if one.superseded:
        return "not assigned: another rebalance began"
    return "open at the end of the log" if one.is_open and one.seen_by_broker else ""


def _waited_for(group: Group, joins: Sequence[JoinSent], one: Rebalance) -> tuple[str, int | None]:
    """The last member to join, where the clients' logs say it, or those that were removed. ``joins`` are in order."""
    evicted = [member for each in one.contributions if isinstance(each, MembersEvicted) for member in each.members]
    if evicted:
        return ", ".join(group.members.name(member) for member in evicted), one.join_ms
    if one.began_ms is None or one.joined_ms is None:
        return "", None
    last = bisect_right(joins, one.joined_ms, key=lambda fact: fact.time_ms or 0) - 1
    if last < 0 or (joins[last].time_ms or 0) < one.began_ms:
        return "", None
    return joins[last].instance or joins[last].client, (joins[last].time_ms or 0) - one.began_ms


def _moved(before: Rebalance | None, one: Rebalance) -> int | None:
    """Partitions that have another owner than before."""
    if before is None or before.assignments is None or one.assignments is None:
        return None
    owners = {partition: member for member, partitions in before.assignments.items() for partition in partitions}
    return sum(
        owners.get(partition, member) != member
        for member, partitions in one.assignments.items()
        for partition in partitions
    )


def latency(group: Group) -> Spread:
    """How long rebalances take, from the first cause to the assignment."""
    return spread([one.duration_ms for one in group.rebalances if one.duration_ms is not None and not one.emptied])


def latency_by_cause(group: Group) -> dict[str, Spread]:
    """The same by cause, the most frequent first."""
    lengths: dict[str, list[int]] = {}
    for one in group.rebalances:
        if one.duration_ms is not None and not one.emptied:
            lengths.setdefault(str(one.trigger.cause), []).append(one.duration_ms)
    return {cause: spread(own) for cause, own in sorted(lengths.items(), key=lambda item: (-len(item[1]), item[0]))}


def without_owner(group: Group) -> dict[str, Spread]:
    """The times without owner of each partition, by the clients' logs."""
    lengths: dict[str, list[int]] = {}
    for gap in known_gaps(group):
        lengths.setdefault(gap.partition, []).append(gap.length_ms)
    return {partition: spread(own) for partition, own in sorted(lengths.items())}


def known_gaps(group: Group) -> list[Gap]:
    """Gaps that no owner without a log can fill: each assignment that ends in one is to a client whose log is there."""
    clients = {span.client for span in group.spans}
    seen = clients | {span.member for span in group.spans}
    ended = sorted((one for one in group.rebalances if one.end_ms is not None), key=_end_ms)
    return [gap for gap in gaps(group.spans) if not any(
        _may_be_owned(group, one, gap.partition, seen, len(clients)) for one in _ended_in(ended, gap)
    )]  # fmt: skip


def _end_ms(one: Rebalance) -> int:
    return one.end_ms or 0


def _ended_in(ended: Sequence[Rebalance], gap: Gap) -> Sequence[Rebalance]:
    first = bisect_left(ended, gap.begin_ms - SETTLING_MS, key=_end_ms)
    return ended[first : bisect_left(ended, gap.end_ms - SETTLING_MS, key=_end_ms)]


def _may_be_owned(group: Group, one: Rebalance, partition: str, seen: set[str], clients: int) -> bool:
    """Whether the assignment may give the partition to a client whose log is not there."""
    if one.assignments is None:
        return one.count is not None and one.count > clients
    owners = {member for member, partitions in one.assignments.items() if partition in partitions}
    return not owners <= seen and not {group.members.get(member).client for member in owners} <= seen


def per_hour(group: Group) -> float | None:
    """Rebalances per hour over the time that the sources cover; None for less than a minute."""
    span = group.span_ms
    if span is None or span[1] - span[0] < 60_000:
        return None
    return len(group.rebalances) / ((span[1] - span[0]) / 3_600_000)
