"""A campaign that keeps nothing: simulate and judge in one go, in processes, with the base install."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.pipeline.campaign import Runner, Work, missing, shard_size, shards
from rebalance_check.pipeline.findings import apart
from rebalance_check.pipeline.judging import VerdictRow, explain, failing_seeds, judge_run, run_verdicts, tally
from rebalance_check.pipeline.limits import Watch
from rebalance_check.pipeline.processes import Processes, cores
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.properties.catalogue import select


@dataclass(frozen=True, slots=True)
class JudgedShard:
    """The verdicts of a few seeds."""

    runs: int
    events: int
    rows: list[VerdictRow]


def judge_seeds(seeds: range, runner: Runner, names: Sequence[str]) -> JudgedShard:
    """Simulate and judge the seeds, one after the other."""
    invariants = select(names)
    events, rows = 0, list[VerdictRow]()
    for seed in seeds:
        run = judge_run(seed, runner.events(seed), invariants)
        events += run.judgement.events
        rows += run.rows
    return JudgedShard(len(seeds), events, rows)


FIRST_SHARD: Final = 2
"""So few seeds have the first shards, so that a defect that every seed shows is there at once."""

LAST_SHARD: Final = 64
"""So many seeds has a shard at most: what a worker finds is known when its shard is done."""


def fuzz_in_memory(
    work: Work, workers: int | None, progress: ProgressListener, watch: Watch, *, list_runs: bool = False
) -> FuzzResult:
    """`rebalance_check.pipeline.fuzz.fuzz` without a table; ``watch`` says when it ends."""
    started = time.perf_counter()
    count = min(workers or cores(), len(work.seeds) + len(work.first))
    tasks = ((judge_seeds, (piece, work.runner, work.names)) for piece in pieces(work, count))
    judged: list[JudgedShard] = []
    with Processes(count) as processes:
        for shard in _watched(processes.run(tasks), len(work.seeds), progress):
            judged.append(shard)
            watch.take(shard.rows)
            if watch.is_over:
                processes.abandon()
                break
    verdicts, known = apart(tally(chain.from_iterable(shard.rows for shard in judged), work.names), work.known)
    return FuzzResult(
        engine="local",
        runs=sum(shard.runs for shard in judged),
        events=sum(shard.events for shard in judged),
        resumed=0,
        verdicts=verdicts,
        counterexamples=explain(verdicts, work.runner.events),
        failing_seeds=failing_seeds(verdicts),
        seconds=time.perf_counter() - started,
        known=known,
        listed=tuple(verdict for shard in judged for verdict in run_verdicts(shard.rows)) if list_runs else (),
    )


def pieces(work: Work, workers: int) -> Iterator[range]:
    """The seeds that come first, one by one; then the others, in small pieces to begin with."""
    early = [range(seed, seed + 1) for seed in dict.fromkeys(work.first)]
    yield from early
    size = min(shard_size(len(work.seeds), workers), LAST_SHARD)
    for gap in missing(work.seeds, early):
        begun = range(gap.start, min(gap.stop, gap.start + FIRST_SHARD * workers))
        yield from shards(begun, FIRST_SHARD)
        yield from shards(range(begun.stop, gap.stop), size)


def _watched(shards_done: Iterator[JudgedShard], total: int, progress: ProgressListener) -> Iterator[JudgedShard]:
    done = 0
    for shard in shards_done:
        done += shard.runs
        progress("simulate", done, total)
        yield shard
