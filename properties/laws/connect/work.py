"""Work of Connect workers: each connector and task runs once, where it was assigned, and starts for a cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    ApplicationBusy,
    AssignmentAccepted,
    AssignmentCompleted,
    ConfigCallEnded,
    ConfigCallStarted,
    ConfigReadEnded,
    ConnectAssignmentReceived,
    ConnectorStarted,
    CoordinatorAwaited,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    IncarnationStarted,
    LogTailLost,
    MemberCrashed,
    MemberJoined,
    MemberLeft,
    MemberPaused,
    MemberRemoved,
    MembershipLost,
    MemberStarted,
    RunEnded,
    TaskStarted,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationEnded,
    WorkRevocationStarted,
)
from rebalance_check.properties.engines import CHECKED, Excused, Finding, Findings, broken, form
from rebalance_check.properties.kinds import Evidence, Invariant, declared
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.away import Away
from rebalance_check.properties.views.worker import NO_ERROR, SHOWS_WHAT_RUNS, Started, Worker, listed, work_of
from rebalance_check.properties.views.workers import Workers

Back: TypeAlias = ConfigReadEnded | WorkerClaimed | WorkRevocationStarted

BLOCKED_MS: Final = 8_000
"""Longer than this no herder is blocked that stops work, reads the config topic, or flushes."""

# ---------------------------------------------------------------------------------------------- once


def _starts(event: Started, workers: Workers) -> Iterator[Finding]:
    return _runs_once(work_of(event), workers.of(event.member), event, workers)


def _goes_on(event: AssignmentCompleted, workers: Workers) -> Iterator[Finding]:
    worker = workers.workers.get(event.member)
    if worker is not None:
        beyond = worker.left.keys() - (worker.claim or {}).keys()
        for work in sorted(worker.running.keys() - beyond):
            yield from _runs_once(work, worker, event, workers)


def _runs_once(work: str, worker: Worker, event: Started | AssignmentCompleted, workers: Workers) -> Iterator[Finding]:
    """No other worker runs it, but for workers that were removed unawares, and work that an eager round left."""
    if work in worker.outdated:
        yield Excused("the worker does not know that it was removed")
        return
    yield CHECKED
    for other in workers.runners(work):
        if other is not worker:
            exemption = _may_run_too(worker, other, work, event, workers)
            yield Excused(exemption) if exemption else _twice(other, work, event)


def _may_run_too(
    worker: Worker, other: Worker, work: str, event: Started | AssignmentCompleted, workers: Workers
) -> str:
    if work in other.outdated:
        return "the other worker does not know that it was removed"
    if work in other.left or worker.ignores(other):
        return "an eager round leaves work of an incremental one"
    overtaken = other.received is not None and workers.is_behind(worker, other.received.generation)
    if overtaken or workers.is_behind(other, event.generation):
        return "one of the workers has not joined the generation that the coordinator shows it in"
    return ""


def _twice(other: Worker, work: str, event: Started | AssignmentCompleted) -> Finding:
    first, second = sorted((other.name, event.member))
    did = "completed its assignment and runs" if isinstance(event, AssignmentCompleted) else "started"
    return broken(
        f"{work} runs on {first} and {second}",
        (f"{other.name} runs {work} since {STEP}; it has not stopped it since.", other.running[work]),
        (f"{event.member} {did} {work} at {STEP}: contradiction.", event),
    )


WorkRunsOnce: Final = Invariant(
    name="work_runs_once",
    family="connect",
    claim="a connector or task runs on one worker at a time",
    source="KIP-415; DistributedHerder.startWork, RebalanceListener.onRevoked",
    premises=(
        "cancelled work may still run; it is not counted",
        "a worker that learned that it is no member, or that the coordinator's events show removed, may run what it "
        "ran until its next assignment; without these events, so may one that was paused or lost its coordinator, and "
        "all where a log lost its end",
        "a herder notices that its membership ended when it polls: until it joins again it restarts work that it "
        "accepted and did not give up, as a new configuration or a restart request wants (KAFKA-16056)",
        "so may a worker that these events show in a later generation than it has joined: its JoinGroup came twice, "
        "or it was paused and reads the assignment of an older one late",
        "an eager assignment is made whatever workers run since an incremental one, and one that gets it in place of "
        "its claim may go on with the rest (KAFKA-13816); where assignments are not recorded, that is a violation",
    ),
    exempted_by=(
        *SHOWS_WHAT_RUNS,
        AssignmentAccepted,
        ConnectAssignmentReceived,
        CoordinatorLost,
        IncarnationStarted,
        LogTailLost,
        MemberJoined,
        MemberPaused,
        MemberRemoved,
        MembershipLost,
    ),
    evidence=Evidence.CONCERNED,
    fold=form(
        {ConnectorStarted: _starts, TaskStarted: _starts, AssignmentCompleted: _goes_on},
        views=(Workers,),
        needs=((ConnectorStarted, TaskStarted),),
    ),
    breaks="""
        TaskStarted(member="w0", generation=1, task="c-0")
        TaskStarted(member="w1", generation=2, task="c-0")
    """,
    holds="""
        TaskStarted(member="w0", generation=1, task="c-0")
        TaskStopped(member="w0", generation=1, task="c-0")
        TaskStarted(member="w1", generation=2, task="c-0")
    """,
    excuses="""
        TaskStarted(member="w0", generation=1, task="c-0")
        MembershipLost(member="w0", generation=1, reason="left")
        TaskStarted(member="w1", generation=2, task="c-0")
    """,
)

# ---------------------------------------------------------------------------------------------- as assigned


def _waits_for_configs(event: AssignmentAccepted, workers: Workers) -> Findings:
    """The worker has read exactly as far as the assignment was computed from."""
    received = workers.of(event.member).received
    if received is None:
        return None
    if received.error != NO_ERROR:
        why = f"that assignment failed with {received.error}"
    elif received.config_offset != event.config_offset:
        why = f"its configs are at offset {event.config_offset}, not {received.config_offset}"
    elif received.generation != event.generation:
        why = f"it does so for generation {event.generation}"
    else:
        return CHECKED
    return broken(
        f"{event.member} accepted an assignment although {why}",
        (f"{event.member} received the assignment of generation {received.generation} at {STEP}, computed at config "
         f"offset {received.config_offset}.", received),
        (f"it begins to start {listed(event.work)} at {STEP}, and {why}: contradiction.", event),
    )  # fmt: skip


StartWaitsForConfigs: Final = Invariant(
    name="start_waits_for_configs",
    family="connect",
    claim="a worker starts assigned work only when the assignment has no error and the worker has read the "
    "config topic exactly as far as the leader had",
    source="DistributedHerder.handleRebalanceCompleted",
    premises=("the worker logs how far it had read when it began to start work",),
    exempted_by=(ConnectAssignmentReceived,),
    evidence=Evidence.CONCERNED,
    fold=form({AssignmentAccepted: _waits_for_configs}, views=(Workers,), needs=((ConnectAssignmentReceived,),)),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=3, assigned=("c",))
        AssignmentAccepted(member="w0", generation=1, config_offset=2, work=("c",))
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=3, assigned=("c",))
        AssignmentAccepted(member="w0", generation=1, config_offset=3, work=("c",))
    """,
)


def _claims_what_runs(event: WorkerClaimed | AssignmentAccepted, workers: Workers) -> Findings:
    """The worker claims all that it runs, except work that an eager assignment left running."""
    worker = workers.of(event.member)
    if worker.received is None:
        return None
    unclaimed = sorted(set(worker.running) - set(worker.claim or ()) - set(worker.left))
    if not unclaimed:
        return CHECKED
    return broken(
        f"{event.member} runs {unclaimed[0]} and does not claim it",
        (f"{event.member} runs {unclaimed[0]} since {STEP}.", worker.running[unclaimed[0]]),
        (f"the assignments up to {STEP} leave it a claim to {listed(worker.claim or ())}.", worker.received),
        (f"{unclaimed[0]} still runs at {STEP}: contradiction.", event),
    )


RunningWorkIsClaimed: Final = Invariant(
    name="running_work_is_claimed",
    family="connect",
    claim="whenever a worker joins, or accepts an assignment, it claims all that it runs",
    source="KIP-415; WorkerCoordinator.onJoinComplete, DistributedHerder.RebalanceListener.onRevoked",
    premises=("work of an incremental protocol may go on when an eager assignment comes (KAFKA-13816)",),
    exempted_by=(*SHOWS_WHAT_RUNS, ConnectAssignmentReceived, WorkRevocationStarted),
    evidence=Evidence.CONCERNED,
    fold=form(
        {WorkerClaimed: _claims_what_runs, AssignmentAccepted: _claims_what_runs},
        views=(Workers,),
        needs=((ConnectAssignmentReceived,), (ConnectorStarted, TaskStarted)),
    ),
    breaks="""
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=3)
        TaskStarted(member="w0", generation=1, task="c-0")
        AssignmentAccepted(member="w0", generation=1, config_offset=3, work=())
    """,
    holds="""
        ConnectAssignmentReceived(member="w0", generation=1, config_offset=3, assigned=("c-0",))
        TaskStarted(member="w0", generation=1, task="c-0")
        AssignmentAccepted(member="w0", generation=1, config_offset=3, work=("c-0",))
    """,
)

# ---------------------------------------------------------------------------------------------- given up


def _revocation_over(event: WorkRevocationEnded, workers: Workers) -> Findings:
    return _has_stopped(event, event.work, "the revocation is over", workers)


def _revoked(event: ConnectAssignmentReceived, workers: Workers) -> Findings:
    """The worker stopped the revoked work before."""
    return _has_stopped(event, event.revoked, "its assignment revokes it", workers) if event.revoked else None


def _has_stopped(
    event: WorkRevocationEnded | ConnectAssignmentReceived, work: tuple[str, ...], why: str, workers: Workers
) -> Findings:
    worker = workers.of(event.member)
    left = sorted(set(work) & set(worker.running) - set(worker.left))
    if not left:
        return CHECKED
    return broken(
        f"{event.member} still runs {left[0]}, which was revoked",
        (f"{event.member} runs {left[0]} since {STEP}.", worker.running[left[0]]),
        (f"{why} at {STEP}, and {left[0]} runs: contradiction.", event),
    )


RevokedWorkHasStopped: Final = Invariant(
    name="revoked_work_has_stopped",
    family="connect",
    claim="when a worker has done with a revocation, and before it takes the assignment that revokes, the revoked work "
    "has stopped or was cancelled",
    source="KIP-415; DistributedHerder.RebalanceListener.onRevoked; KAFKA-10763",
    premises=("onRevoked runs before onAssigned, which processes the assignment",),
    exempted_by=SHOWS_WHAT_RUNS,
    evidence=Evidence.CONCERNED,
    fold=form(
        {WorkRevocationEnded: _revocation_over, ConnectAssignmentReceived: _revoked},
        views=(Workers,),
        needs=((ConnectorStarted, TaskStarted),),
    ),
    breaks="""
        TaskStarted(member="w0", generation=1, task="c-0")
        ConnectAssignmentReceived(member="w0", generation=2, config_offset=3, revoked=("c-0",))
    """,
    holds="""
        TaskStarted(member="w0", generation=1, task="c-0")
        TaskStopped(member="w0", generation=1, task="c-0")
        ConnectAssignmentReceived(member="w0", generation=2, config_offset=3, revoked=("c-0",))
    """,
)


def _still_alone(event: CoordinatorAwaited, away: Away) -> Findings:
    """All that it claims should have been given up by now; a failed assignment is not given up."""
    since, worker = away.awaited[event.member], away.workers.workers.get(event.member)
    if worker is None or worker.configured is None or worker.received is None or worker.received.error != NO_ERROR:
        return None
    without_ms = event.time_ms - since.time_ms
    if without_ms < worker.configured.heartbeat_interval_ms:
        return None
    held = sorted(set(worker.running).intersection(worker.claim or ()))
    if not held:
        return CHECKED
    return broken(
        f"{event.member} waits for a coordinator for {without_ms} ms and still runs {held[0]}",
        (f"{event.member} began to wait for a coordinator at {STEP}.", since),
        (f"it runs {held[0]} since {STEP}.", worker.running[held[0]]),
        (f"it waited on at {STEP} and had stopped nothing: contradiction.", event),
    )


def _still_away(event: Back, away: Away) -> Findings:
    return _judged_away(event.member, event, away)


def _never_back(event: RunEnded, away: Away) -> Iterator[Finding]:
    away.up_to_date()
    for name in sorted(away.lost):
        found = _judged_away(name, event, away)
        if found is not None:
            yield found


def _judged_away(member: str, event: Event, away: Away) -> Finding | None:
    lost, worker = away.lost.get(member), away.workers.workers.get(member)
    if lost is None or worker is None or worker.configured is None or not worker.running:
        return None
    away_ms = event.time_ms - away.since_ms[member]
    if away_ms < 0:
        return None
    if worker.is_eager:
        return Excused("left under the eager protocol, whose back-off is worker.unsync.backoff.ms each time")
    if away_ms <= worker.configured.scheduled_rebalance_max_delay_ms + BLOCKED_MS:
        return CHECKED
    away.forget(member)
    work = min(worker.running)
    return broken(
        f"{member} is out of its group for {away_ms} ms and still runs {work}",
        (f"{member} left its group at {STEP} ({lost.reason}).", lost),
        (f"it runs {work} since {STEP}.", worker.running[work]),
        (f"it had neither joined nor stopped {work} before {STEP}: contradiction.", event),
    )


WorkStopsWhileAway: Final = Invariant(
    name="work_stops_while_away",
    family="connect",
    claim="a worker that left its group and can find its coordinator joins again or stops its work within "
    "scheduled.rebalance.max.delay.ms, and one that polls and finds no coordinator for its heartbeat interval stops "
    "all that it claims",
    source="DistributedHerder.backoff, WorkerCoordinator.poll; KAFKA-9184, KAFKA-9849",
    premises=(
        f"its herder is blocked for {BLOCKED_MS // 1000} s at most, or says that it is busy: time-outs of stops and of "
        "reads are shorter",
        "one that revokes, or writes to the config topic, which may take 30 s, is busy until it has done so",
        "without a coordinator time counts from the first poll that finds none: a blocked herder does not poll",
        "a worker that is joining already goes on until it has joined",
        "one whose last assignment came under the eager protocol backs off for worker.unsync.backoff.ms each time that "
        "it cannot read the config topic",
    ),
    exempted_by=(
        ApplicationBusy, ConfigCallEnded, ConfigCallStarted, ConfigReadEnded, CoordinatorFound, CoordinatorLost,
        MemberCrashed, MemberLeft, MemberPaused,
        MemberStarted, WorkRevocationEnded, WorkRevocationStarted, WorkerClaimed, *SHOWS_WHAT_RUNS,
    ),
    evidence=Evidence.CONCERNED,
    fold=form(
        {
            ConfigReadEnded: _still_away,
            WorkerClaimed: _still_away,
            WorkRevocationStarted: _still_away,
            CoordinatorAwaited: _still_alone,
            RunEnded: _never_back,
        },
        views=(Away,),
        needs=((MembershipLost, CoordinatorAwaited), (WorkerConfigured,)),
    ),
    opening="""
        WorkerConfigured(member="w0", mode="compatible", scheduled_rebalance_max_delay_ms=10000)
        ConnectorStarted(member="w0", generation=1, connector="c")
        MembershipLost(member="w0", generation=1, reason="left", time_ms=1000)
    """,
    breaks="""
        RunEnded(time_ms=60000)
    """,
    holds="""
        RunEnded(time_ms=9000)
    """,
)  # fmt: skip

LAWS: Final = declared(__name__)
"""In the order in which reports name them."""
