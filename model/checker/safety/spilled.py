"""Breadth-first search of a compiled model whose states are on disk: for what memory cannot hold.

It finds what `workers.ParallelSearch` finds: the same states, transitions, depth and verdicts, and a shortest path to a
violation. Each thread lets one share at a time do its part of a level (`shard.Shard`). A part is done whole or not at
all; the folder notes now and then which are done, and a search that was killed goes on from there.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any, Final

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.batches import batch_of
from rebalance_check.model.checker.safety.checkpoint import identity_of
from rebalance_check.model.checker.safety.counters import actions_of, counted, fired_in, last_step
from rebalance_check.model.checker.safety.done_parts import DoneParts
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener
from rebalance_check.model.checker.safety.pace import Pace
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.shard import FINGERPRINT, Shard, initial_candidate, owner_of
from rebalance_check.model.checker.safety.sorted_runs import write
from rebalance_check.model.checker.safety.spill_folder import SpillFolder
from rebalance_check.model.checker.safety.team import WATCH_EVERY_S
from rebalance_check.model.checker.safety.worker import MOST_STATES, Buffer, renamings

SHARES: Final = 16
"""So many shares. Memory does not depend on their size; but a batch of candidates is compared with all that a share
keeps, so with more shares less is read, and with fewer a small level has fewer files."""

NOTE_EVERY_S: Final = 15.0
"""Seconds after which the end of a level is noted, where no candidates wait, so that little is written to the disk."""

WITHIN_LEVEL: Final = 8
"""A level that takes so many times longer is noted before its end: more work than that is never lost."""

MEASURE_EVERY_S: Final = 3.0
"""So often the bytes on disk are added up."""

FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""The errors of a disk, a quota or a file that has reached its size."""


class AbandonedError(Exception):
    """The part of a share was given up, because the search ends."""


class Lane:
    """What a thread works with: a buffer of successors, and scratch space to rename members."""

    def __init__(self, machine: Machine, symmetry: bool) -> None:
        self.buffer = Buffer(machine, 1)
        self.symmetry = renamings(machine, symmetry)


class SpilledSearch:
    """A search in ``folder``; `run` gives its outcome. It goes on with what is there, if that is the same search.

    ``initial`` is the initial state as a candidate, and ``first`` the share that keeps it, as its state 0.
    """

    def __init__(
        self, program: Program, machine: Machine, folder: SpillFolder, *, symmetry: bool, threads: int, limits: Limits,
        progress: SearchListener | None = None, shares: int = SHARES, note_every_s: float = NOTE_EVERY_S,
    ) -> None:  # fmt: skip
        self.program, self.machine, self.folder = program, machine, folder
        self.symmetry, self.limits, self.threads = symmetry, limits, threads
        self.pace = Pace(progress)
        self.batch = batch_of(limits, threads)
        identity = identity_of(machine, symmetry=symmetry, compiled=True, threads=1) | {"shares": shares}
        self._known = folder.read(identity)
        self.shards = [Shard(folder.path, number, shares, machine) for number in range(shares)]
        self.done = DoneParts(folder, identity, self.shards)
        self.ended: Ended | None = None
        self.disk_bytes = 0
        self._is_over = False
        self.initial = initial_candidate(program, machine, symmetry)
        self.first = int(owner_of(self.initial[0, FINGERPRINT], shares))
        self._lanes = SimpleQueue[Lane]()
        for _ in range(threads):
            self._lanes.put(Lane(machine, symmetry))
        self._note_every_s = note_every_s
        self._noted_at = self._measured_at = time.perf_counter()

    def run(self) -> Outcome:
        """Search level by level until nothing is new, a claim breaks or a limit is reached.

        Raises: RebalanceCheckError when a file of an earlier run is missing or too short, OSError when the disk is full
        before the search begins.
        """
        if self._known is None:
            self.begin()
        else:
            self.go_on(self._known)
        self.pace.begin(self.done.size)
        with ThreadPoolExecutor(self.threads, thread_name_prefix="rebalance-check-search") as pool:
            while not self.done.is_complete and not self.done.is_broken and self.level(pool):
                self.pace.levels.append(self.done.frontier)
                if time.perf_counter() - self._noted_at >= self._note_every_s:
                    self.note()
        self.program.require_no_fault()
        self.finish()
        return self.outcome()

    # -------------------------------------------------------------------------------------------- a level

    def level(self, pool: ThreadPoolExecutor) -> bool:
        """Expand the present frontier and keep what is new, as far as it is not done; False where the search ends."""
        depth = self.done.depth
        if max(shard.size for shard in self.shards) * len(self.shards) >= MOST_STATES:
            self.ended = Ended.NUMBERS
            return False
        left = [shard for shard in self.shards if shard.depth == depth and not shard.is_expanded]
        return self.phase(pool, self.expand, left) and self.phase(
            pool, self.absorb, [shard for shard in self.shards if shard.depth == depth]
        )

    def expand(self, shard: Shard, lane: Lane) -> None:
        """The first part of a level."""
        shard.expand(self.program, lane.buffer, self.shards, lane.symmetry, self.check)

    def absorb(self, shard: Shard, _lane: Lane) -> None:
        """The second part."""
        shard.absorb(self.program, self.batch, self.check)

    def phase(self, pool: ThreadPoolExecutor, work: Callable[[Shard, Lane], None], shards: Sequence[Shard]) -> bool:
        """Let shares do a part of the level; False when the search ends here."""
        futures = [pool.submit(self.attempt, work, shard) for shard in shards]
        try:
            while wait(futures, WATCH_EVERY_S, FIRST_EXCEPTION).not_done:
                self.watch()
            self.watch()
        except BaseException:
            self._is_over = True
            raise
        finally:
            wait(futures)
        for error in filter(None, (future.exception() for future in futures)):
            self.require_expected(error)
        return self.ended is None and not self.done.is_broken

    def attempt(self, work: Callable[[Shard, Lane], None], shard: Shard) -> None:
        """Let a share do its part whole, or leave it as it was."""
        lane = self._lanes.get()
        try:
            self.check_begin()
            work(shard, lane)
            self.done.add(shard)
            self.done.forget(shard)
        except BaseException:
            self._is_over = True
            self.done.undo(shard)
            raise
        finally:
            self._lanes.put(lane)

    def check_begin(self) -> None:
        """Let no part begin where the search ends.

        Raises: AbandonedError
        """
        if self._is_over:
            raise AbandonedError

    def check(self) -> None:
        """End the part that a thread is doing where the search ends; a limit of states lets it be done.

        Raises: AbandonedError
        """
        if self._is_over and self.ended is not Ended.STATES:
            raise AbandonedError

    def require_expected(self, error: BaseException) -> None:
        """Note that the disk is full, or the system has no more memory.

        Raises: ``error`` where it is no reason for a search to end in good order.
        """
        if isinstance(error, OSError) and error.errno in FULL:
            self.ended = Ended.DISK
        elif isinstance(error, MemoryError):
            self.ended = Ended.NO_MEMORY
        elif not isinstance(error, AbandonedError):
            raise error

    def watch(self) -> None:
        """What is done while threads work: look at the limits, report, and note how far the search is."""
        if self.ended is None:
            self.ended = self.limits.reached(self.done.size, self.pace.seconds_of_this_run)
        self._is_over = self._is_over or self.ended is not None
        if self.pace.is_due():
            self.report()
        now = time.perf_counter()
        if now - self._measured_at >= MEASURE_EVERY_S:
            self._measured_at, self.disk_bytes = now, max(self.disk_bytes, self.folder.size)
        if now - self._noted_at >= WITHIN_LEVEL * self._note_every_s:
            self.note()

    def report(self) -> None:
        """Say how far the search is."""
        states = sum(shard.size for shard in self.shards)
        fired = fired_in([shard.st for shard in self.shards])
        self.pace.report(self.done.depth, states, 1 + fired, self.done.frontier, 0)

    # -------------------------------------------------------------------------------------------- going on later

    def begin(self) -> None:
        """Find the initial state."""
        self.note()
        with self.shards[self.first].candidates(0, 0).open("wb") as file:
            write(file, self.initial)
        for shard in self.shards:
            shard.absorb(self.program)
            self.done.add(shard)

    def go_on(self, known: Mapping[str, Any]) -> None:
        """Go on from a note.

        Raises: RebalanceCheckError when a file is missing or too short.
        """
        try:
            self.done.restore(known["shards"])
            self.pace.go_on(known["seconds"], known["levels"])
            self.disk_bytes = int(known["disk_bytes"])
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise self.folder.damaged(error) from error
        if not self.done.depth:
            self.begin()

    def note(self) -> None:
        """Note what is done; where the disk is full, the search ends, and goes on from the note before."""
        numbers = {"seconds": self.pace.seconds, "levels": self.pace.levels, "disk_bytes": self.disk_bytes}
        try:
            self.done.note(numbers)
        except OSError as error:
            self.require_expected(error)
        self._noted_at = time.perf_counter()

    def finish(self) -> None:
        """Note where the search has ended, and remove what is not needed to go on."""
        self.disk_bytes = max(self.disk_bytes, self.folder.size)
        for shard in self.shards:
            shard.discard(self.shards)
        self.note()
        for shard in self.shards:
            self.done.forget(shard)

    # -------------------------------------------------------------------------------------------- the outcome

    def outcome(self) -> Outcome:
        """What was found, with the path to a violation if there is one (labels of representatives under symmetry)."""
        done = self.done
        outcome = counted(self.machine.model, done.size, [shard.st for shard in self.shards])
        outcome.depth = done.depth - 1 if done.is_complete else done.depth
        outcome.frontier, outcome.seconds, outcome.disk_bytes = done.frontier, self.pace.seconds, self.disk_bytes
        outcome.ended = None if done.is_complete or done.is_broken else self.ended
        bad = next((shard for shard in self.shards if shard.st[kernel.CLAIM]), None)
        if bad is not None:
            labels = self.labels_to(bad.number, int(bad.st[kernel.BAD]))
            outcome.path = actions_of(self.machine, [*labels, *last_step(bad.st)])
        return outcome

    def labels_to(self, number: int, state: int) -> list[int]:
        """The labels of the steps from the initial state to a state of a share."""
        labels, at = list[int](), (number, state)
        while at != (self.first, 0):
            parent, label = self.shards[at[0]].origin(at[1])
            labels.append(label)
            at = (parent % len(self.shards), parent // len(self.shards))
        return labels[::-1]
