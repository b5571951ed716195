"""The shares of a search on Spark: a level of a share is a folder, written once, by whichever attempt is whole first.

What a share does in a level is what it does on one machine (`shard.Shard`), in a scratch folder: *expanding* gives its
successors as blocks for the shares that own them, *absorbing* takes the blocks of all shares and keeps what is new. A
level appears below the folder of the search by a rename, with everything that the next one needs. Both phases give the
same for the same level, so a task that is repeated, or done twice at once, changes nothing.

States are numbered within their level and share: a parent always stands in the level before.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Final, NamedTuple

import numpy as np

from rebalance_check.model.checker.compiler import kernel
from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety.shard import CANDIDATES, LEVEL, RUN, Shard
from rebalance_check.model.checker.safety.spill_folder import synchronise
from rebalance_check.model.checker.safety.worker import Buffer, renamings
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds

BLOCK_BYTES: Final = 1 << 18
"""The size of a block: Spark holds some ten for each share before it writes them."""

STATE: Final = "state.json"
"""The file of a level that says how far the share is."""

PARENTS, LABELS = "parents", "labels"
"""The files of a level that say where its states came from."""

ATTEMPT: Final = "attempt-"
"""How the name of a level begins that is not whole yet."""

SENT: Final = -1
"""The place of the block in which a share tells itself its counters."""


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

    def level(self, number: int, depth: int) -> Path:
        """The folder of a level of a share."""
        return self.share(number) / f"{depth:05d}"

    def share(self, number: int) -> Path:
        """The folder of a share."""
        return self.folder / f"{number:03d}"

    def origin(self, number: int, depth: int, index: int) -> tuple[int, int, int]:
        """Where a state of a level came from: the share and the number of its parent, and the label of the step."""
        parent, label = (
            int(np.fromfile(self.level(number, depth) / name, np.uint32, 1, offset=4 * index)[0])
            for name in (PARENTS, LABELS)
        )
        return parent % self.count, parent // self.count, label

    def state(self, number: int, depth: int) -> dict[str, Any]:
        """How far a share was at the end of a level."""
        return dict(json.loads((self.level(number, depth) / STATE).read_text(encoding="utf-8")))

    def expand(self, number: int, depth: int) -> Iterator[tuple[int, Block]]:
        """The successors of a level, in blocks for the shares that own them, and the counters for the share itself."""
        program, _, buffer, names = self.compiled
        with TemporaryDirectory(prefix="rebalance-check-") as scratch:
            shards = [self._shard(Path(scratch), each) for each in range(self.count)]
            mine = shards[number]
            restore(mine, self.state(number, depth))
            mine.level(depth).symlink_to(self.level(number, depth) / mine.level(depth).name)
            mine.expand(program, buffer, shards, names)
            program.require_no_fault()
            yield number, Block(number, SENT, mine.st.tobytes())
            for owner in shards:
                for block in blocks_of(owner.candidates(number, depth), number):
                    yield owner.number, block

    def absorb(self, number: int, depth: int, blocks: Iterable[Block]) -> dict[str, Any]:
        """Keep those candidates of a level that are new, as the next one; how far the share is then."""
        program = self.compiled.program
        before = self.state(number, depth) if depth else {}
        self.share(number).mkdir(parents=True, exist_ok=True)
        scratch = Path(mkdtemp(prefix=ATTEMPT, dir=self.share(number)))
        try:
            shard = self._shard(scratch, number)
            restore(shard, before | {"depth": depth})
            shard.runs.runs = [run._replace(name=str(self.share(number) / run.name)) for run in shard.runs.runs]
            receive(shard, blocks)
            shard.size = 0  # what it keeps now is a level of its own
            shard.absorb(program)
            program.require_no_fault()
            return self._commit(shard, int(before.get("distinct", 0)))
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def forget(self, number: int, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Remove what a share needed for the level before, and does not need now."""
        old = self.level(number, before["depth"])
        (old / f"{LEVEL}-{before['depth']:05d}").unlink(missing_ok=True)
        needed = {name for name, _ in now["runs"]}
        for name, _ in before["runs"]:
            if name not in needed:
                (self.share(number) / name).unlink(missing_ok=True)

    def forget_unfinished(self, number: int, depth: int) -> None:
        """Remove what was written after a level was complete."""
        for path in self.share(number).iterdir():
            if path.name.startswith(ATTEMPT) or int(path.name) > depth:
                shutil.rmtree(path, ignore_errors=True)

    def _shard(self, scratch: Path, number: int) -> Shard:
        return Shard(scratch, number, self.count, self.compiled.machine)

    def _commit(self, shard: Shard, distinct: int) -> dict[str, Any]:
        """Make what a share has absorbed a level, unless another attempt was faster; how far the share is."""
        place = self.level(shard.number, shard.depth)
        shard.runs.runs = [run._replace(name=self._name(Path(run.name), place)) for run in shard.runs.runs]
        state = shard.state() | {"distinct": distinct + shard.size}
        folder = shard.path("")
        (folder / STATE).write_text(json.dumps(state), encoding="utf-8")
        merged = {path.name for path in folder.glob(f"{RUN}-*")} - {Path(name).name for name, _ in state["runs"]}
        for path in folder.iterdir():
            if path.name.startswith(CANDIDATES) or path.name in merged:
                path.unlink()
            else:
                synchronise(path)
        try:
            folder.rename(place)
        except OSError:
            if not place.is_dir():
                raise
        return state

    def _name(self, run: Path, place: Path) -> str:
        """A run as it is called from the folder of its share."""
        path = run if run.is_absolute() else place / run
        return str(path.relative_to(self.share(int(place.parent.name))))


def restore(shard: Shard, state: Mapping[str, Any]) -> None:
    """Let a share go on from the end of a level, its states numbered within that level."""
    begun = shard.state() | state
    shard.restore(begun | {"size": begun["frontier"]})


def receive(shard: Shard, blocks: Iterable[Block]) -> None:
    """Write the blocks for a share to the files that it absorbs, each where it belongs, in whichever order they come."""
    for source, at, content in blocks:
        if at == SENT:
            shard.st[:] = np.frombuffer(content, np.int64)
            continue
        path = shard.candidates(source, shard.depth)
        with path.open("r+b" if path.exists() else "wb") as file:
            file.seek(at)
            file.write(content)


def blocks_of(path: Path, source: int) -> Iterator[Block]:
    """A file of candidates, a block at a time."""
    at = 0
    with path.open("rb") as file:
        while content := file.read(BLOCK_BYTES):
            yield Block(source, at, content)
            at += len(content)


def first_block(shares: Shares) -> tuple[int, Block]:
    """The initial state as a candidate, and the share that owns it."""
    program, machine, _, _ = shares.compiled
    initial = machine.initial()
    packed = machine.canonical(initial) if shares.symmetry else machine.pack(initial)
    state, fingerprint = np.zeros((1, -(-len(packed) // 8)), np.uint64), np.zeros(1, np.uint64)
    state.view(np.uint8)[0, : len(packed)] = np.frombuffer(packed, np.uint8)
    program.fingerprints(state, 1, fingerprint)
    owner = int(fingerprint[0] >> kernel.OWNER_SHIFT) % shares.count
    return owner, Block(0, 0, state.tobytes() + fingerprint.tobytes() + bytes(16))
