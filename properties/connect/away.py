"""How long a worker goes on that is out of its group: others may have its work already."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary.events import (
    ConfigReadEnded,
    ConnectAssignmentReceived,
    CoordinatorAwaited,
    CoordinatorFound,
    CoordinatorLost,
    Event,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberPaused,
    MembershipLost,
    MemberStarted,
    RunEnded,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationStarted,
)
from rebalance_check.properties.connect.worker_fold import WorkerFold
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.verdict import STEP, Violation
from rebalance_check.properties.views.worker import NO_ERROR, SHOWS_WHAT_RUNS

READ: Final = "ok"
"""The outcome of a read of the config topic that got to its end."""

BLOCKED_MS: Final = 8_000
"""Longer than this no herder is blocked that stops work, reads the config topic, or flushes."""


class WorkStopsWithoutACoordinatorViolated(Violation):
    """A worker waited for a coordinator for longer than its heartbeat interval, and went on with its work."""


class WorkStopsWhileAwayViolated(Violation):
    """A worker that had left its group went on with its work beyond the delay after which others get it."""


class _WithoutCoordinator(WorkerFold):
    """Looks whenever a herder polls in vain: after its heartbeat interval it should have given its work up.

    A herder that is blocked does not poll, and finds no coordinator only when it polls again.
    """

    needs = ((CoordinatorAwaited,), (ConnectAssignmentReceived,), (WorkerConfigured,))
    bookkeeping = frozenset({CoordinatorFound, WorkRevocationStarted, MemberStarted, MemberCrashed, MemberLeft})

    def __init__(self, invariant: Invariant) -> None:
        ends = (CoordinatorFound, WorkRevocationStarted, MemberStarted, MemberCrashed, MemberLeft)
        super().__init__(invariant, {CoordinatorAwaited: self.on_awaited, **dict.fromkeys(ends, self.on_excused)})
        self._since: dict[str, CoordinatorAwaited] = {}

    def on_excused(self, event: MemberEvent) -> None:
        """It found a coordinator, stops its work, or ends."""
        self._since.pop(event.member, None)

    def on_awaited(self, event: CoordinatorAwaited) -> None:
        """All that it claims should have been given up by now; a failed assignment is not given up."""
        since = self._since.setdefault(event.member, event)
        worker = self.memory.workers.get(event.member)
        if worker is None or worker.configured is None or worker.received is None or worker.received.error != NO_ERROR:
            return
        without_ms = event.time_ms - since.time_ms
        held = sorted(set(worker.running).intersection(worker.claim or ()))
        if without_ms < worker.configured.heartbeat_interval_ms or not held:
            return
        self.contradiction(
            f"{event.member} waits for a coordinator for {without_ms} ms and still runs {held[0]}",
            (f"{event.member} began to wait for a coordinator at {STEP}.", since),
            (f"it runs {held[0]} since {STEP}.", worker.running[held[0]]),
            (f"it waited on at {STEP} and had stopped nothing: contradiction.", event),
        )


class _WhileAway(WorkerFold):
    """Looks whenever the worker does something that shows how long it has been away."""

    needs = ((MembershipLost,), (WorkerConfigured,))
    bookkeeping = frozenset({MembershipLost, CoordinatorLost, MemberPaused, MemberStarted, MemberCrashed, MemberLeft})

    def __init__(self, invariant: Invariant) -> None:
        ends = (CoordinatorLost, MemberPaused, MemberStarted, MemberCrashed, MemberLeft)
        super().__init__(
            invariant,
            {
                MembershipLost: self.on_lost,
                **dict.fromkeys(ends, self.on_excused),
                ConfigReadEnded: self.on_read,
                WorkerClaimed: self.on_back,
                WorkRevocationStarted: self.on_back,
                RunEnded: self.on_end,
            },
        )
        self._away: dict[str, MembershipLost] = {}
        self._since_ms: dict[str, int] = {}

    def on_lost(self, event: MembershipLost) -> None:
        """From here on the time counts."""
        worker = self.memory.workers.get(event.member)
        if worker is not None and worker.running:
            self._away.setdefault(event.member, event)
            self._since_ms.setdefault(event.member, event.time_ms)

    def on_excused(self, event: MemberEvent) -> None:
        """It stands still, ends, or cannot join for want of a coordinator."""
        self._forget(event.member)

    def _forget(self, member: str) -> None:
        self._away.pop(member, None)
        self._since_ms.pop(member, None)

    def on_read(self, event: ConfigReadEnded) -> None:
        """A herder that could read did not back off: what it read back was written by a request that it serves."""
        self.look(event)
        if event.outcome == READ and event.member in self._since_ms:
            self._since_ms[event.member] = event.time_ms

    def on_back(self, event: WorkerClaimed | WorkRevocationStarted) -> None:
        """It joins again, or stops its work: in time, or too late."""
        self.look(event)
        self._forget(event.member)

    def look(self, event: MemberEvent) -> None:
        """It is still away."""
        lost = self._away.get(event.member)
        if lost is not None:
            self._judge(lost, event)

    def on_end(self, event: RunEnded) -> None:
        """It never came back."""
        for name in sorted(self._away):
            self._judge(self._away[name], event)

    def _judge(self, lost: MembershipLost, event: Event) -> None:
        worker = self.memory.workers.get(lost.member)
        if worker is None or worker.configured is None or not worker.running:
            return
        away_ms = event.time_ms - self._since_ms[lost.member]
        if away_ms <= worker.configured.scheduled_rebalance_max_delay_ms + BLOCKED_MS:
            return
        work = min(worker.running)
        self.contradiction(
            f"{lost.member} is out of its group for {away_ms} ms and still runs {work}",
            (f"{lost.member} left its group at {STEP} ({lost.reason}).", lost),
            (f"it runs {work} since {STEP}.", worker.running[work]),
            (f"it had neither joined nor stopped {work} before {STEP}: contradiction.", event),
        )
        self._forget(lost.member)


WorkStopsWithoutACoordinator: Final = Invariant(
    name="work_stops_without_a_coordinator",
    family="connect_work",
    claim="a worker that polls and finds no coordinator for its heartbeat interval stops all that it claims",
    source="WorkerCoordinator.poll; KAFKA-9184",
    premises=(
        "time counts from the first poll that finds no coordinator: a blocked herder does not poll",
        "a worker that is joining already goes on until it has joined",
    ),
    exempted_by=(CoordinatorFound, WorkRevocationStarted, *SHOWS_WHAT_RUNS),
    violation=WorkStopsWithoutACoordinatorViolated,
    fold=_WithoutCoordinator,
)
"""Others may have its work already. The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible")
    ConnectAssignmentReceived(member="w0", generation=1, protocol="compatible", leader="a", leader_url="u",
                              config_offset=3, assigned=("c",))
    ConnectorStarted(member="w0", generation=1, connector="c")
    CoordinatorAwaited(member="w0", time_ms=1000)
    CoordinatorAwaited(member="w0", time_ms=4000)
"""

WorkStopsWhileAway: Final = Invariant(
    name="work_stops_while_away",
    family="connect_work",
    claim="a worker that left its group and can find its coordinator joins again or stops its work within "
    "scheduled.rebalance.max.delay.ms",
    source="DistributedHerder.backoff; KAFKA-9849",
    premises=(
        f"its herder is blocked for {BLOCKED_MS // 1000} s at most: time-outs of stops and of reads are shorter",
        "one that serves a write, which may take 30 s, reads it back: time counts anew from each read that succeeded",
    ),
    exempted_by=(CoordinatorLost, MemberPaused, WorkRevocationStarted, WorkerClaimed, *SHOWS_WHAT_RUNS),
    violation=WorkStopsWhileAwayViolated,
    fold=_WhileAway,
)
"""The smallest history that breaks it::

    WorkerConfigured(member="w0", mode="compatible", scheduled_rebalance_max_delay_ms=10000)
    ConnectorStarted(member="w0", generation=1, connector="c")
    MembershipLost(member="w0", generation=1, reason="left", time_ms=1000)
    ConfigReadEnded(member="w0", offset=3, outcome="timeout", time_ms=60000)
"""

CLAIMS: Final = (WorkStopsWithoutACoordinator, WorkStopsWhileAway)
"""In the order in which reports name them."""
