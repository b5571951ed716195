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
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.checkpoint import identity_of
from rebalance_check.model.checker.safety.counters import actions_of, counted, last_step
from rebalance_check.model.checker.safety.limits import Ended, Limits, SearchListener, resident_bytes
from rebalance_check.model.checker.safety.pace import Pace
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.shard import BATCH, BLOCK, FINGERPRINT, Shard
from rebalance_check.model.checker.safety.sorted_runs import write
from rebalance_check.model.checker.safety.spill_folder import SpillFolder
from rebalance_check.model.checker.safety.team import WATCH_EVERY_S
from rebalance_check.model.checker.safety.worker import MOST_STATES, Buffer, renamings, words_of
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

SHARES: Final = 16
"""So many shares. Memory does not depend on their size; but a batch of candidates is compared with all that a share
keeps, so with more shares less is read, and with fewer a small level has fewer files."""

NOTE_EVERY_S: Final = 15.0
"""Seconds between two notes of how far the search is: more work is never lost, and files stay so long."""

MEASURE_EVERY_S: Final = 1.0
"""So often the bytes on disk are added up."""

MOST_BATCH: Final = 1 << 25
"""More candidates than this are not looked up at once, however much memory there is."""

CANDIDATE_BYTES: Final = 80
"""What a candidate that is looked up takes of memory: copies of its fingerprint, and slots of a table."""

THREAD_BYTES: Final = 48 << 20
"""What a thread takes beyond that: the buffer of successors, blocks of files."""

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
    """A search in ``folder``; `run` gives its outcome. It goes on with what is there, if that is the same search."""

    def __init__(
        self, program: Program, machine: Machine, folder: SpillFolder, *, symmetry: bool, threads: int, limits: Limits,
        progress: SearchListener | None = None, shares: int = SHARES, note_every_s: float = NOTE_EVERY_S,
    ) -> None:  # fmt: skip
        self.program, self.machine, self.folder = program, machine, folder
        self.symmetry, self.limits, self.threads = symmetry, limits, threads
        self.pace = Pace(progress)
        self.batch = batch_of(limits, threads)
        self.identity = identity_of(machine, symmetry=symmetry, compiled=True, threads=1) | {"shares": shares}
        self.known = folder.read(self.identity)
        self.shards = [Shard(folder.path, number, shares, machine) for number in range(shares)]
        self.done = [shard.state() for shard in self.shards]
        self.noted = list(self.done)
        self._forgotten = list(self.done)
        self.ended: Ended | None = None
        self.disk_bytes = 0
        self._is_over = False
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
        if self.known is None:
            self.begin()
        else:
            self.go_on(self.known)
        self.pace.begin(self.states)
        with ThreadPoolExecutor(self.threads, thread_name_prefix="rebalance-check-search") as pool:
            while not self.is_complete and not self.is_broken and self.level(pool):
                self.pace.levels.append(self.frontier)
        self.program.require_no_fault()
        self.finish()
        return self.outcome()

    # -------------------------------------------------------------------------------------------- how far it is

    @property
    def depth(self) -> int:
        """The level that is being searched."""
        return min(int(state["depth"]) for state in self.done)

    @property
    def states(self) -> int:
        """How many states there are; those that a thread is finding now do not count."""
        return sum(state["size"] for state in self.done)

    @property
    def frontier(self) -> int:
        """How many states are not expanded."""
        return sum(state["frontier"] for state in self.done if not state["is_expanded"])

    @property
    def is_broken(self) -> bool:
        """Whether a claim was seen broken."""
        return any(state["st"][kernel.CLAIM] for state in self.done)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return all(state["depth"] == self.depth and not state["frontier"] for state in self.done)

    # -------------------------------------------------------------------------------------------- a level

    def level(self, pool: ThreadPoolExecutor) -> bool:
        """Expand the present frontier and keep what is new, as far as it is not done; False where the search ends."""
        depth = self.depth
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
        return self.ended is None and not self.is_broken

    def attempt(self, work: Callable[[Shard, Lane], None], shard: Shard) -> None:
        """Let a share do its part whole, or leave it as it was."""
        lane = self._lanes.get()
        try:
            self.check_begin()
            self.forget(shard)
            work(shard, lane)
            self.done[shard.number] = shard.state()
        except BaseException:
            self._is_over = True
            shard.restore(self.done[shard.number])
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
        """Note that the disk is full.

        Raises: ``error`` where it is no reason for a search to end in good order.
        """
        if isinstance(error, OSError) and error.errno in FULL:
            self.ended = Ended.DISK
        elif not isinstance(error, AbandonedError):
            raise error

    def watch(self) -> None:
        """What is done while threads work: look at the limits, report, and note how far the search is."""
        if self.ended is None:
            self.ended = self.limits.reached(self.states, self.pace.seconds_of_this_run)
        self._is_over = self._is_over or self.ended is not None
        if self.pace.is_due():
            self.report()
        now = time.perf_counter()
        if now - self._measured_at >= MEASURE_EVERY_S:
            self._measured_at, self.disk_bytes = now, max(self.disk_bytes, self.folder.size)
        if now - self._noted_at >= self._note_every_s:
            self.note()

    def report(self) -> None:
        """Say how far the search is."""
        fired = sum(int(shard.st[kernel.FIRED :].sum()) for shard in self.shards)
        states = sum(shard.size for shard in self.shards)
        self.pace.report(self.depth, states, fired + 1, self.frontier, 0)

    # -------------------------------------------------------------------------------------------- going on later

    def begin(self) -> None:
        """Find the initial state."""
        self.folder.write(self.identity, {"shards": None}, ())
        row = np.zeros((1, words_of(self.machine) + 3), np.uint64)
        row[0, :FINGERPRINT], row[0, FINGERPRINT] = self.initial
        with self.shards[self.first[0]].candidates(0, 0).open("wb") as file:
            write(file, row)
        for shard in self.shards:
            shard.absorb(self.program)
        self.done = [shard.state() for shard in self.shards]

    @property
    def initial(self) -> tuple[Any, int]:
        """The words of the initial state, and its fingerprint."""
        initial = self.machine.initial()
        packed = self.machine.canonical(initial) if self.symmetry else self.machine.pack(initial)
        state, fingerprint = np.zeros((1, words_of(self.machine)), np.uint64), np.zeros(1, np.uint64)
        state.view(np.uint8)[0, : len(packed)] = np.frombuffer(packed, np.uint8)
        self.program.fingerprints(state, 1, fingerprint)
        return state[0], int(fingerprint[0])

    @property
    def first(self) -> tuple[int, int]:
        """The share that keeps the initial state, and its number there."""
        return (self.initial[1] >> int(kernel.OWNER_SHIFT)) % len(self.shards), 0

    def go_on(self, known: Mapping[str, Any]) -> None:
        """Go on from a note.

        Raises: RebalanceCheckError when a file is missing or too short.
        """
        if known["shards"] is None:
            self.begin()
            return
        try:
            for shard, state in zip(self.shards, known["shards"], strict=True):
                shard.restore(state)
            self.done, self.noted = list(known["shards"]), list(known["shards"])
            for path, size in self.needed.items():
                if size_of(path) < size:
                    raise ValueError(f"{path.name} has {size_of(path)} bytes of {size}")  # noqa: TRY301 - damage, too
            self.pace.go_on(known["seconds"], known["levels"])
            self.disk_bytes = known["disk_bytes"]
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise self.folder.damaged(error) from error

    @property
    def needed(self) -> dict[Path, int]:
        """The files without which the search cannot go on from what is done, each with the bytes that it has at least.

        The candidates of a share are needed until it has absorbed them.
        """
        files = dict[Path, int]()
        for owner, state in zip(self.shards, self.done, strict=True):
            files |= owner.files(state)
            for source, sent in zip(self.shards, self.done, strict=True):
                if (sent["depth"], sent["is_expanded"]) >= (state["depth"], True):
                    path = owner.candidates(source.number, state["depth"])
                    files[path] = owner.candidate_bytes(sent["sent"][owner.number])
        return {path: size for path, size in files.items() if size}

    def note(self) -> None:
        """Note what is done.

        Raises: OSError when the disk is full; the search can go on from the note before.
        """
        done = list(self.done)
        numbers = {
            "seconds": self.pace.seconds, "levels": self.pace.levels, "disk_bytes": self.disk_bytes, "shards": done,
        }  # fmt: skip
        self.folder.write(self.identity, numbers, self.needed)
        self.noted, self._noted_at = done, time.perf_counter()

    def forget(self, shard: Shard) -> None:
        """Remove the files of a share that it would not need to go on from the last note, and does not need now."""
        noted = self.noted[shard.number]
        if self._forgotten[shard.number] is noted:
            return
        self._forgotten[shard.number] = noted
        shard.forget(noted["depth"] - 1, shard.files(noted))

    def finish(self) -> None:
        """Note where the search has ended, and remove what is not needed to go on."""
        self.disk_bytes = max(self.disk_bytes, self.folder.size)
        for shard in self.shards:
            shard.discard(self.shards)
        try:
            self.note()
        except OSError as error:
            self.require_expected(error)
        for shard in self.shards:
            self.forget(shard)

    # -------------------------------------------------------------------------------------------- the outcome

    def outcome(self) -> Outcome:
        """What was found, with the path to a violation if there is one (labels of representatives under symmetry)."""
        outcome = counted(self.machine.model, self.states, [shard.st for shard in self.shards])
        outcome.depth = self.depth - 1 if self.is_complete else self.depth
        outcome.frontier, outcome.seconds = self.frontier, self.pace.seconds
        outcome.ended = None if self.is_complete or self.is_broken else self.ended
        bad = next((shard for shard in self.shards if shard.st[kernel.CLAIM]), None)
        if bad is not None:
            labels = self.labels_to(bad.number, int(bad.st[kernel.BAD]))
            outcome.path = actions_of(self.machine, [*labels, *last_step(bad.st)])
        return outcome

    def labels_to(self, number: int, state: int) -> list[int]:
        """The labels of the steps from the initial state to a state of a share."""
        labels, at, first = list[int](), (number, state), self.first
        while at != first:
            parent, label = self.shards[at[0]].origin(at[1])
            labels.append(label)
            at = (parent % len(self.shards), parent // len(self.shards))
        return labels[::-1]


def batch_of(limits: Limits, threads: int) -> int:
    """How many candidates a thread may look up at once, within the limit of memory.

    Raises: RebalanceCheckError where it is too low.
    """
    if limits.memory is None:
        return BATCH
    least = resident_bytes() + threads * (THREAD_BYTES + BLOCK * CANDIDATE_BYTES)
    if limits.memory < least:
        raise RebalanceCheckError(
            f"the limit of memory is {limits.memory / 2**20:,.0f} MiB, and a search on disk with {threads} threads "
            f"needs {least / 2**20:,.0f} MiB: allow more, or search with fewer threads"
        )
    return min(MOST_BATCH, (limits.memory - resident_bytes() - threads * THREAD_BYTES) // threads // CANDIDATE_BYTES)


def size_of(path: Path) -> int:
    """The bytes of a file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0
