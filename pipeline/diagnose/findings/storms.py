"""Storms, flapping members, and join phases that do not end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from rebalance_check.pipeline.diagnose.facts import Fact, PendingMemberExpired
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
from rebalance_check.pipeline.diagnose.members import End, Member
from rebalance_check.pipeline.diagnose.rebalances import Rebalance
from rebalance_check.pipeline.diagnose.triggers import Cause

DEPLOYMENT: Final = frozenset(
    {Cause.NEW_MEMBER, Cause.CLOSED, Cause.LEFT, Cause.UNSUBSCRIBED, Cause.STATIC_CHANGE, Cause.EXPIRED}
)
"""Causes of a rolling restart or of a crash: within a window a client counts once with all of them."""
EMPTIED: Final = 2
"""A group that is empty more often in a window loses all its members again and again."""
RESTLESS: Final = 3
"""So many times the threshold is a storm whatever the causes: restarts of a few members cost fewer rebalances."""
MACHINE_MADE: Final = 0.15
"""Distances that spread less come from a timer."""
RULE_OF: Final = {
    Cause.POLL_TIMEOUT: rules.POLL_TIMEOUT,
    Cause.EXPIRED: rules.EXPIRED,
    Cause.METADATA: rules.METADATA,
    Cause.ENFORCED: rules.NEEDLESS,
    Cause.REJOINED: rules.NEEDLESS,
    Cause.NEW_MEMBER: rules.FLAPPING,
    Cause.NOT_SYNCED: rules.NEVER_ASSIGNED,
}
"""The rule whose remedy helps against a cause."""


def findings(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """All of this module."""
    yield from storm(group, limits)
    yield from flapping(group, limits)
    yield from stuck(group, limits)
    yield from never_assigned(group)
    yield from pending_ids(group, limits)


# --------------------------------------------------------------------------------------------------------------- storms


def storm(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """Too many rebalances, or too much time in them, within a window (rebalance-rate-per-hour of KIP-429)."""
    counted = _counted(group)
    window = _fullest(counted, limits.window_ms)
    everything = _fullest(_dated(group.rebalances), limits.window_ms)
    emptied = sum(one.emptied for one in everything)
    busy_ms = _busiest(group.rebalances, limits.window_ms)
    is_busy = busy_ms > limits.storm_share * limits.window_ms and len(counted) > 2
    is_restless = emptied > EMPTIED or len(everything) > RESTLESS * limits.storm_rebalances
    if len(window) > limits.storm_rebalances:
        stormy = window
    elif is_restless and not group.is_connect:
        stormy = everything
    elif is_busy:
        stormy = counted
    else:
        return
    first, last = stormy[0], stormy[-1]
    causes = Counter(one.trigger.cause for one in stormy)
    cause, count = causes.most_common(1)[0]
    clients = Counter(
        group.members.client(one.trigger.member) for one in stormy if one.trigger.cause is cause and one.trigger.member
    )
    who = ", ".join(name for name, _ in clients.most_common(3)) or "no source names the member"
    yield Finding(
        rule=rules.STORM,
        severity=Severity.FAULT,
        kind=Kind.LIVENESS,
        group=group.name,
        title=f"{times(len(stormy), 'rebalance')} in {seconds(_at(last) - _at(first))}"
        + (f", {seconds(busy_ms)} of {seconds(limits.window_ms)} spent in rebalances" if is_busy else ""),
        cause=f"{count} of {len(stormy)} because {cause}: {who}{_period(group, stormy)}",
        remedy=RULE_OF[cause].remedy if cause in RULE_OF else "",
        since_ms=_at(first),
        until_ms=_at(last),
        generations=tuple(one.generation for one in stormy if one.generation is not None),
        members=tuple(name for name, _ in clients.most_common()),
        evidence=places(fact for one in stormy for fact in one.evidence[:1]),
        more="" if group.has_clients else "the logs of the clients say what they did between their polls",
    )


def _dated(found: Sequence[Rebalance]) -> list[Rebalance]:
    return [one for one in found if one.began_ms is not None or one.joined_ms is not None]


def _counted(group: Group) -> list[Rebalance]:
    """The rebalances that count: a follow-up belongs to the one before, a client's restarts count once."""
    knows = any(one.trigger.cause is not Cause.UNKNOWN for one in group.rebalances)
    counted: list[Rebalance] = []
    deployed: set[tuple[str, str]] = set()
    for one in _dated(group.rebalances):
        if knows and one.trigger.cause is Cause.UNKNOWN:
            continue  # it may be a member's first start, or its end
        if one.trigger.cause is Cause.FOLLOW_UP or (group.is_connect and one.trigger.cause is Cause.REJOINED):
            continue
        if one.trigger.cause in DEPLOYMENT and one.trigger.member:
            key = group.members.get(one.trigger.member).key
            if key in deployed:
                continue
            deployed.add(key)
        counted.append(one)
    return counted


def _at(one: Rebalance) -> int:
    time_ms = one.began_ms if one.began_ms is not None else one.joined_ms
    assert time_ms is not None  # _counted leaves the others out
    return time_ms


def _fullest(counted: Sequence[Rebalance], window_ms: int) -> list[Rebalance]:
    """The rebalances of the fullest window."""
    best: list[Rebalance] = []
    first = 0
    for last, one in enumerate(counted):
        while _at(one) - _at(counted[first]) > window_ms:
            first += 1
        if last - first + 1 > len(best):
            best = list(counted[first : last + 1])
    return best


def _busiest(found: Sequence[Rebalance], window_ms: int) -> int:
    """The most time in rebalances within one window."""
    timed = sorted(
        (one.began_ms, one.duration_ms) for one in found if one.began_ms is not None and one.duration_ms is not None
    )
    most = busy = first = 0
    for begin, length in timed:
        busy += length
        while timed[first][0] <= begin - window_ms:
            busy -= timed[first][1]
            first += 1
        most = max(most, busy)
    return most


def _period(group: Group, stormy: Sequence[Rebalance]) -> str:
    """A regular distance is a timer's: of a poll, a session, a restart back-off."""
    distances = [_at(after) - _at(before) for before, after in pairwise(stormy)]
    if len(distances) < 4:
        return ""
    middle = median(distances)
    spread = median(abs(distance - middle) for distance in distances)
    if middle and spread / middle < MACHINE_MADE:
        return f"; one every {seconds(middle)}, as regular as a timer"
    if sum(after > 1.6 * before for before, after in pairwise(distances)) >= len(distances) - 2:
        return "; the distances double, as a process that crashes and is restarted with a back-off"
    emptied = sum(one.emptied for one in group.rebalances)
    return f"; {emptied} times all members had left" if emptied > 2 else ""


# ------------------------------------------------------------------------------------------------------------- flapping


@dataclass(frozen=True, slots=True)
class _Chain:
    client: str
    members: list[Member]


def flapping(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """One client with many member ids in a window."""
    for chain in _chains(group):
        timed = [one for one in chain.members if one.first_ms is not None]
        window = max((_within(timed, one.first_ms or 0, limits.window_ms) for one in timed), key=len, default=[])
        if len(window) <= limits.flapping_ids:
            continue
        ends = Counter(str(one.end) for one in window if one.end is not None)
        yield Finding(
            rule=rules.FLAPPING,
            severity=Severity.FAULT,
            kind=Kind.LIVENESS,
            group=group.name,
            title=f"{chain.client} had {len(window)} member ids in {seconds(_length(window))}",
            cause="; ".join(f"{times(count, 'time')} {end}" for end, count in ends.most_common())
            or "no source names their ends",
            remedy=_flapping_remedy(window),
            since_ms=window[0].first_ms,
            until_ms=window[-1].first_ms,
            members=(chain.client,),
            evidence=places(one.ended_by for one in window if one.ended_by is not None),
        )


def _chains(group: Group) -> list[_Chain]:
    """The member ids of each client that took part; replaced static members are restarts, which cost no rebalance.

    Several processes may share one client id: only ids whose times do not overlap are of one process.
    """
    by_key: dict[tuple[str, str], list[Member]] = {}
    for member in group.members.by_id.values():
        if not member.is_pending and member.first_ms is not None and member.end is not End.REPLACED:
            by_key.setdefault((member.instance or member.client or member.id, ""), []).append(member)
    return [_Chain(key[0], successive) for key, own in sorted(by_key.items()) for successive in [_successive(own)]]


def _successive(own: Sequence[Member]) -> list[Member]:
    chain: list[Member] = []
    for member in sorted(own, key=lambda one: one.first_ms or 0):
        before = chain[-1] if chain else None
        if before is None or (before.ended_ms is not None and (member.first_ms or 0) >= before.ended_ms):
            chain.append(member)
    return chain


def _within(own: Sequence[Member], start: int, window_ms: int) -> list[Member]:
    return [one for one in own if start <= (one.first_ms or 0) <= start + window_ms]


def _length(window: Sequence[Member]) -> int:
    return (window[-1].first_ms or 0) - (window[0].first_ms or 0)


def _flapping_remedy(window: Sequence[Member]) -> str:
    ends = Counter(one.end for one in window if one.end is not None)
    end = ends.most_common(1)[0][0] if ends else None
    cause = {End.POLL_TIMEOUT: Cause.POLL_TIMEOUT, End.EXPIRED: Cause.EXPIRED}.get(end) if end is not None else None
    return RULE_OF[cause].remedy if cause is not None else ""


# ---------------------------------------------------------------------------------------------------------------- stuck


def stuck(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """The last rebalance is open, and its timeout has long passed while the coordinator logs other things."""
    last = group.rebalances[-1] if group.rebalances else None
    if last is None or not last.seen_by_broker or not last.is_open or group.last_ms is None or last.began_ms is None:
        return
    joining = last.joined_ms is None
    since = last.began_ms if joining else last.joined_ms
    limit = rebalance_timeout_ms(group, limits)
    waited = group.last_ms - (since or 0)
    if since is None or waited <= limit + limits.grace_ms:
        return
    state = "PreparingRebalance" if joining else "CompletingRebalance"
    missing = "members that have not joined again" if joining else f"the leader {group.members.name(last.leader)}"
    yield Finding(
        rule=rules.STUCK,
        severity=Severity.FAULT,
        kind=Kind.LIVENESS,
        group=group.name,
        title=f"stuck in {state} for {seconds(waited)}",
        cause=f"the coordinator still waits for {missing}, and its timeout of {seconds(limit)} has passed",
        since_ms=since,
        until_ms=group.last_ms,
        evidence=places(last.evidence),
        more="`kafka-consumer-groups --describe --state` twice, some minutes apart, shows whether it still waits",
    )


def rebalance_timeout_ms(group: Group, limits: Thresholds) -> int:
    """The largest rebalance timeout of the members, which is the group's; Kafka's default if unknown."""
    known = [one.rebalance_timeout_ms for one in group.members.by_id.values() if one.rebalance_timeout_ms]
    return max(known, default=limits.rebalance_timeout_ms)


def session_timeout_ms(group: Group, member: str, limits: Thresholds) -> int:
    """A member's session timeout, or the largest known one, or Kafka's default."""
    own = group.members.get(member).session_timeout_ms if member else None
    known = [one.session_timeout_ms for one in group.members.by_id.values() if one.session_timeout_ms]
    return own or max(known, default=limits.session_timeout_ms)


def never_assigned(group: Group) -> Iterator[Finding]:
    """Generations whose assignment never arrived: a joiner restarts the rebalance, or the leader is too slow."""
    run: list[Rebalance] = []
    for one in group.rebalances:
        if one.superseded and one.joined_ms is not None:
            run.append(one)
            continue
        if len(run) >= 2:
            yield _never_assigned(group, run)
        run = []
    if len(run) >= 2:
        yield _never_assigned(group, run)


def _never_assigned(group: Group, run: Sequence[Rebalance]) -> Finding:
    evidence: list[Fact] = [fact for one in run for fact in one.evidence]
    return Finding(
        rule=rules.NEVER_ASSIGNED,
        severity=Severity.NOTE,
        group=group.name,
        title=f"{times(len(run), 'generation')} in a row without an assignment",
        cause="members joined or left before the leader had sent the assignment",
        since_ms=run[0].began_ms,
        until_ms=run[-1].joined_ms,
        evidence=places(evidence),
        confidence=Confidence.SHOWN,
        generations=tuple(one.generation for one in run if one.generation is not None),
    )


def pending_ids(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """Member ids that the coordinator gave, and with which no client joined (KIP-394)."""
    expired = [fact for fact in group.facts if isinstance(fact, PendingMemberExpired) and fact.time_ms is not None]
    if not expired:
        return
    first, last = expired[0].time_ms or 0, expired[-1].time_ms or 0
    minutes = max(1.0, (last - first) / 60_000)
    many = len(expired) / minutes > limits.pending_per_minute and len(expired) > 2
    clients = Counter(group.members.client(fact.member) for fact in expired)
    yield Finding(
        rule=rules.UNUSED_IDS,
        severity=Severity.FAULT if many else Severity.NOTE,
        group=group.name,
        title=f"{times(len(expired), 'member id')} given and never used",
        cause="clients that asked for an id and did not "
        "join with it: " + ", ".join(name for name, _ in clients.most_common(3)),
        since_ms=first,
        until_ms=last,
        members=tuple(clients),
        evidence=places(expired),
        kind=Kind.LIVENESS if many else Kind.NONE,
    )
