"""Instance ids, leaders, assignors and settings of the members."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from rebalance_check.pipeline.diagnose.facts import (
    MemberDescribed,
    MemberFenced,
    RequestRefused,
    StaticMemberReplaced,
)
from rebalance_check.pipeline.diagnose.findings import rules
from rebalance_check.pipeline.diagnose.findings.finding import (
    Finding,
    Kind,
    Severity,
    Thresholds,
    places,
    seconds,
    times,
)
from rebalance_check.pipeline.diagnose.group import Group
from rebalance_check.pipeline.diagnose.rebalances import Rebalance

EAGER: Final = frozenset({"range", "roundrobin", "sticky"})
COOPERATIVE: Final = "cooperative-sticky"


def findings(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """All of this module."""
    yield from fencing(group)
    yield from leaders(group)
    yield from assignors(group)
    yield from settings(group, limits)


def fencing(group: Group) -> Iterator[Finding]:
    """Two processes with one ``group.instance.id`` (KIP-345): the later takes the place of the earlier."""
    fenced: dict[str, list[MemberFenced]] = {}
    replaced: dict[str, list[StaticMemberReplaced]] = {}
    for fact in group.facts:
        if isinstance(fact, MemberFenced):
            fenced.setdefault(fact.instance, []).append(fact)
        elif isinstance(fact, StaticMemberReplaced):
            replaced.setdefault(fact.instance, []).append(fact)
    for instance, refused in sorted(fenced.items()):
        swaps = replaced.get(instance, [])
        fight = len(swaps) > 2
        yield Finding(
            rule=rules.FENCED,
            severity=Severity.FAULT,
            kind=Kind.LIVENESS if fight else Kind.NONE,
            group=group.name,
            title=f"two processes use the instance id {instance}"
            + (f", and replaced each other {len(swaps)} times" if fight else ""),
            cause=f"the later process took the place of the earlier, whose {refused[0].operation or 'request'} was "
            "refused: it still ran",
            since_ms=(swaps or refused)[0].time_ms,
            until_ms=refused[-1].time_ms,
            members=(instance,),
            evidence=places([*swaps[:2], *refused]),
        )
    for instance, swaps in sorted(replaced.items()):
        if instance not in fenced and len(swaps) > 2:
            yield Finding(
                rule=rules.STATIC_RESTARTS,
                severity=Severity.NOTE,
                group=group.name,
                title=f"the process of {instance} restarted {len(swaps)} times",
                cause="its instance id kept its place: no rebalance was needed",
                since_ms=swaps[0].time_ms,
                until_ms=swaps[-1].time_ms,
                members=(instance,),
                evidence=places(swaps),
            )


def leaders(group: Group) -> Iterator[Finding]:
    """The leader changes although the former leader is still a member: by rule it stays."""
    known = [one for one in group.rebalances if one.leader and one.ended_ms is not None]
    changed = [
        (before, after) for before, after in pairwise(known) if before.leader != after.leader and _stayed(before, after)
    ]
    if len(changed) < 2:
        return
    yield Finding(
        rule=rules.LEADERS,
        severity=Severity.NOTE,
        group=group.name,
        title=f"the leader changed {times(len(changed), 'time')} although the former one stayed",
        cause="the coordinator chose another leader",
        since_ms=changed[0][1].ended_ms,
        until_ms=changed[-1][1].ended_ms,
        evidence=places(fact for _, after in changed for fact in after.evidence[-1:]),
    )


def _stayed(before: Rebalance, after: Rebalance) -> bool:
    return before.members is not None and after.members is not None and before.leader in after.members


def assignors(group: Group) -> Iterator[Finding]:
    """Members that offer no common assignor, and a fall back from the cooperative protocol to an eager one."""
    refused = [
        fact
        for fact in group.facts
        if isinstance(fact, RequestRefused)
        and fact.request == "JoinGroup"
        and ("ncompatible" in fact.error or "inconsistent" in fact.error.lower())
    ]
    if refused:
        clients = sorted({fact.instance or fact.client for fact in refused})
        yield Finding(
            rule=rules.NO_COMMON_ASSIGNOR,
            severity=Severity.FAULT,
            kind=Kind.LIVENESS,
            group=group.name,
            title=f"{', '.join(clients)} cannot join: no assignor in common with the group",
            cause="partition.assignment.strategy differs among the members",
            since_ms=refused[0].time_ms,
            until_ms=refused[-1].time_ms,
            members=tuple(clients),
            evidence=places(refused),
        )
    used = [one for one in group.rebalances if one.protocol]
    fell = [
        (before, after)
        for before, after in pairwise(used)
        if before.protocol == COOPERATIVE and after.protocol in EAGER and (after.count or 2) > 1
    ]
    if fell:
        yield Finding(
            rule=rules.TO_EAGER,
            severity=Severity.COST,
            group=group.name,
            title=f"generation {fell[0][1].generation} went back from {COOPERATIVE} to {fell[0][1].protocol}",
            cause="a member joined that offers no cooperative assignor: every member revokes all its partitions",
            since_ms=fell[0][1].end_ms,
            generations=tuple(after.generation for _, after in fell if after.generation is not None),
            evidence=places(fact for _, after in fell for fact in after.evidence[:1]),
        )


def settings(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """Timeouts against each other."""
    members = list(group.members.by_id.values())
    described = [fact for fact in group.facts if isinstance(fact, MemberDescribed)]
    frozen = sorted(
        {
            group.members.client(one.id)
            for one in members
            if one.session_timeout_ms and one.rebalance_timeout_ms and one.session_timeout_ms > one.rebalance_timeout_ms
        }
    )
    if frozen:
        yield _setting(
            group,
            "session.timeout.ms is larger than max.poll.interval.ms",
            frozen,
            "a frozen member is removed by the rebalance timeout while its session still runs",
            remedy="set session.timeout.ms below max.poll.interval.ms",
            described=described,
        )
    late = sorted(
        {
            group.members.client(one.id)
            for one in members
            if one.heartbeat_interval_ms
            and one.session_timeout_ms
            and one.heartbeat_interval_ms > limits.heartbeat_share * one.session_timeout_ms
        }
    )
    if late:
        yield _setting(
            group,
            "heartbeat.interval.ms is more than a third of session.timeout.ms",
            late,
            "one lost heartbeat leaves no second chance",
            remedy="set heartbeat.interval.ms to a third of session.timeout.ms or less",
            described=described,
        )
    sessions = {one.session_timeout_ms for one in members if one.session_timeout_ms}
    timeouts = {one.rebalance_timeout_ms for one in members if one.rebalance_timeout_ms}
    if len(sessions) > 1 or len(timeouts) > 1:
        names = [
            f"{name} {', '.join(seconds(each) for each in sorted(values))}"
            for name, values in (("session.timeout.ms", sessions), ("rebalance timeout", timeouts))
            if len(values) > 1
        ]
        yield _setting(
            group,
            f"members differ in {' and '.join(names)}",
            [],
            "the largest rebalance timeout of all members is the group's",
            remedy="give all members the same timeouts",
            described=described,
            severity=Severity.NOTE,
        )


def _setting(
    group: Group,
    title: str,
    members: list[str],
    cause: str,
    *,
    remedy: str,
    described: list[MemberDescribed],
    severity: Severity = Severity.COST,
) -> Finding:
    return Finding(
        rule=rules.SETTINGS,
        severity=severity,
        group=group.name,
        title=title + (f" ({', '.join(members[:4])})" if members else ""),
        cause=cause,
        remedy=remedy,
        members=tuple(members),
        evidence=places(described),
    )
