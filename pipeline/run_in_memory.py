"""A campaign that keeps nothing: simulate and judge in one go, in processes, with the base install."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.pipeline.campaign import Runner, Work, shard_size, shards
from rebalance_check.pipeline.judging import VerdictRow, explain, failing_seeds, judge_run, run_verdicts, tally
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


def fuzz_in_memory(
    work: Work, workers: int | None, progress: ProgressListener, *, list_runs: bool = False
) -> FuzzResult:
    """`rebalance_check.pipeline.fuzz.fuzz` without a table."""
    started = time.perf_counter()
    size = shard_size(len(work.seeds), workers or cores())
    tasks = [(judge_seeds, (piece, work.runner, work.names)) for piece in shards(work.seeds, size)]
    with Processes(min(workers or cores(), len(tasks))) as processes:
        judged = list(_watched(processes.run(tasks), len(work.seeds), progress))
    verdicts = tally(chain.from_iterable(shard.rows for shard in judged), work.names)
    return FuzzResult(
        engine="local",
        runs=sum(shard.runs for shard in judged),
        events=sum(shard.events for shard in judged),
        resumed=0,
        verdicts=verdicts,
        counterexamples=explain(verdicts, work.runner.events),
        failing_seeds=failing_seeds(verdicts),
        seconds=time.perf_counter() - started,
        listed=tuple(verdict for shard in judged for verdict in run_verdicts(shard.rows)) if list_runs else (),
    )


def _watched(shards_done: Iterator[JudgedShard], total: int, progress: ProgressListener) -> Iterator[JudgedShard]:
    done = 0
    for shard in shards_done:
        done += shard.runs
        progress("simulate", done, total)
        yield shard
