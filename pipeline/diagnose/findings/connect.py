"""Kafka Connect: work on two workers, statuses without a worker, rounds without change, delays, disagreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from rebalance_check.pipeline.diagnose.facts import (
    ConfigBehind,
    ConfigRecorded,
    Fact,
    MemberExpired,
    StatusRecorded,
    WorkerJoined,
    WorkFailed,
    WorkStarted,
    WorkStopRequested,
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
from rebalance_check.pipeline.diagnose.findings.owners import unsure
from rebalance_check.pipeline.diagnose.group import Group
from rebalance_check.pipeline.diagnose.work import Ended, Run, RunsTwice, runs, twice

Round = Mapping[str, WorkerJoined]
"""The assignments of one generation, by the worker's client id."""
SAME_MS: Final = 2_000
"""A status is written within this time of the start of its work."""
UNASSIGNED_MS: Final = 60_000
FAILED: Final = "FAILED"
RUNNING: Final = "RUNNING"
UNASSIGNED: Final = "UNASSIGNED"


def findings(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """All of this module."""
    statuses = [fact for fact in group.facts if isinstance(fact, StatusRecorded)]
    if not group.is_connect and not statuses:
        return
    rounds = _rounds(group)
    yield from runs_twice(group, limits)
    yield from disagreement(group, rounds)
    yield from without_change(group, rounds, limits)
    yield from delays(group, rounds)
    yield from behind(group)
    yield from failed(group, statuses)
    yield from unassigned(group, statuses)
    yield from shown_running(group, statuses)


def _rounds(group: Group) -> dict[int, dict[str, WorkerJoined]]:
    found: dict[int, dict[str, WorkerJoined]] = {}
    for fact in group.facts:
        if isinstance(fact, WorkerJoined):
            found.setdefault(fact.generation, {})[fact.client] = fact
    return dict(sorted(found.items()))


# ------------------------------------------------------------------------------------------------------ work runs twice


def runs_twice(group: Group, limits: Thresholds) -> Iterator[Finding]:
    """A connector or task on two workers at one time."""
    by_workers: dict[tuple[str, str], list[RunsTwice]] = {}
    for pair in twice(runs(group.facts), max(group.tolerance_ms(), limits.max_skew_ms or 0, 1)):
        by_workers.setdefault((pair.earlier.client, pair.later.client), []).append(pair)
    for (first, second), pairs in sorted(by_workers.items()):
        known = [pair.length_ms for pair in pairs if pair.length_ms is not None]
        work = sorted({pair.later.work for pair in pairs})
        begun = min(pair.later.begin_ms for pair in pairs)
        sure = limits.max_skew_ms is not None or all(
            group.shares_clock(pair.later.begun_by, pair.earlier.begun_by) for pair in pairs
        )
        finding = Finding(
            rule=rules.WORK_RUNS_TWICE,
            severity=Severity.FAULT,
            kind=Kind.SAFETY if known else Kind.NONE,
            group=group.name,
            title=f"{', '.join(work[:4])} on {first} and {second} at one time"
            + (f", up to {seconds(max(known))}" if known else ": the first may still run"),
            cause=_cause_of_two(group, first, pairs),
            since_ms=begun,
            until_ms=max((begun + length for length in known), default=None),
            members=(first, second),
            evidence=places(
                fact for pair in pairs for fact in (pair.later.begun_by, pair.earlier.ended_by) if fact is not None
            ),
            confidence=Confidence.SHOWN if known else Confidence.DEDUCED,
            deduced_from="" if known else f"{first} gave the graceful stop up, and no line says that the work ended",
        )
        yield finding if sure else unsure(finding)


def _cause_of_two(group: Group, first: str, pairs: Sequence[RunsTwice]) -> str:
    if any(pair.earlier.ended is Ended.GIVEN_UP for pair in pairs):
        return f"the graceful stop on {first} failed: task.shutdown.graceful.timeout.ms is shorter than the work's stop"
    expired = [fact for fact in group.facts if isinstance(fact, MemberExpired)]
    if any(group.members.client(fact.member) == first for fact in expired):
        return f"{first} was frozen or cut off: the coordinator had removed it, and it ran on until it noticed"
    return f"{first} ran on after the work had moved"


# --------------------------------------------------------------------------------------------------------------- rounds


def disagreement(group: Group, rounds: Mapping[int, Round]) -> Iterator[Finding]:
    """Workers of one generation that name different leaders or config offsets."""
    bad = [(generation, one) for generation, one in rounds.items()
           if len({(each.leader, each.config_offset) for each in one.values() if _is_good(each)}) > 1]  # fmt: skip
    if bad:
        generation, one = bad[0]
        views = "; ".join(f"{client}: leader {group.members.client(each.leader)}, config offset {each.config_offset}"
                          for client, each in sorted(one.items()))  # fmt: skip
        yield Finding(
            rule=rules.WORKERS_DISAGREE,
            severity=Severity.FAULT,
            kind=Kind.SAFETY,
            group=group.name,
            title=f"the workers of generation {generation} disagree",
            cause=views,
            since_ms=next(iter(one.values())).time_ms,
            generations=tuple(generation for generation, _ in bad),
            evidence=places(one.values()),
        )


def _is_good(joined: WorkerJoined) -> bool:
    return joined.error in {"", "0", "NONE"}


def without_change(group: Group, rounds: Mapping[int, Round], limits: Thresholds) -> Iterator[Finding]:
    """Rounds that give every worker the work that it had, with the same configs, members and no delay."""
    same = [(generation, after) for (before_at, before), (generation, after) in pairwise(rounds.items())
            if generation == before_at + 1 and _is_same(before, after)
            and not _work_between(group, before, after)]  # fmt: skip
    if not same:
        return
    many = len(same) > 1 and len(same) > limits.needless_share * len(rounds)
    yield Finding(
        rule=rules.ROUNDS_WITHOUT_CHANGE,
        severity=Severity.COST if many else Severity.NOTE,
        group=group.name,
        title=f"{len(same)} of {times(len(rounds), 'round')} changed nothing",
        cause="no worker came or went, the configs were the same, and no work was assigned, revoked or delayed",
        since_ms=next(iter(same[0][1].values())).time_ms,
        generations=tuple(generation for generation, _ in same),
        evidence=places(next(iter(after.values())) for _, after in same),
        confidence=Confidence.DEDUCED,
        deduced_from="the logs of all workers are here",
    )


def _is_same(before: Round, after: Round) -> bool:
    if before.keys() != after.keys():
        return False
    return all(
        _view(before[client]) == _view(one) and not (one.revoked or one.delay_ms or before[client].delay_ms)
        and not before[client].revoked
        for client, one in after.items()
    )  # fmt: skip


def _work_between(group: Group, before: Round, after: Round) -> bool:
    """Whether work was started or stopped, or a worker was behind the config topic: then the round had a cause."""
    since = min(one.time_ms or 0 for one in before.values())
    until = max(one.time_ms or 0 for one in after.values())
    kinds = WorkStarted | WorkStopRequested | ConfigBehind | ConfigRecorded
    return any(isinstance(fact, kinds) and since <= (fact.time_ms or -1) < until for fact in group.facts)


def _view(joined: WorkerJoined) -> tuple[str, str, int, frozenset[str]]:
    return joined.leader, joined.member, joined.config_offset, frozenset(joined.assigned)


def delays(group: Group, rounds: Mapping[int, Round]) -> Iterator[Finding]:
    """Work that waits for a lost worker (scheduled.rebalance.max.delay.ms, KIP-415)."""
    delayed = [(generation, max(each.delay_ms for each in one.values())) for generation, one in rounds.items()
               if any(each.delay_ms for each in one.values())]  # fmt: skip
    if not delayed:
        return
    longest = max(delay for _, delay in delayed)
    first = next(iter(rounds[delayed[0][0]].values()))
    yield Finding(
        rule=rules.SCHEDULED_DELAY,
        severity=Severity.NOTE,
        group=group.name,
        title=f"the work of lost workers waited up to {seconds(longest)}, in {times(len(delayed), 'round')}",
        cause="a worker left or was lost, and its work is kept for its return until the delay is over",
        since_ms=first.time_ms,
        generations=tuple(generation for generation, _ in delayed),
        evidence=places(next(iter(rounds[generation].values())) for generation, _ in delayed),
    )


def behind(group: Group) -> Iterator[Finding]:
    """Workers that had not read the configs of their assignment, again and again."""
    counted = Counter(fact.client for fact in group.facts if isinstance(fact, ConfigBehind))
    for client, count in sorted(counted.items()):
        if count > 5:
            facts = [fact for fact in group.facts if isinstance(fact, ConfigBehind) and fact.client == client]
            yield Finding(
                rule=rules.CONFIG_BEHIND,
                severity=Severity.NOTE,
                group=group.name,
                title=f"{client} was behind the config topic {count} times",
                cause="it had not read the config topic up to the offset of its assignment",
                since_ms=facts[0].time_ms,
                until_ms=facts[-1].time_ms,
                members=(client,),
                evidence=places(facts),
            )


# ------------------------------------------------------------------------------------------------------------- statuses


def failed(group: Group, statuses: Sequence[StatusRecorded]) -> Iterator[Finding]:
    """Connectors and tasks that failed, and were not started again."""
    last = {status.work: status for status in statuses}
    logged: dict[str, Fact] = {fact.work: fact for fact in group.facts if isinstance(fact, WorkFailed)}
    still = [status for status in last.values() if status.state == FAILED]
    for status in still:
        logged.setdefault(status.work, status)
    if not logged:
        return
    reasons = {fact.reason for fact in logged.values() if isinstance(fact, WorkFailed) and fact.reason}
    yield Finding(
        rule=rules.WORK_FAILED,
        severity=Severity.COST if still else Severity.NOTE,
        group=group.name,
        title=f"{', '.join(sorted(logged)[:4])} failed" + (", and did not start again" if still else ""),
        cause="; ".join(sorted(reasons)[:2]) or next((status.trace.partition("\n")[0] for status in still), ""),
        since_ms=min((fact.time_ms for fact in logged.values() if fact.time_ms is not None), default=None),
        evidence=places(logged.values()),
    )


def unassigned(group: Group, statuses: Sequence[StatusRecorded]) -> Iterator[Finding]:
    """Tasks whose last status is UNASSIGNED, for longer than a round takes."""
    last = {status.work: status for status in statuses}
    end = max((status.time_ms for status in statuses if status.time_ms is not None), default=None)
    lost = [
        status for status in last.values()
        if status.state == UNASSIGNED and (status.time_ms is None or (end or 0) - status.time_ms > UNASSIGNED_MS)
    ]  # fmt: skip
    if lost:
        timed = all(status.time_ms is not None for status in lost)
        yield Finding(
            rule=rules.WORK_UNASSIGNED,
            severity=Severity.FAULT if timed else Severity.COST,
            kind=Kind.LIVENESS if timed else Kind.NONE,
            group=group.name,
            title=f"{', '.join(sorted(status.work for status in lost)[:4])} UNASSIGNED",
            cause="no worker has started it since its last one stopped it",
            since_ms=min((status.time_ms for status in lost if status.time_ms is not None), default=None),
            evidence=places(lost),
            confidence=Confidence.SHOWN if timed else Confidence.DEDUCED,
            deduced_from=""
            if timed
            else "in a round it looks the same for a short time: ask the status again after a minute",
        )


def shown_running(group: Group, statuses: Sequence[StatusRecorded]) -> Iterator[Finding]:
    """Statuses that say RUNNING on a worker that the coordinator has removed, until another one starts the work."""
    workers = _workers_of(group, statuses)
    expired = [fact for fact in group.facts if isinstance(fact, MemberExpired) and fact.time_ms is not None]
    started = runs(group.facts)
    for fact in expired:
        client = group.members.client(fact.member)
        worker = workers.get(client)
        if worker is None or fact.time_ms is None:
            continue
        waits = _waits(statuses, started, worker, fact.time_ms)
        if waits:
            longest = max(waits.values())
            yield Finding(
                rule=rules.SHOWN_RUNNING,
                severity=Severity.NOTE,
                group=group.name,
                title=f"{', '.join(sorted(waits)[:4])} shown RUNNING on {client} {seconds(longest)} after its end",
                cause="a status stays until another worker starts the work; nothing in REST shows the loss",
                since_ms=fact.time_ms,
                members=(client,),
                evidence=places([fact]),
            )


def _workers_of(group: Group, statuses: Sequence[StatusRecorded]) -> dict[str, str]:
    """The host and port of each worker: the one that writes RUNNING when the worker starts the work."""
    votes: dict[str, Counter[str]] = {}
    for run in runs(group.facts):
        for status in statuses:
            near = status.time_ms is not None and 0 <= status.time_ms - run.begin_ms <= SAME_MS
            if near and status.work == run.work and status.state == RUNNING:
                votes.setdefault(run.client, Counter())[status.worker] += 1
    return {client: counted.most_common(1)[0][0] for client, counted in votes.items()}


def _waits(statuses: Sequence[StatusRecorded], started: Sequence[Run], worker: str, removed_ms: int) -> dict[str, int]:
    """How long after the removal each work of the worker was started elsewhere."""
    shown = {}
    for status in statuses:
        if status.time_ms is not None and status.time_ms <= removed_ms:
            shown[status.work] = status
    waits: dict[str, int] = {}
    for work, status in shown.items():
        if status.state == RUNNING and status.worker == worker:
            later = [run.begin_ms for run in started if run.work == work and run.begin_ms > removed_ms]
            if later:
                waits[work] = min(later) - removed_ms
    return waits
