"""Single causes: needless rebalances, expiries, poll timeouts, and members that hold a join phase up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rebalance_check.pipeline.diagnose.facts import (
    ClientFact,
    CoordinatorUnavailable,
    Fact,
    JoinSent,
    MemberExpired,
    MemberLeft,
    MembersEvicted,
    PollTimedOut,
    ProcessStarted,
    Revoked,
)
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
from rebalance_check.pipeline.diagnose.findings.storms import rebalance_timeout_ms, session_timeout_ms
from rebalance_check.pipeline.diagnose.group import Group
from rebalance_check.pipeline.diagnose.rebalances import Rebalance
from rebalance_check.pipeline.diagnose.triggers import POLL_TIMEOUT, Cause


def findings(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """All of this module."""
    yield from needless(group, limits)
    yield from poll_timeouts(group, limits)
    yield from expiries(group, limits)
    yield from hold_ups(group, limits)


# ------------------------------------------------------------------------------------------------------------- needless


def needless(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """Rebalances after which members, subscriptions and assignor are the same as before."""
    if group.is_connect:
        return  # a Connect round without a change of members stops revoked work, or ends a delay
    found = [
        one for before, one in zip(group.rebalances, group.rebalances[1:], strict=False) if _is_needless(before, one)
    ]
    if not found:
        return
    many = len(found) > 1 and len(found) > limits.needless_share * len(group.rebalances)
    clients = Counter(group.members.client(one.trigger.member) for one in found if one.trigger.member)
    words = sorted({one.trigger.words for one in found if one.trigger.words})
    reason = f"; its reason: {', '.join(words[:3])}" if words else "; it gives no reason"
    yield Finding(
        rule=rules.NEEDLESS,
        severity=Severity.COST if many else Severity.NOTE,
        group=group.name,
        title=f"{len(found)} of {times(len(group.rebalances), 'rebalance')} changed nothing",
        cause=f"{', '.join(clients) or 'a member'} joined again{reason}",
        since_ms=found[0].began_ms,
        until_ms=found[-1].began_ms,
        members=tuple(clients),
        generations=tuple(one.generation for one in found if one.generation is not None),
        evidence=places(fact for one in found for fact in one.evidence[:1]),
        confidence=Confidence.SHOWN if group.has_records else Confidence.DEDUCED,
        deduced_from="" if group.has_records else "no member joined or left, and the reason names no change",
    )


def _partitions(one: Rebalance) -> set[str]:
    return {partition for partitions in (one.assignments or {}).values() for partition in partitions}


def _is_needless(before: Rebalance, one: Rebalance) -> bool:
    if one.trigger.cause not in {Cause.ENFORCED, Cause.REJOINED} or one.superseded or one.emptied or before.superseded:
        return False
    if any(not isinstance(each, MembersEvicted) or each.members for each in one.contributions):
        return False
    if before.assignments is not None and one.assignments is not None and _partitions(before) != _partitions(one):
        return False
    if one.members is not None and before.members is not None:
        same = one.members == before.members and one.protocol == before.protocol
        if one.subscriptions is not None and before.subscriptions is not None:
            return same and one.subscriptions == before.subscriptions
        return same
    return one.count is not None and one.count == before.count


# ---------------------------------------------------------------------------------------------- poll timeouts, expiries


def poll_timeouts(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """Applications that did not call poll within ``max.poll.interval.ms``."""
    by_client: dict[str, list[Fact]] = {}
    for fact in group.facts:
        if isinstance(fact, PollTimedOut) and not _is_effect(group, fact):
            _once(by_client.setdefault(fact.instance or fact.client, []), fact)
        elif isinstance(fact, MemberLeft) and POLL_TIMEOUT in fact.reason:
            _once(by_client.setdefault(group.members.client(fact.member), []), fact)
    for client, found in sorted(by_client.items()):
        limit = rebalance_timeout_ms(group, limits)
        over = max((fact.over_ms or 0 for fact in found if isinstance(fact, PollTimedOut)), default=0)
        often = len(found) > 2
        yield Finding(
            rule=rules.POLL_TIMEOUT,
            severity=Severity.FAULT if often else Severity.COST,
            group=group.name,
            title=f"{client} did not poll within max.poll.interval.ms"
            + (f" ({seconds(limit)})" if _knows_limit(group) else "")
            + (f", {len(found)} times" if len(found) > 1 else ""),
            cause=f"the application of {client} spends too long on the records of one poll"
            + (f": {seconds(over)} over the limit" if over else ""),
            since_ms=found[0].time_ms,
            until_ms=found[-1].time_ms,
            members=(client,),
            evidence=places(found),
            kind=Kind.LIVENESS if often else Kind.NONE,
            more="" if group.has_clients else f"the log of {client} says how long the stall took",
        )


def _knows_limit(group: Group) -> bool:
    return any(one.rebalance_timeout_ms for one in group.members.by_id.values())


def _once(found: list[Fact], fact: Fact) -> None:
    """A client logs the timeout twice, and the coordinator its leave: one event."""
    last = found[-1].time_ms if found else None
    if last is None or fact.time_ms is None or fact.time_ms - last > 2_000:
        found.append(fact)


def _is_effect(group: Group, fact: PollTimedOut) -> bool:
    """A process that was frozen notices a poll timeout when it runs again: its member had expired before."""
    member = group.members.by_id.get(fact.member)
    ended = member.ended_ms if member is not None and isinstance(member.ended_by, MemberExpired) else None
    return ended is not None and fact.time_ms is not None and ended <= fact.time_ms


def expiries(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """Members that sent no heartbeat within their session timeout."""
    expired = [fact for fact in group.facts if isinstance(fact, MemberExpired)]
    if not expired:
        return
    clients = Counter(group.members.client(fact.member) for fact in expired)
    session = max(session_timeout_ms(group, fact.member, limits) for fact in expired)
    known = any(one.session_timeout_ms for one in group.members.by_id.values())
    how = {_how_expired(group, fact, limits) for fact in expired}
    often = max(clients.values()) > 2
    yield Finding(
        rule=rules.EXPIRED,
        severity=Severity.COST if often else Severity.NOTE,
        group=group.name,
        title=f"{times(len(expired), 'member')} expired: {', '.join(name for name, _ in clients.most_common(4))}",
        cause="; ".join(sorted(how)),
        since_ms=expired[0].time_ms,
        until_ms=expired[-1].time_ms,
        members=tuple(clients),
        evidence=places(expired),
        confidence=Confidence.SHOWN if group.has_clients else Confidence.DEDUCED,
        deduced_from="" if group.has_clients else "kill, freeze and network look alike to the coordinator",
        more=""
        if group.has_clients
        else "the log of the client tells a kill from a freeze and from the network; its last "
        f"heartbeat was about {seconds(session)} before" + ("" if known else ", if it has the default session timeout"),
    )


def _how_expired(group: Group, fact: MemberExpired, limits: Thresholds) -> str:
    """Killed, frozen or cut off, by the client's own log."""
    client, expired_ms = group.members.client(fact.member), fact.time_ms
    own = [each for each in group.facts if isinstance(each, ClientFact) and each.time_ms is not None
           and (each.member == fact.member or (each.instance or each.client) == client)]  # fmt: skip
    if not own or expired_ms is None:
        return f"{client} stopped sending heartbeats: killed, frozen or cut off"
    before = [each for each in own if (each.time_ms or 0) <= expired_ms]
    after = next((each for each in own if (each.time_ms or 0) > expired_ms), None)
    if after is None and before and isinstance(before[-1], Revoked) and before[-1].instance:
        return f"{client} stopped for good: a static member sends no LeaveGroup, and expires a session later"
    if after is None:
        return f"{client} was killed, or its log is cut: its last line on the group is {own[-1].place}"
    if isinstance(after, ProcessStarted):
        return f"{client} was killed or crashed: its next start is {after.place}"
    session_ms = session_timeout_ms(group, fact.member, limits)
    lost = [each for each in before if isinstance(each, CoordinatorUnavailable)
            and expired_ms - (each.time_ms or 0) < session_ms]  # fmt: skip
    if lost:
        return f"{client} was cut off from its coordinator: see {lost[0].place}"
    return f"{client} was frozen, or its event loop was blocked: its first line after the pause is {after.place}"


# ------------------------------------------------------------------------------------------------------------- hold-ups


def hold_ups(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """Join phases that last long, and the member that the coordinator waited for."""
    limit = rebalance_timeout_ms(group, limits)
    for one in group.rebalances:
        length = one.join_ms
        if length is None or one.emptied:
            continue
        length -= limits.initial_delay_ms if one.starts_from_empty else 0
        bad = _knows_limit(group) and length > limits.join_share * limit and length > limits.join_ms
        evicted = [each for each in one.contributions if isinstance(each, MembersEvicted)]
        if length <= limits.join_ms and not evicted:
            continue
        who, evidence, sure = _held_up_by(group, one)
        yield Finding(
            rule=rules.HELD_UP,
            severity=Severity.FAULT if bad and not evicted else Severity.COST,
            group=group.name,
            title=f"the join phase of generation {one.generation} took {seconds(one.join_ms or 0)}",
            cause=who,
            since_ms=one.began_ms,
            until_ms=one.joined_ms,
            generations=() if one.generation is None else (one.generation,),
            evidence=places([*one.evidence[:1], *evidence]),
            confidence=Confidence.SHOWN if sure else Confidence.DEDUCED,
            deduced_from="" if sure else "no source says when each member joined",
            more=""
            if group.has_clients
            else "the members' logs (Request joining, (Re-)joining group) name the last to join",
        )


def _held_up_by(group: Group, one: Rebalance) -> tuple[str, list[Fact], bool]:
    evicted = [each for each in one.contributions if isinstance(each, MembersEvicted)]
    if evicted:
        names = ", ".join(group.members.client(member) for each in evicted for member in each.members)
        return f"{names} did not join again, and was removed when the rebalance timeout had passed", list(evicted), True
    joins = [fact for fact in group.facts if isinstance(fact, JoinSent) and _within(one, fact)]
    if joins:
        last = joins[-1]
        waited = (last.time_ms or 0) - (one.began_ms or 0)
        return f"{last.instance or last.client} joined last, {seconds(waited)} after the begin", [last], True
    ends: list[Fact] = [
        each
        for each in one.contributions
        if isinstance(each, MemberLeft | MemberExpired) and each.member != one.trigger.member and _within(one, each)
    ]
    if ends:
        last_end = ends[-1]
        member = getattr(last_end, "member", "")
        return f"{group.members.client(member)} was waited for until it was gone", ends[-1:], False
    return "one of the members of the generation before; no source says which", [], False


def _within(one: Rebalance, fact: Fact) -> bool:
    return (
        one.began_ms is not None
        and one.joined_ms is not None
        and fact.time_ms is not None
        and (one.began_ms <= fact.time_ms <= one.joined_ms + 50)
    )
