"""The runs of each connector and task on Connect workers, from the workers' logs.

A worker that is asked to stop work goes on until it says that all stops are over; one that gives a stop up may still
run it (``task.shutdown.graceful.timeout.ms``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rebalance_check.pipeline.diagnose.facts import (
    Fact,
    ProcessStarted,
    WorkerFact,
    WorkFailed,
    WorkStarted,
    WorkStopFailed,
    WorkStopped,
    WorkStopRequested,
    WorkStopsFinished,
)


class Ended(StrEnum):
    """How a run of a connector or task ends."""

    STOPPED = "stopped"
    FAILED = "failed"
    GIVEN_UP = "its stop was given up"
    """It may still run."""
    UNSEEN = "not seen"
    """The log says no more: the worker was killed, or its log is cut."""


@dataclass(frozen=True, slots=True)
class Run:
    """One worker runs one connector or task. ``end_ms`` None: no line says when it ends."""

    work: str
    client: str
    begin_ms: int
    begun_by: Fact
    end_ms: int | None = None
    ended: Ended = Ended.UNSEEN
    ended_by: Fact | None = None
    member: str = ""


@dataclass(slots=True)
class _Worker:
    running: dict[str, Run] = field(default_factory=dict)
    stopping: set[str] = field(default_factory=set)


def runs(facts: Iterable[Fact]) -> list[Run]:
    """The runs in the facts of one group in the order of their times; those of one client follow each other."""
    workers: dict[str, _Worker] = {}
    found: list[Run] = []
    for fact in facts:
        if not isinstance(fact, WorkerFact | ProcessStarted) or fact.time_ms is None:
            continue
        found += _taken(workers.setdefault(fact.client, _Worker()), fact, fact.time_ms)
    found += [run for worker in workers.values() for run in worker.running.values()]
    return sorted(found, key=lambda run: (run.begin_ms, run.work))


def _taken(worker: _Worker, fact: WorkerFact | ProcessStarted, time_ms: int) -> list[Run]:
    """The runs that a line ends."""
    match fact:
        case ProcessStarted():
            return _all(worker, fact) if fact.release else []
        case WorkStarted():
            ended = _end(worker, fact.work, fact, time_ms, Ended.STOPPED) if fact.work in worker.stopping else []
            worker.running[fact.work] = Run(fact.work, fact.client, time_ms, fact, member=fact.member)
            return ended
        case WorkStopRequested():
            worker.stopping.add(fact.work)
            return []
        case WorkStopped():
            return _end(worker, fact.work, fact, time_ms, Ended.STOPPED)
        case WorkStopFailed():
            return _end(worker, fact.work, fact, None, Ended.GIVEN_UP)
        case WorkFailed():
            return _end(worker, fact.work, fact, time_ms, Ended.FAILED)
        case WorkStopsFinished():
            return [run for work in sorted(worker.stopping) for run in _end(worker, work, fact, time_ms, Ended.STOPPED)]
        case _:
            return []


def _end(worker: _Worker, work: str, fact: Fact, time_ms: int | None, ended: Ended) -> list[Run]:
    worker.stopping.discard(work)
    run = worker.running.pop(work, None)
    return [] if run is None else [replace(run, end_ms=time_ms, ended=ended, ended_by=fact)]


def _all(worker: _Worker, fact: Fact) -> list[Run]:
    """A restart ends all runs, at a time that no line says."""
    ended = [replace(run, ended_by=fact) for run in worker.running.values()]
    worker.running.clear()
    worker.stopping.clear()
    return ended


@dataclass(frozen=True, slots=True)
class RunsTwice:
    """Two workers run the same work. ``length_ms`` None: the first gave the stop up, and may run on."""

    earlier: Run
    later: Run

    @property
    def length_ms(self) -> int | None:
        """How long both ran it."""
        return None if self.earlier.end_ms is None else self.earlier.end_ms - self.later.begin_ms


def twice(found: Iterable[Run], tolerance_ms: int) -> list[RunsTwice]:
    """Pairs of workers that run the same work for longer than their clocks may differ."""
    by_work: dict[str, list[Run]] = {}
    for run in found:
        by_work.setdefault(run.work, []).append(run)
    pairs = [
        RunsTwice(earlier, later)
        for ordered in by_work.values()
        for place, later in enumerate(ordered)
        for earlier in ordered[:place]
        if earlier.client != later.client
    ]
    return [pair for pair in pairs if _overlap(pair, tolerance_ms)]


def _overlap(pair: RunsTwice, tolerance_ms: int) -> bool:
    if pair.earlier.ended is Ended.GIVEN_UP:
        return True
    return pair.length_ms is not None and pair.length_ms > tolerance_ms
