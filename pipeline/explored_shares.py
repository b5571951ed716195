"""The shares of a search on Spark: a level of a share is a folder, written once, by whichever attempt is whole first.

What a share does in a level is what it does on one machine (`shard.Shard`). *Expanding* gives its successors as blocks
for the shares that own them. *Absorbing* takes the blocks of all shares and keeps what is new, in a folder of its own,
which becomes part of the search by a rename, with everything that the next level needs. Both phases give the same for
the same level, so a task that is repeated, or done twice at once, changes nothing.

States are numbered within their level and share: a parent always stands in the level before.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple

import numpy as np

from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.shard import CANDIDATES, FINGERPRINT, RUN, Shard, initial_candidate, owner_of
from rebalance_check.model.checker.safety.sorted_runs import Run
from rebalance_check.model.checker.safety.spilled import FULL, AbandonedError
from rebalance_check.model.checker.safety.worker import Buffer, renamings
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds

BLOCK_BYTES: Final = 1 << 18
"""The size of a block: Spark holds some ten for each share before it writes them."""

STATE: Final = "state.json"
"""The file of a level that says how far the share is."""

ATTEMPT: Final = "attempt-"
"""How the name of a level begins that is not whole yet."""

NOTHING: Final[dict[str, Any]] = {"distinct": 0, "runs": []}
"""The state of a share before its first level."""

END: Final = -1
"""The place of the block that says that a share has sent everything; to itself it sends its counters in it."""


class Block(NamedTuple):
    """A piece of the candidates that the share ``source`` found for another one, from the byte ``at`` on."""

    source: int
    at: int
    content: bytes


class Compiled(NamedTuple):
    """A model that is ready to be searched, and what a search works with."""

    program: Program
    machine: Machine
    buffer: Buffer
    renamings: tuple[Any, ...]


@lru_cache(maxsize=1)
def compiled(bounds: Bounds, mutant: str, symmetry: bool) -> Compiled:
    """The model of a search, compiled once in a process, or taken from the cache of this machine."""
    model = model_for(bounds, mutant)
    machine = Machine(model, bounds)
    return Compiled(Program(model, bounds), machine, Buffer(machine, 1), renamings(machine, symmetry))


@dataclass(frozen=True)
class Shares:
    """The ``count`` shares of a search in ``folder``. It travels to other processes.

    ``folder`` must lead to the same place on every machine.
    """

    folder: Path
    count: int
    bounds: Bounds
    mutant: str
    symmetry: bool

    @property
    def compiled(self) -> Compiled:
        """The model, ready in this process."""
        return compiled(self.bounds, self.mutant, self.symmetry)

    def level(self, depth: int) -> Path:
        """The folder of a level, with a folder for each share."""
        return self.folder / f"{depth:05d}"

    def share(self, number: int, depth: int) -> Shard:
        """A share at the end of a level, its states numbered from the beginning of that level.

        Raises: OSError and ValueError where a file of it is missing or damaged.
        """
        shard = Shard(self.level(depth), number, self.count, self.compiled.machine)
        shard.restore(self.state(number, depth))
        return shard

    def state(self, number: int, depth: int) -> dict[str, Any]:
        """How far a share was at the end of a level.

        Raises: OSError and ValueError where the file is missing or damaged.
        """
        return dict(json.loads((self.level(depth) / f"{number:03d}" / STATE).read_text(encoding="utf-8")))

    def expand(self, number: int, depth: int) -> Iterator[tuple[int, Block]]:
        """The successors of a level, in blocks for the shares that own them, each of which gets an `END`, too.

        There is none where the search is to end.
        """
        program, _, buffer, names = self.compiled
        shard = self.share(number, depth)
        waiting = [Waiting(number) for _ in range(self.count)]
        with suppress(AbandonedError):
            for parts in shard.successors(program, buffer, names, self.check):
                for owner, part in enumerate(parts):
                    if (block := waiting[owner].add(part)) is not None:
                        yield owner, block
            program.require_no_fault()
            yield from ((owner, rest.take()) for owner, rest in enumerate(waiting))
            counters = shard.st.tobytes()
            yield from (
                (owner, Block(number, END, counters if owner == number else b"")) for owner in range(self.count)
            )

    def absorb(self, number: int, depth: int, blocks: Iterable[Block]) -> dict[str, Any]:
        """Keep those candidates of a level that are new, as the next one; how far the share is then.

        Raises: AbandonedError where the search is to end, and OSError where the disk is full.
        """
        before = self.state(number, depth) if depth else NOTHING
        scratch = Path(mkdtemp(prefix=ATTEMPT, dir=self.folder))
        try:
            program, machine, _, _ = self.compiled
            shard = Shard(scratch, number, self.count, machine)
            shard.depth, shard.runs.runs = depth, [Run(*run) for run in before["runs"]]
            if receive(shard, blocks) < self.count and depth:
                raise AbandonedError
            shard.absorb(program, check=self.check)
            program.require_no_fault()
            shard.runs.runs = [run._replace(name=name_from_outside(run.name, shard)) for run in shard.runs.runs]
            state = shard.state() | {"distinct": before["distinct"] + shard.size}
            self._publish(shard, state)
            return state
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def attempt(self, number: int, depth: int, blocks: Iterable[Block]) -> dict[str, Any] | None:
        """Absorb; None where the disk is full or the search is to end, and nothing is changed then."""
        try:
            return self.absorb(number, depth, blocks)
        except AbandonedError:
            for _ in blocks:  # a worker that leaves some of its input unread counts as crashed
                pass
        except OSError as error:
            if error.errno not in FULL:
                raise
        return None

    @property
    def stop(self) -> Path:
        """The file whose appearance ends the search within a level, on all machines."""
        return self.folder / "stop"

    def check(self) -> None:
        """Look whether the search is to end.

        Raises: AbandonedError
        """
        if self.stop.exists():
            raise AbandonedError

    def _publish(self, shard: Shard, state: Mapping[str, Any]) -> None:
        """Make what a share has absorbed a level of the search, unless another attempt was faster."""
        shard.path(STATE).write_text(json.dumps(state), encoding="utf-8")
        needed = {shard.path(name).name for name, _ in state["runs"]}
        for path in shard.path("").iterdir():
            if path.name.startswith(CANDIDATES) or (path.name.startswith(RUN) and path.name not in needed):
                path.unlink()
        place = self.level(shard.depth) / f"{shard.number:03d}"
        place.parent.mkdir(exist_ok=True)
        try:
            shard.path("").rename(place)
        except OSError:
            if not place.is_dir():
                raise

    def forget(self, number: int, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Remove what a share needed for a level, and does not need for the next one."""
        shard = self.share(number, before["depth"])
        shard.level(shard.depth).unlink(missing_ok=True)
        for run in before["runs"]:
            if run not in now["runs"]:
                shard.path(run[0]).unlink(missing_ok=True)

    def forget_unfinished(self, depth: int) -> None:
        """Remove what was written after a level was complete."""
        for path in self.folder.iterdir():
            if path.name.startswith(ATTEMPT) or (path.name.isdecimal() and int(path.name) > depth):
                shutil.rmtree(path, ignore_errors=True)


class Waiting:
    """Candidates that the share ``source`` has found for another one, until they make a block."""

    def __init__(self, source: int) -> None:
        self._source, self._at = source, 0
        self._parts = list[bytes]()
        self.size = 0

    def add(self, rows: Any) -> Block | None:
        """Take some; a block where they are enough for one."""
        self._parts.append(rows.tobytes())
        self.size += rows.nbytes
        return self.take() if self.size >= BLOCK_BYTES else None

    def take(self) -> Block:
        """What waits, as a block."""
        block = Block(self._source, self._at, b"".join(self._parts))
        self._at += self.size
        self._parts, self.size = [], 0
        return block


def receive(shard: Shard, blocks: Iterable[Block]) -> int:
    """Write the blocks for a share to the files that it absorbs, each to its place, whatever their order.

    Returns from how many shares it has everything; a share takes on the counters that it sent to itself.
    """
    ends = 0
    for source, at, content in blocks:
        if at == END:
            ends += 1
            if source == shard.number:
                shard.st[:] = np.frombuffer(content, np.int64)
            continue
        path = shard.candidates(source, shard.depth)
        with path.open("r+b" if path.exists() else "wb") as file:
            file.seek(at)
            file.write(content)
    return ends


def name_from_outside(run: str, shard: Shard) -> str:
    """A run of a share as the folders of its other levels call it, too."""
    return run if "/" in run else f"../../{shard.depth:05d}/{shard.number:03d}/{run}"


def first_block(shares: Shares) -> tuple[int, Block]:
    """The initial state as a candidate, and the share that owns it."""
    program, machine, _, _ = shares.compiled
    row = initial_candidate(program, machine, shares.symmetry)
    return int(owner_of(row[0, FINGERPRINT], shares.count)), Block(0, 0, row.tobytes())
