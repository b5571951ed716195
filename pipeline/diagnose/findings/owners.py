"""Owners of partitions: two at one time, none at all, uneven and unsticky assignments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil
from statistics import median
from typing import Final

from rebalance_check.pipeline.diagnose.facts import (
    AssignmentsHidden,
    MemberExpired,
    MemberFenced,
    MemberLeft,
    PartitionDescribed,
    RequestRefused,
    TopicsUnassigned,
)
from rebalance_check.pipeline.diagnose.findings import rules
from rebalance_check.pipeline.diagnose.findings.finding import (
    SAY_SKEW,
    UNCOMPARED,
    Confidence,
    Finding,
    Kind,
    Severity,
    Thresholds,
    places,
    seconds,
    times,
)
from rebalance_check.pipeline.diagnose.group import Group
from rebalance_check.pipeline.diagnose.ownership import Overlap, Stop, overlaps
from rebalance_check.pipeline.diagnose.rebalances import Rebalance

STICKY: Final = ("sticky", "uniform")
KAFKAS: Final = frozenset({"range", "roundrobin", "sticky", "cooperative-sticky"})
UNEVEN_SHARE: Final = 0.25
"""A spread of range's assignments above this part of the mean is a cost."""
Assignments = Mapping[str, Sequence[str]]


def findings(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """All of this module."""
    yield from two_owners(group, limits)
    yield from assigned_twice(group)
    yield from unowned(group)
    yield from unbalanced(group)
    yield from moved(group)


# ----------------------------------------------------------------------------------------------------------- two owners


def two_owners(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """Overlaps of ownership, separated by whether the group had already removed the first owner."""
    found = overlaps(group.spans, max(group.tolerance_ms(), limits.max_skew_ms or 0, 1))
    by_owner: dict[tuple[str, str, bool], list[Overlap]] = {}
    for one in found:
        by_owner.setdefault((one.earlier.client, one.later.client, _was_removed(group, one)), []).append(one)
    for (first, second, removed), own in sorted(by_owner.items()):
        sure = limits.max_skew_ms is not None or all(
            group.shares_clock(one.later.begun_by, one.earlier.begun_by) for one in own
        )
        finding = _two_owners(group, first, second, own, removed)
        yield finding if sure else unsure(finding)


def unsure(finding: Finding) -> Finding:
    """The finding, where clocks that cannot be compared may show what never was."""
    severity = Severity.COST if finding.severity is Severity.FAULT else finding.severity
    return replace(
        finding,
        severity=severity,
        kind=Kind.NONE,
        confidence=Confidence.DEDUCED,
        deduced_from=UNCOMPARED,
        more=SAY_SKEW,
    )


def _was_removed(group: Group, one: Overlap) -> bool:
    """Whether the first owner had left, expired or been fenced: it went on because it had not noticed."""
    if one.earlier.stop is Stop.LOST:
        return True
    member = group.members.by_id.get(one.earlier.member)
    return (
        member is not None
        and member.ended_ms is not None
        and member.ended_ms <= one.later.begin_ms + group.tolerance_ms()
        and (isinstance(member.ended_by, MemberLeft | MemberExpired | MemberFenced))
    )


def _two_owners(group: Group, first: str, second: str, own: Sequence[Overlap], removed: bool) -> Finding:
    longest = max(own, key=lambda one: one.length_ms)
    partitions = sorted({one.later.partition for one in own})
    facts = [fact for one in own[:2] for fact in (one.later.begun_by, one.earlier.ended_by) if fact is not None]
    refused = [
        fact
        for fact in group.facts
        if isinstance(fact, RequestRefused) and fact.request == "OffsetCommit" and fact.client == first
    ]
    return Finding(
        rule=rules.ZOMBIE_OWNER if removed else rules.TWO_OWNERS,
        severity=Severity.COST if removed else Severity.FAULT,
        kind=Kind.NONE if removed else Kind.SAFETY,
        group=group.name,
        title=f"{first} and {second} owned {_listed(partitions)} at one time, up to {seconds(longest.length_ms)}",
        cause=f"the coordinator had removed {first}, which had not noticed yet"
        + (f"; {times(len(refused), 'commit')} of it refused" if refused else "")
        if removed
        else f"{second} began before {first} had given the partitions up",
        since_ms=min(one.begin_ms for one in own),
        until_ms=max(one.begin_ms + one.length_ms for one in own),
        members=(first, second),
        evidence=places([*facts, *refused[:1]]),
    )


def assigned_twice(group: Group) -> Iterator[Finding]:
    """Partitions that one assignment gives to two members; an assignor that is not Kafka's own may mean to."""
    for one in group.rebalances:
        if group.is_connect or one.assignments is None or one.protocol not in KAFKAS:
            continue
        owners: dict[str, list[str]] = {}
        for member, partitions in sorted(one.assignments.items()):
            for partition in partitions:
                owners.setdefault(partition, []).append(group.members.name(member))
        twice = {partition: members for partition, members in sorted(owners.items()) if len(members) > 1}
        if twice:
            names = tuple(dict.fromkeys(name for members in twice.values() for name in members))
            yield Finding(
                rule=rules.TWO_OWNERS,
                severity=Severity.FAULT,
                kind=Kind.SAFETY,
                group=group.name,
                title=f"generation {one.generation} gives {_listed(list(twice))} to {' and '.join(names[:3])}",
                cause=f"the assignor {one.protocol} of the leader {group.members.name(one.leader)} gave it out twice",
                remedy="upgrade the leader's client; look for an assignor of your own under this name",
                since_ms=one.end_ms,
                generations=() if one.generation is None else (one.generation,),
                members=names,
                evidence=places(one.evidence[-1:]),
            )


def _listed(partitions: Sequence[str]) -> str:
    more = f" and {len(partitions) - 4} more" if len(partitions) > 4 else ""
    return ", ".join(partitions[:4]) + more


# ------------------------------------------------------------------------------------------------------------- no owner


def unowned(group: Group) -> Iterator[Finding]:
    """Partitions that the assignor leaves out, or that a table shows without an owner in a group with members."""
    left_out = [fact for fact in group.facts if isinstance(fact, TopicsUnassigned)]
    if left_out:
        topics = sorted({topic for fact in left_out for topic in fact.topics})
        yield _unowned(group, f"the assignor left out {', '.join(topics)}", left_out, Severity.FAULT)
    rows = [fact for fact in group.facts if isinstance(fact, PartitionDescribed)]
    free = sorted(fact.partition for fact in rows if fact.member is None)
    hidden = any(isinstance(fact, AssignmentsHidden) for fact in group.facts)
    if free and not hidden and any(fact.member for fact in rows):
        lag = sum(
            (fact.end or 0) - (fact.committed or 0)
            for fact in rows
            if fact.member is None and fact.end and fact.committed
        )
        yield _unowned(
            group,
            f"{_listed(free)} {'has' if len(free) == 1 else 'have'} no owner, {lag} records behind",
            [fact for fact in rows if fact.member is None],
            Severity.FAULT,
        )


def _unowned(
    group: Group, title: str, facts: Sequence[TopicsUnassigned | PartitionDescribed], severity: Severity
) -> Finding:
    return Finding(
        rule=rules.NO_OWNER,
        severity=severity,
        kind=Kind.LIVENESS,
        group=group.name,
        title=title,
        cause="too few members subscribe to the topic, or the assignor forgot it",
        since_ms=facts[0].time_ms,
        evidence=places(facts),
        more="the records of __consumer_offsets show every member's subscription and assignment",
    )


# -------------------------------------------------------------------------------------------------- balance, stickiness


def unbalanced(group: Group) -> Iterator[Finding]:
    """Members with equal subscriptions and unequal numbers of partitions, in the last assignment that is known."""
    known = [one for one in group.rebalances if one.assignments]
    if not known or group.is_connect:
        return
    last = known[-1]
    if not _topics(last) >= _topics(known[-2] if len(known) > 1 else last):
        return  # the cooperative protocol withholds partitions until their owners have revoked them
    assignments = last.assignments or {}
    if last.subscriptions and len({frozenset(topics) for topics in last.subscriptions.values()}) > 1:
        return
    counts = {member: len(partitions) for member, partitions in assignments.items()}
    spread, mean = max(counts.values()) - min(counts.values()), sum(counts.values()) / len(counts)
    idle = sorted(group.members.name(member) for member, count in counts.items() if not count)
    if idle:
        yield Finding(
            rule=rules.IDLE,
            severity=Severity.NOTE,
            group=group.name,
            title=f"{times(len(idle), 'member')} without a partition: " + ", ".join(idle[:4]),
            cause=f"{len(counts)} members share {sum(counts.values())} partitions",
            since_ms=last.end_ms,
            evidence=places(last.evidence),
        )
    sticky = any(word in last.protocol for word in STICKY)
    if spread <= 1 or idle or (not sticky and spread <= UNEVEN_SHARE * mean):
        return
    most, least = (sorted(counts, key=lambda member: (-counts[member], member))[place] for place in (0, -1))
    yield Finding(
        rule=rules.UNBALANCED,
        severity=Severity.FAULT if sticky else Severity.COST,
        group=group.name,
        title=f"{group.members.name(most)} has {counts[most]} partitions, {group.members.name(least)} {counts[least]}",
        cause=f"the assignor {last.protocol or '(unknown)'}"
        + ("" if sticky else " gives the surplus of every topic to the same members"),
        since_ms=last.end_ms,
        evidence=places(last.evidence),
    )


def moved(group: Group) -> Iterator[Finding]:
    """Partitions that a sticky assignor moves between members that stay, without need."""
    for before, after in pairwise([one for one in group.rebalances if one.assignments]):
        if (
            before.assignments is None
            or after.assignments is None
            or not any(word in after.protocol for word in STICKY)
        ):
            continue
        if group.is_connect or set(before.assignments) != set(after.assignments) or _topics(before) != _topics(after):
            continue
        excess = _excess(before.assignments, after.assignments)
        if excess:
            yield Finding(
                rule=rules.UNSTICKY,
                severity=Severity.COST,
                group=group.name,
                title=f"{times(excess, 'partition')} moved in generation {after.generation} without need",
                cause=f"no member came or went, and the assignor {after.protocol} forgot the assignment before: "
                "members claimed nothing, or an old generation",
                since_ms=after.end_ms,
                generations=() if after.generation is None else (after.generation,),
                evidence=places([*before.evidence[-1:], *after.evidence[-1:]]),
                confidence=Confidence.SHOWN,
            )


def _topics(one: Rebalance) -> set[str]:
    return {partition for partitions in (one.assignments or {}).values() for partition in partitions}


def _excess(before: Assignments, after: Assignments) -> int:
    """Moves beyond those that balance needs: a member above the larger share must give up the surplus."""
    total, members = sum(map(len, before.values())), len(before)
    share = ceil(total / members)
    needed = sum(max(0, len(partitions) - share) for partitions in before.values())
    happened = sum(
        len(set(partitions) - set(after[member]))
        for member, partitions in before.items()
        if after.get(member) is not None
    )
    assigned_before = Counter(partition for partitions in before.values() for partition in partitions)
    return max(0, happened - needed) if assigned_before else 0


def median_ms(lengths: Sequence[int]) -> float:
    """The median of durations."""
    return median(lengths) if lengths else 0.0
