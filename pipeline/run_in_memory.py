"""A campaign that keeps nothing: simulate and judge in one go, in processes, with the base install."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.pipeline.campaign import Runner, Work, shard_size, shards
from rebalance_check.pipeline.findings import apart
from rebalance_check.pipeline.interruption import noted_at_interruption
from rebalance_check.pipeline.judging import VerdictRow, explain, failing_seeds, judge_run, run_verdicts, tally
from rebalance_check.pipeline.limits import Watch
from rebalance_check.pipeline.processes import Processes, cores
from rebalance_check.pipeline.reached import Reached
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.situations import Situations


@dataclass(frozen=True, slots=True)
class JudgedShard:
    """The verdicts of a few seeds, and in how many of their runs each situation arose."""

    runs: int
    events: int
    rows: list[VerdictRow]
    situations: Counter[str]


def judge_seeds(seeds: Collection[int], runner: Runner, names: Sequence[str]) -> JudgedShard:
    """Simulate and judge the seeds, one after the other."""
    invariants = select(names)
    events, rows, situations = 0, list[VerdictRow](), Counter[str]()
    for seed in seeds:
        history = runner.events(seed)
        reached = Situations()
        run = judge_run(seed, reached.following(history), invariants)
        events += run.judgement.events
        rows += run.rows
        situations.update(reached.reached() | reached.judged(run.tested))
    return JudgedShard(len(seeds), events, rows, situations)


FIRST_SHARD: Final = 2
"""So few seeds have the first shards, so that a defect that every seed shows is there at once."""

LAST_SHARD: Final = 64
"""So many seeds has a shard at most: a worker's findings are known when its shard is done."""


def fuzz_in_memory(
    work: Work, workers: int | None, progress: ProgressListener, watch: Watch, *, list_runs: bool = False
) -> FuzzResult:
    """`rebalance_check.pipeline.fuzz.fuzz` without a table; ``watch`` says when it ends."""
    started = time.perf_counter()
    count = min(workers or cores(), len(work.seeds))
    judged, reached = list[JudgedShard](), Reached()

    def so_far() -> str:
        runs = sum(shard.runs for shard in judged)
        return f"{runs:,} runs are judged and none is kept (--out DIR keeps them); {watch.findings_so_far}"

    with noted_at_interruption(so_far), Processes(count) as processes:
        tasks = ((judge_seeds, (piece, work.runner, work.names)) for piece in pieces(work.seeds, count))
        for shard in processes.run(tasks):
            judged.append(shard)
            progress("simulate", sum(each.runs for each in judged), len(work.seeds))
            reached.runs.update(shard.situations)
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
        reached=reached,
        listed=tuple(verdict for shard in judged for verdict in run_verdicts(shard.rows)) if list_runs else (),
    )


def pieces(seeds: range, workers: int) -> Iterator[range]:
    """The seeds, in small pieces to begin with."""
    size = min(shard_size(len(seeds), workers), LAST_SHARD)
    begun = range(seeds.start, min(seeds.stop, seeds.start + FIRST_SHARD * workers))
    yield from shards(begun, FIRST_SHARD)
    yield from shards(range(begun.stop, seeds.stop), size)
