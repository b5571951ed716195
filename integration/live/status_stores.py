"""Status stores of several workers over one compacted topic of a real broker, each with its own producer and reader.

A run is drawn from its seed: when which worker writes a status of a task, safely or not, writes or removes a topic in
use, and asks its store for all that it can be asked. Then one worker takes all over, and once everyone has read that,
the others report late. The safe-status-writes claims judge the history; it differs from run to run in the order of
things, as on any real cluster.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from operator import not_
from pathlib import Path
from random import Random
from typing import Final

from rebalance_check.impl.connect.status.codec import Status, StatusValue, status_value
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.live.recording import RawRecording, merge
from rebalance_check.integration.live.status_workers import (
    KEYS,
    PARTITIONS,
    POLL_MS,
    SETTLE_TIMEOUT_S,
    TOPICS,
    KafkaStatusWorker,
)
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.waiting import ask_until
from rebalance_check.model.vocabulary.errors import INTERRUPTIONS, RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunSettled, RunStarted

MOST_WORKERS: Final = 16
MOST_WRITES: Final = 10_000

STATUSES: Final = (Status.RUNNING, Status.RUNNING, Status.PAUSED, Status.FAILED, Status.UNASSIGNED, Status.DESTROYED)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRun:
    """The size of a run, apart from its seed: workers, writes of each, and the longest pause between two, in ms."""

    workers: int = 3
    writes: int = 25
    pause_ms: int = 20

    def __post_init__(self) -> None:
        for name, lowest, highest in (("workers", 1, MOST_WORKERS), ("writes", 0, MOST_WRITES)):
            value = getattr(self, name)
            if not lowest <= value <= highest:
                raise RebalanceCheckError(f"{name} is {value}: choose a number from {lowest} to {highest}")


def run_status_stores(bootstrap: str, seed: int, options: StatusRun, folder: Path) -> Sequence[Event]:
    """Let several stores write at once, wait until all are at rest, and return the merged history.

    ``folder`` receives the raw recordings, one for each worker, while the run goes on.
    """
    identity = uuid.uuid4().hex[:8]
    topic, group = f"status-{identity}", f"connect-{identity}"
    create_topic(bootstrap, topic, PARTITIONS, compacted=True)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.raw" for name in ("harness", *(f"w{i}" for i in range(options.workers)))]
    recordings = [RawRecording(path) for path in paths]
    harness = recordings[0].recorder(group, "harness")
    harness.emit(RunStarted(subject="status stores", seed=seed))
    try:
        pending = _run_workers((bootstrap, topic, group), recordings[1:], seed, options, harness)
        harness.emit(RunEnded(pending=pending))
    finally:
        for recording in recordings:
            recording.close()
    return list(merge(paths))


def _run_workers(
    place: tuple[str, str, str], recordings: Sequence[RawRecording], seed: int, options: StatusRun, harness: Recorder
) -> tuple[str, ...]:
    """A worker for each recording: they write, come to rest, which ``harness`` tells, and are closed. Work that did not
    come to rest is returned."""
    bootstrap, topic, group = place
    workers: list[KafkaStatusWorker] = []
    with ExitStack() as stack:
        for index, recording in enumerate(recordings):
            name = f"w{index}"
            worker = KafkaStatusWorker(name, bootstrap, topic, recording.recorder(group, name))
            stack.callback(worker.close)
            workers.append(worker)
        _write_all(workers, seed, options)
        pending = settle(workers) or _take_over(workers, options) or _report_late(workers)
        if not pending:
            harness.emit(RunSettled())
        return pending


def _write_all(workers: Sequence[KafkaStatusWorker], seed: int, options: StatusRun) -> None:
    """All write at once; an error of one of them is raised here."""
    with ThreadPoolExecutor(len(workers), thread_name_prefix="writer") as pool:
        try:
            for writing in [pool.submit(_write, w, Random(f"{seed}/{w.name}"), options) for w in workers]:
                writing.result()
        except INTERRUPTIONS:
            for worker in workers:
                worker.abandon()
            raise


def _write(worker: KafkaStatusWorker, random: Random, options: StatusRun) -> None:
    """Statuses of a worker whose generation goes up now and then; as in Connect, late ones are written safely."""
    generation = 1
    for _ in range(options.writes):
        if worker.abandoned:
            return
        generation += random.random() < 0.2
        status = random.choice(STATUSES)
        safe = status in (Status.FAILED, Status.UNASSIGNED) or (status is Status.RUNNING and random.random() < 0.3)
        value = status_value(status, f"{worker.name}:8083", generation)
        worker.write(random.choice(KEYS), value, safe=safe)
        if random.random() < 0.2:
            worker.write_topic(random.choice(TOPICS), random.choice((0, 1, 2, None)))
        if random.random() < 0.1:
            worker.ask()
        time.sleep(random.uniform(0, options.pause_ms) / 1000)


def _take_over(workers: Sequence[KafkaStatusWorker], options: StatusRun) -> tuple[str, ...]:
    """The first worker has everything running, in a generation that no worker reached before."""
    for key in KEYS:
        value = StatusValue(Status.RUNNING, f"{workers[0].name}:8083", options.writes + 2)
        workers[0].write(key, value, safe=False)
    return settle(workers)


def _report_late(workers: Sequence[KafkaStatusWorker]) -> tuple[str, ...]:
    """The others write safely the statuses of generation 1: all have read better, so that no such write goes out."""
    for worker in workers[1:]:
        for key in KEYS:
            worker.write(key, StatusValue(Status.UNASSIGNED, f"{worker.name}:8083", 1), safe=True)
    return settle(workers)


def settle(workers: Sequence[KafkaStatusWorker]) -> tuple[str, ...]:
    """Wait until every send is answered and everything is read back; work that is not done in time is returned."""
    return ask_until(lambda: _pending(workers), not_, timeout_s=SETTLE_TIMEOUT_S, pause_s=POLL_MS / 1000)


def _pending(workers: Sequence[KafkaStatusWorker]) -> tuple[str, ...]:
    """The work that is still open. The ends are asked for only once nothing is in flight: a record answered
    after the ends were read is part of neither, and a worker that has not read it would count as at rest."""
    unanswered = tuple(reason for worker in workers if (reason := worker.unanswered()))
    if unanswered:
        return unanswered
    ends = workers[0].ends()
    return tuple(reason for worker in workers if (reason := worker.unread(ends)))
