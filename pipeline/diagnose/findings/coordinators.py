"""The coordinator and the offsets topic: moves, metadata that flips, generations that go back, commits that go back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from rebalance_check.pipeline.diagnose.commits import went_back
from rebalance_check.pipeline.diagnose.facts import CoordinatorMoved, OffsetRecorded, RequestRefused
from rebalance_check.pipeline.diagnose.findings import rules
from rebalance_check.pipeline.diagnose.findings.finding import (
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
from rebalance_check.pipeline.diagnose.rebalances import Rebalance
from rebalance_check.pipeline.diagnose.triggers import LEAVES, Cause

AFTER_LOAD_MS: Final = 10_000
"""A rebalance within this time of a load belongs to it: clients refresh their metadata when the broker is back."""


def findings(group: Group, _limits: Thresholds) -> Iterator[Finding]:
    """All of this module."""
    yield from moves(group)
    yield from metadata(group)
    yield from generations(group)
    yield from refused_commits(group)
    yield from commits_back(group)


def moves(group: Group) -> Iterator[Finding]:
    """Times without a coordinator: no member can join or commit."""
    away: list[tuple[CoordinatorMoved, CoordinatorMoved]] = []
    gone: CoordinatorMoved | None = None
    for move in group.moves:
        if move.change in {"unload", "unloaded"} and gone is None:
            gone = move
        elif move.change == "loaded" and gone is not None:
            away.append((gone, move))
            gone = None
    if not away:
        return
    lengths = [(back.time_ms or 0) - (left.time_ms or 0) for left, back in away]
    after = [one for one in group.rebalances if any(_follows(one, back) for _, back in away)]
    yield Finding(
        rule=rules.AWAY,
        severity=Severity.COST if max(lengths) > AFTER_LOAD_MS else Severity.NOTE,
        group=group.name,
        title=f"no coordinator for {seconds(max(lengths))}" + (f", {len(away)} times" if len(away) > 1 else ""),
        cause=f"the coordinator of __consumer_offsets-{away[0][0].partition} was stopped or moved; "
        + (
            f"{times(len(after), 'rebalance')} followed"
            if after
            else "no rebalance followed: the members' sessions begin again at the load"
        ),
        since_ms=away[0][0].time_ms,
        until_ms=away[-1][1].time_ms,
        evidence=places(move for pair in away for move in pair),
    )


def _follows(one: Rebalance, back: CoordinatorMoved) -> bool:
    """Whether the load may have caused it: members that close or start do so of themselves."""
    begun = one.began_ms
    if one.trigger.cause in LEAVES or one.trigger.cause is Cause.NEW_MEMBER:
        return False
    return begun is not None and back.time_ms is not None and 0 <= begun - back.time_ms <= AFTER_LOAD_MS


def metadata(group: Group) -> Iterator[Finding]:
    """Rebalances because the topics' metadata changed: right after a load, or again and again."""
    changed = [one for one in group.rebalances if one.trigger.cause is Cause.METADATA]
    loads = [move for move in group.moves if move.change == "loaded"]
    starting = [one for one in changed if any(_follows(one, load) for load in loads)]
    if starting:
        yield _metadata(
            group,
            starting,
            f"{times(len(starting), 'rebalance')} because a starting broker answered with other metadata",
            "the broker was not ready: its first answers lacked partitions",
            severity=Severity.COST,
            confidence=Confidence.DEDUCED,
        )
    others = [one for one in changed if one not in starting]
    if len(others) > 2:
        yield _metadata(
            group,
            others,
            f"topics or partitions changed {len(others)} times",
            "topics are created, deleted or enlarged again and again, or brokers disagree about them",
            severity=Severity.FAULT if len(others) > 5 else Severity.COST,
            confidence=Confidence.SHOWN,
        )


def _metadata(
    group: Group, found: list[Rebalance], title: str, cause: str, *, severity: Severity, confidence: Confidence
) -> Finding:
    return Finding(
        rule=rules.METADATA,
        severity=severity,
        group=group.name,
        title=title,
        cause=cause,
        since_ms=found[0].began_ms,
        until_ms=found[-1].began_ms,
        confidence=confidence,
        deduced_from="it begins within 10 s of the load" if confidence is Confidence.DEDUCED else "",
        generations=tuple(one.generation for one in found if one.generation is not None),
        evidence=places(fact for one in found for fact in one.evidence[:1]),
        more=""
        if group.has_clients
        else "the leader's log says how the metadata changed (Request joining group due to: cached metadata ...)",
    )


def generations(group: Group) -> Iterator[Finding]:
    """A generation that goes back: the coordinator lost the group's records."""
    known = [one for one in group.rebalances if one.generation is not None and one.end_ms is not None]
    for before, after in pairwise(known):
        lower = (after.generation or 0) < (before.generation or 0)
        if lower and not before.emptied and not (after.generation or 0) <= 1:
            yield Finding(
                rule=rules.WENT_BACK,
                severity=Severity.FAULT,
                kind=Kind.SAFETY,
                group=group.name,
                title=f"generation {before.generation} is followed by {after.generation}",
                cause="the coordinator lost records of the group",
                since_ms=after.end_ms,
                generations=(before.generation or 0, after.generation or 0),
                evidence=places([*before.evidence[-1:], *after.evidence[-1:]]),
            )


def refused_commits(group: Group) -> Iterator[Finding]:
    """Commits of members that had lost their membership."""
    by_client: dict[str, list[RequestRefused]] = {}
    for fact in group.facts:
        if isinstance(fact, RequestRefused) and fact.request == "OffsetCommit":
            by_client.setdefault(fact.instance or fact.client, []).append(fact)
    for client, refused in sorted(by_client.items()):
        yield Finding(
            rule=rules.REFUSED_COMMITS,
            severity=Severity.NOTE,
            group=group.name,
            title=f"{times(len(refused), 'commit')} of {client} refused",
            cause=f"it had lost its membership ({refused[0].error[:80]}): the next owner reads the records since its "
            "last commit again",
            since_ms=refused[0].time_ms,
            until_ms=refused[-1].time_ms,
            members=(client,),
            evidence=places(refused),
        )


def commits_back(group: Group) -> Iterator[Finding]:
    """Accepted commits whose offset goes back while the group has members: a former owner's, or a reset."""
    last: dict[str, OffsetRecorded] = {}
    back = went_back(group.facts)
    for fact in group.facts:
        if not isinstance(fact, OffsetRecorded):
            continue
        before = last.get(fact.partition)
        if fact.offset is not None and before is not None and before.offset is not None and fact.offset < before.offset:
            back.append(fact)
        last[fact.partition] = fact
    if back:
        partitions = sorted({fact.partition for fact in back})
        yield Finding(
            rule=rules.COMMITS_BACK,
            severity=Severity.COST,
            group=group.name,
            title=f"the committed offset went back in {', '.join(partitions[:4])}",
            cause="a former owner committed after the new one, or an operator or the application set the offset back",
            since_ms=back[0].time_ms,
            until_ms=back[-1].time_ms,
            evidence=places(back),
            confidence=Confidence.DEDUCED,
            deduced_from="the record names no member",
        )
