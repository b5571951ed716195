"""A campaign that keeps nothing: simulate and judge in one go, in processes, with the base install."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.pipeline.campaign import Runner, Work, missing, shard_size, shards
from rebalance_check.pipeline.chosen_seeds import ChosenRounds
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
    """The verdicts of a few seeds, and the situations of each."""

    runs: int
    events: int
    rows: list[VerdictRow]
    situations: list[tuple[int, frozenset[str]]]


def judge_seeds(seeds: Collection[int], runner: Runner, names: Sequence[str]) -> JudgedShard:
    """Simulate and judge the seeds, one after the other."""
    invariants = select(names)
    events, rows, situations = 0, list[VerdictRow](), list[tuple[int, frozenset[str]]]()
    for seed in seeds:
        history = runner.events(seed)
        reached = Situations()
        run = judge_run(seed, reached.following(history), invariants)
        events += run.judgement.events
        rows += run.rows
        situations.append((seed, reached.reached() | reached.judged(run.tested)))
    return JudgedShard(len(seeds), events, rows, situations)


FIRST_SHARD: Final = 2
"""So few seeds have the first shards, so that a defect that every seed shows is there at once."""

LAST_SHARD: Final = 64
"""So many seeds has a shard at most: what a worker finds is known when its shard is done."""


def fuzz_in_memory(
    work: Work, workers: int | None, progress: ProgressListener, watch: Watch, *, list_runs: bool = False
) -> FuzzResult:
    """`rebalance_check.pipeline.fuzz.fuzz` without a table; ``watch`` says when it ends."""
    started = time.perf_counter()
    count = min(workers or cores(), planned(work) + len(work.first))
    course = Course(work, count)
    judged: list[JudgedShard] = []

    def so_far() -> str:
        runs = sum(shard.runs for shard in judged)
        return f"{runs:,} runs are judged and none is kept (--out DIR keeps them); {watch.findings_so_far}"

    with noted_at_interruption(so_far), Processes(count) as processes:
        for pieces_of_round in course:
            tasks = ((judge_seeds, (piece, work.runner, work.names)) for piece in pieces_of_round)
            for shard in processes.run(tasks):
                judged.append(shard)
                progress("simulate", sum(each.runs for each in judged), planned(work))
                course.take(shard)
                watch.take(shard.rows)
                if watch.is_over:
                    processes.abandon()
                    break
            if watch.is_over:
                break
    course.end()
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
        reached=course.reached,
        listed=tuple(verdict for shard in judged for verdict in run_verdicts(shard.rows)) if list_runs else (),
    )


def planned(work: Work) -> int:
    """How many runs there are to be, as far as that is known."""
    if isinstance(work.seeds, range):
        return len(work.seeds)
    return min(len(work.seeds.seeds), work.seeds.runs or len(work.seeds.seeds))


class Course:
    """The rounds of a campaign, each as pieces for the processes: one round of all seeds, or those that are chosen.

    `take` each judged shard; before the next round begins, all of a round must be taken.
    """

    def __init__(self, work: Work, workers: int) -> None:
        self.reached = Reached()
        self._work = work
        self._workers = workers
        pool, options = work.seeds, work.runner.campaign.options
        self._chosen = None if isinstance(pool, range) else ChosenRounds(pool, options, self.reached, set(work.first))

    def __iter__(self) -> Iterator[Iterator[Collection[int]]]:
        if self._chosen is None:
            yield pieces(self._work, self._workers)
            return
        yield iter(early(self._work))
        for seeds in self._chosen:
            yield seeds.cut(max(1, len(seeds) // (4 * self._workers)))

    def take(self, shard: JudgedShard) -> None:
        """Add what the runs of a shard reached."""
        for seed, situations in shard.situations:
            if self._chosen is None or seed in self._work.first:
                self.reached.add(situations)
            else:
                self._chosen.judged(seed, situations)

    def end(self) -> None:
        """No more rounds: what is judged of the last one counts, too."""
        if self._chosen is not None:
            self._chosen.end_round()


def early(work: Work) -> list[range]:
    """The seeds that come first, one by one."""
    return [range(seed, seed + 1) for seed in dict.fromkeys(work.first)]


def pieces(work: Work, workers: int) -> Iterator[range]:
    """The seeds that come first; then the others, in small pieces to begin with."""
    assert isinstance(work.seeds, range), "seeds that are chosen have other pieces"
    yield from early(work)
    size = min(shard_size(len(work.seeds), workers), LAST_SHARD)
    for gap in missing(work.seeds, early(work)):
        begun = range(gap.start, min(gap.stop, gap.start + FIRST_SHARD * workers))
        yield from shards(begun, FIRST_SHARD)
        yield from shards(range(begun.stop, gap.stop), size)
