"""``explore_on_spark``: the search of `model.checker.safety`, its shares spread over the workers of Spark.

A level is one Spark job: each share expands its states, Spark carries the successors to the shares that own them, and
each share keeps what is new (`explored_shares`). The folder notes each level that is complete; a search that was killed
goes on from there, and a worker that is lost is Spark's to replace.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.checkpoint import identity_of
from rebalance_check.model.checker.safety.compilation import compile_apart
from rebalance_check.model.checker.safety.counters import actions_of, counted, fired_in, last_step
from rebalance_check.model.checker.safety.explore import exploration_of
from rebalance_check.model.checker.safety.limits import NO_LIMITS, Ended, Limits, SearchListener
from rebalance_check.model.checker.safety.pace import Pace
from rebalance_check.model.checker.safety.result import Exploration
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.spill_folder import SpillFolder
from rebalance_check.model.in_thread import WAKE_EVERY_S, InThread
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.explored_shares import Block, Shares, first_block
from rebalance_check.pipeline.interruption import GRACE_S
from rebalance_check.pipeline.session import LOCAL_MASTER, spark_session, translated

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARES_PER_CORE: Final = 2
"""So many shares for each task that Spark runs at once, where no number is given."""

SPREAD_FROM: Final = 1 << 15
"""A level of fewer states is searched by the process that calls: Spark needs longer to begin a job."""

States = list[dict[str, Any] | None]
"""How far each share is at the end of a level, in order; None for one that found the disk full."""

LAYOUT: Final = 1
"""The version of the folders of a search."""


def explore_on_spark(
    bounds: Bounds,
    *,
    mutant: str = "",
    symmetry: bool = True,
    master: str = LOCAL_MASTER,
    work: Path | None = None,
    shares: int | None = None,
    spread_from: int = SPREAD_FROM,
    limits: Limits = NO_LIMITS,
    progress: SearchListener | None = None,
    kind: type[Shares] = Shares,
) -> Exploration:
    """Explore every state of the model of ``bounds`` on a Spark master, and check its invariants on each.

    It finds what `explore` finds. ``work`` is the folder of the search, at the same place on every machine: started
    again with the same folder, the search goes on from the last complete level. Without it there is a temporary one.
    ``shares`` is how many parts the states are kept in; levels of fewer than ``spread_from`` states are searched in
    this process. ``limits`` end the search early, that of memory left out. ``kind`` puts another class in the place
    of `Shares`.

    Raises `RebalanceCheckError` without Java, Spark or llvmlite, and for a folder of another search.
    """
    machine = Machine(model_for(bounds, mutant), bounds)
    started = time.perf_counter()
    if compile_apart(machine.model, bounds, progress, limits.stop) is None:
        stopped = Outcome(distinct=0, generated=0, ended=Ended.STOPPED)
        return exploration_of(machine, stopped, symmetry=symmetry, threads=1, compile_seconds=0.0)
    compile_seconds = time.perf_counter() - started
    with spark_session(master) as spark, folder_of(work) as folder:
        cores = spark.sparkContext.defaultParallelism
        known = folder.read(identity_on_spark(machine, symmetry)) or {"shares": shares or SHARES_PER_CORE * cores}
        if shares not in {None, known["shares"]}:
            raise RebalanceCheckError(
                f"{str(work)!r} holds a search with {known['shares']} shares, and not with {shares}: leave --shares out"
            )
        spread = kind(folder.path.resolve(), known["shares"], bounds, mutant, symmetry)
        search = SparkSearch(spark, spread, machine, folder, spread_from=spread_from, limits=limits, progress=progress)
        outcome = search.run(known)
    return exploration_of(machine, outcome, symmetry=symmetry, threads=cores, compile_seconds=compile_seconds)


@contextmanager
def folder_of(work: Path | None) -> Iterator[SpillFolder]:
    """The folder of a search, locked; one of its own, which is removed, where none is given."""
    with ExitStack() as stack:
        path = work or Path(stack.enter_context(TemporaryDirectory(prefix="rebalance-check-")))
        yield stack.enter_context(SpillFolder(path))


def identity_on_spark(machine: Machine, symmetry: bool) -> dict[str, Any]:
    """What must be equal for a search to go on."""
    return identity_of(machine, symmetry=symmetry, compiled=True, threads=1) | {"engine": "spark", "layout": LAYOUT}


class SparkSearch:
    """A search whose ``shares`` are in ``folder``; `run` gives its outcome.

    ``states`` has of each share how far it is at the end of the last complete level, ``depth``.
    """

    def __init__(
        self, spark: SparkSession, shares: Shares, machine: Machine, folder: SpillFolder, *,
        spread_from: int, limits: Limits, progress: SearchListener | None,
    ) -> None:  # fmt: skip
        self.spark, self.shares, self.machine, self.folder = spark, shares, machine, folder
        self.spread_from, self.limits = spread_from, limits
        self.pace = Pace(progress)
        self.ended: Ended | None = None
        self.depth = 0
        self.states: list[dict[str, Any]] = []

    @property
    def distinct(self) -> int:
        """How many states there are."""
        return sum(state["distinct"] for state in self.states)

    @property
    def frontier(self) -> int:
        """How many of them are not expanded."""
        return sum(state["frontier"] for state in self.states)

    @property
    def counters(self) -> list[Any]:
        """The counters of the shares, which `kernel` names."""
        return [np.array(state["st"]) for state in self.states]

    def run(self, known: Mapping[str, Any]) -> Outcome:
        """Search level by level, on from what the folder notes, until nothing is new or something ends the search.

        Raises: RebalanceCheckError where a file of the folder is missing.
        """
        self.shares.stop.unlink(missing_ok=True)
        if known.get("depth"):
            self.go_on(known)
        else:
            self.begin()
        self.pace.begin(self.distinct)
        while self.frontier and not any(st[kernel.CLAIM] for st in self.counters) and not self.is_time_to_end():
            frontier, states = self.frontier, self.level()
            if states is None:
                break
            self.pace.levels.append(frontier)
            self.complete(states)
            self.report()
        return self.outcome()

    def begin(self) -> None:
        """Find the initial state."""
        self.note()
        owner, block = first_block(self.shares)
        each = range(self.shares.count)
        self.shares.forget_unfinished(0)
        self.complete([self.shares.absorb(number, 0, [block] * (number == owner)) for number in each])

    def go_on(self, known: Mapping[str, Any]) -> None:
        """Go on from a note, and remove what was written after it.

        Raises: RebalanceCheckError where a file of the folder is missing.
        """
        self.depth = known["depth"]
        self.pace.go_on(known["seconds"], known["levels"])
        try:
            self.states = [self.shares.state(number, self.depth) for number in range(self.shares.count)]
        except (OSError, ValueError) as error:
            raise self.folder.damaged(error) from error
        self.shares.forget_unfinished(self.depth)

    def is_time_to_end(self) -> bool:
        """Whether a limit is reached, which `ended` names then."""
        self.ended = self.limits.reached(self.distinct, self.pace.seconds_of_this_run)
        return self.ended is not None

    def level(self) -> list[dict[str, Any]] | None:
        """Search a level: how far the shares are then; None where the search ends within it.

        Raises: RebalanceCheckError that a worker raised, and what Spark raises.
        """
        is_small = self.frontier < self.spread_from
        states = level_here(self.shares, self.depth) if is_small else self.level_on_spark()
        if states is None:
            return None
        whole = [state for state in states if state is not None]
        if len(whole) < len(states):
            self.ended = Ended.DISK
            return None
        return whole

    def level_on_spark(self) -> States | None:
        """Let Spark search a level; None where a limit ends it: its tasks end by themselves, without complaint.

        Raises: RebalanceCheckError that a worker raised, and what Spark raises.
        """
        group = f"rebalance-check-{id(self)}-{self.depth}"
        found = list[States]()
        job = InThread(lambda: found.append(level_on_spark(self.spark, self.shares, self.depth, group)), "spark-job")
        while not job.ends_within(WAKE_EVERY_S):
            if self.is_time_to_end():
                self.shares.stop.touch()
                if not job.ends_within(GRACE_S):
                    self.spark.sparkContext.cancelJobGroup(group)
                return None
            if self.pace.is_due():
                self.report()
        with translated():
            job.wait()
        return found[0]

    def complete(self, states: list[dict[str, Any]]) -> None:
        """Note that a level is complete, and remove what the next one does not need."""
        before, self.states = self.states, states
        self.depth += 1
        self.note()
        for number, (earlier, state) in enumerate(zip(before, states, strict=False)):
            self.shares.forget(number, earlier, state)

    def note(self) -> None:
        """Note which level is complete."""
        numbers = {
            "shares": self.shares.count, "depth": self.depth, "seconds": self.pace.seconds, "levels": self.pace.levels,
        }  # fmt: skip
        self.folder.write(identity_on_spark(self.machine, self.shares.symmetry), numbers, ())

    def report(self) -> None:
        """Say how far the search is."""
        self.pace.report(self.depth, self.distinct, 1 + fired_in(self.counters), self.frontier, 0)

    def outcome(self) -> Outcome:
        """What was found, with the path to a violation if there is one (labels of representatives under symmetry)."""
        outcome = counted(self.machine.model, self.distinct, self.counters)
        outcome.depth = self.depth if self.frontier else self.depth - 1
        outcome.frontier, outcome.ended, outcome.seconds = self.frontier, self.ended, self.pace.seconds
        broken = next((number for number, st in enumerate(self.counters) if st[kernel.CLAIM]), None)
        if broken is not None:
            outcome.path = actions_of(self.machine, self.labels_to(broken))
        return outcome

    def labels_to(self, share: int) -> list[int]:
        """The labels on the way to the violation that a share has seen."""
        st = self.counters[share]
        labels, index = last_step(st)[::-1], int(st[kernel.BAD])
        for depth in range(self.depth - len(labels), 1, -1):
            parent, label = self.shares.share(share, depth).origin(index)
            share, index = parent % self.shares.count, parent // self.shares.count
            labels.append(label)
        return labels[::-1]


def level_here(shares: Shares, depth: int) -> States:
    """Search a level in this process."""
    blocks: list[list[Block]] = [[] for _ in range(shares.count)]
    for number in range(shares.count):
        for owner, block in shares.expand(number, depth):
            blocks[owner].append(block)
    return [shares.attempt(number, depth, found) for number, found in enumerate(blocks)]


def level_on_spark(spark: SparkSession, shares: Shares, depth: int, group: str) -> States:
    """Search a level in one job of this group."""
    context = spark.sparkContext
    context.setJobGroup(group, f"level {depth} of {shares.folder}", interruptOnCancel=True)
    numbers = context.parallelize(range(shares.count), shares.count)
    candidates = numbers.flatMap(partial(shares.expand, depth=depth)).partitionBy(shares.count, int)
    return candidates.mapPartitionsWithIndex(partial(absorbed, shares, depth)).collect()


def absorbed(shares: Shares, depth: int, number: int, blocks: Iterable[tuple[int, Block]]) -> States:
    """Let a share absorb the blocks that Spark has for it."""
    return [shares.attempt(number, depth, (block for _, block in blocks))]
