"""A folder of histories that survives a kill: shards appear whole or not at all, and each seed stands in one of them.

::

    DIR/campaign.json              the common part of all runs; another campaign is refused
    DIR/runs/seeds-0-63.parquet    one committed shard: the seeds 0 to 63, a file (local) or a folder (Spark)
    DIR/runs/seeds-0-90-16.parquet another: 16 of the seeds from 0 to 90
    DIR/verdicts.parquet           the judge's last verdicts
    DIR/staging/                   work in progress; files of a dead process count for nothing

The rename of a finished shard into ``runs/`` is the commit, and only the process that holds the lock commits.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.pipeline.campaign import Campaign, overlap
from rebalance_check.pipeline.judging import UnreadableRun
from rebalance_check.pipeline.schema import RUNS, SCHEMA_VERSION, require_columns
from rebalance_check.pipeline.seed_set import SeedSet
from rebalance_check.properties.history import decode

SHARD_NAME: Final = re.compile(r"seeds-(\d+)-(\d+)(-\d+)?\.parquet")
BATCH_RUNS: Final = 64
"""Runs that are held in memory at a time while a shard is read."""


class BrokenTableError(RebalanceCheckError):
    """The table is damaged or is none; the message names the file and the next move."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One committed piece of a table: its seeds and where they stand."""

    seeds: SeedSet
    path: Path

    def files(self) -> list[Path]:
        """The Parquet files: itself, or the parts that Spark wrote."""
        return sorted(self.path.glob("part-*.parquet")) if self.path.is_dir() else [self.path]

    def batches(self, columns: Sequence[str] = ("seed", "events")) -> Iterator[pa.RecordBatch]:
        """The rows, a few runs at a time.

        Raises: BrokenTableError when a file cannot be read.
        """
        for path in self.files():
            try:
                with pq.ParquetFile(path) as file:
                    yield from file.iter_batches(BATCH_RUNS, columns=list(columns))
            except (pa.ArrowException, OSError) as fault:
                raise unreadable(path, fault) from fault

    def histories(self) -> Iterator[tuple[int, list[str]]]:
        """Seed and encoded events of each run."""
        for batch in self.batches():
            yield from runs_in(batch)

    def check(self) -> None:
        """Check that every file can be opened, has the columns, and that all seeds are there.

        Raises: BrokenTableError when that is not so.
        """
        rows = 0
        for path in self.files():
            try:
                with pq.ParquetFile(path) as file:
                    require_columns(file.schema_arrow, RUNS, path)
                    rows += file.metadata.num_rows
            except (pa.ArrowException, OSError) as fault:
                raise unreadable(path, fault) from fault
        if rows != len(self.seeds):
            raise BrokenTableError(
                f"{self.path} should hold {len(self.seeds)} runs by its name and holds {rows}: "
                f"delete it and run the same command again, only these seeds will be repeated"
            )


def unreadable(path: Path, fault: Exception) -> BrokenTableError:
    """The error for a Parquet file that is truncated or no Parquet file."""
    reason = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
    return BrokenTableError(
        f"{path} cannot be read ({reason}): delete it and run the same command again, only its seeds will be repeated"
    )


def runs_in(batch: pa.RecordBatch) -> Iterator[tuple[int, list[str]]]:
    """Seed and encoded events of each run of a batch."""
    yield from zip(batch["seed"].to_pylist(), batch["events"].to_pylist(), strict=True)


def decode_run(seed: int, lines: Iterable[str]) -> Iterator[Event]:
    """The events of one row.

    Raises: UnreadableRun for a line that is no event; it names the seed and the line.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield decode(line.encode())
        except RebalanceCheckError as fault:
            raise UnreadableRun(f"event {number} of seed {seed} in the table: {fault}") from fault


class HistoryTable:
    """The folder of one campaign. Reading needs no lock; `writing` takes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = path / "runs"
        self.verdicts = path / "verdicts.parquet"
        self._marker = path / "campaign.json"
        self._staging = path / "staging"
        self._left_out: frozenset[Path] = frozenset()
        self._seeds_of: dict[Path, SeedSet] = {}

    def shards(self, seeds: SeedSet | None = None) -> list[Shard]:
        """The committed shards that hold some of ``seeds`` (default: all shards), in order of their seeds.

        Raises: BrokenTableError for a file that is no shard, and for two shards that hold the same seeds.
        """
        found = [Shard(self._seeds_in(path), path) for path in self._paths()]
        found.sort(key=lambda shard: (shard.seeds.first, shard.seeds.last))
        pieces = sorted(((piece, shard) for shard in found for piece in shard.seeds.pieces), key=_first_of_piece)
        for (before, one), (after, other) in pairwise(pieces):
            if overlap(before, after):
                raise BrokenTableError(f"{one.path} and {other.path.name} hold the same seeds: delete one of them")
        return found if seeds is None else [shard for shard in found if shard.seeds.meets(seeds)]

    def _paths(self) -> list[Path]:
        """The files and folders that are shards, without those that are left out."""
        return [path for path in self.runs.iterdir() if path not in self._left_out] if self.runs.is_dir() else []

    def _seeds_in(self, path: Path) -> SeedSet:
        """The seeds of a shard: its name says so, or says that it holds some of a range only."""
        match = SHARD_NAME.fullmatch(path.name)
        if match is None:
            raise BrokenTableError(f"{path} is no shard of a history table: move it out of {self.runs}")
        every = SeedSet.of(range(int(match[1]), int(match[2]) + 1))
        if match[3] is None:
            return every
        if path not in self._seeds_of:
            batches = Shard(every, path).batches(("seed",))
            self._seeds_of[path] = SeedSet.of(seed for batch in batches for seed in batch["seed"].to_pylist())
        return self._seeds_of[path]

    def missing(self, seeds: SeedSet) -> SeedSet:
        """The part of ``seeds`` that is not committed yet."""
        return seeds.without(piece for shard in self.shards() for piece in shard.seeds.pieces)

    def check(self, seeds: SeedSet | None = None) -> None:
        """Check that this is a table and that each of its shards that holds ``seeds`` is whole.

        Raises: BrokenTableError when that is not so.
        """
        self.campaign_json()
        for shard in self.shards(seeds):
            shard.check()

    def leave_out_broken(self) -> tuple[str, ...]:
        """From here on pass over each shard that cannot be read; gives the fault of each.

        Raises: BrokenTableError when this is no table at all.
        """
        self.campaign_json()
        faults: dict[Path, str] = {}
        for path in sorted(self._paths()):
            try:
                Shard(self._seeds_in(path), path).check()
            except BrokenTableError as fault:
                faults[path] = str(fault)
        self._left_out = frozenset(faults)
        return tuple(faults.values())

    def totals(self, seeds: SeedSet) -> tuple[int, int]:
        """How many runs of ``seeds`` there are, and how many events in them."""
        runs = events = 0
        for shard in self.shards(seeds):
            for batch in shard.batches(("seed", "event_count")):
                counts = dict(zip(batch["seed"].to_pylist(), batch["event_count"].to_pylist(), strict=True))
                inside = [count for seed, count in counts.items() if seed in seeds]
                runs, events = runs + len(inside), events + sum(inside)
        return runs, events

    def campaign_json(self) -> dict[str, object]:
        """The marker that makes a folder a table.

        Raises: BrokenTableError when it is not there, not readable, or of another version.
        """
        try:
            found = msgspec.json.decode(self._marker.read_bytes(), type=dict[str, object])
        except FileNotFoundError:
            raise BrokenTableError(
                f"{self.path} holds no history table (no campaign.json): name a folder that "
                "`fuzz --out` wrote, or history files"
            ) from None
        except (msgspec.DecodeError, OSError) as fault:
            raise BrokenTableError(
                f"{self._marker} cannot be read ({fault}): restore it or choose another folder"
            ) from fault
        if found.get("schema") != SCHEMA_VERSION:
            raise BrokenTableError(
                f"{self.path} is a table of version {found.get('schema')!r}, this program reads version "
                f"{SCHEMA_VERSION}: read it with the version of rebalance-check that wrote it"
            )
        return found

    @contextmanager
    def writing(self, campaign: Campaign) -> Iterator[Path]:
        """Hold the table alone, to add runs of ``campaign``; gives a new folder for work in progress.

        Raises `RebalanceCheckError` when another process writes here, or the table belongs to another campaign.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with self._locked():
            self._claim(campaign)
            shutil.rmtree(self._staging, ignore_errors=True)
            self._staging.mkdir()
            self.runs.mkdir(exist_ok=True)
            try:
                yield Path(tempfile.mkdtemp(dir=self._staging))
            finally:
                shutil.rmtree(self._staging, ignore_errors=True)

    def commit(self, staged: Path, seeds: SeedSet) -> Shard:
        """Make a finished shard part of the table, at once; only inside `writing`."""
        some = "" if len(seeds.pieces) == 1 else f"-{len(seeds)}"
        target = self.runs / f"seeds-{seeds.first}-{seeds.last}{some}.parquet"
        Shard(seeds, staged).check()
        for path in Shard(seeds, staged).files():
            _sync(path)
        staged.rename(target)
        _sync(self.runs)
        return Shard(seeds, target)

    def replace_verdicts(self, staged: Path) -> None:
        """Put freshly made verdicts in the place of the old ones; only inside `writing`."""
        if self.verdicts.is_dir():
            shutil.rmtree(self.verdicts)
        else:
            self.verdicts.unlink(missing_ok=True)
        staged.rename(self.verdicts)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.path / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RebalanceCheckError(
                    f"another process is writing to {self.path}: wait for it, or choose another --out"
                ) from None
            yield

    def _claim(self, campaign: Campaign) -> None:
        """Write the marker of a new table; hold that of an old one against ``campaign``."""
        wanted: dict[str, object] = {
            "schema": SCHEMA_VERSION,
            "subject": campaign.subject,
            "version": campaign.version,
            "options": msgspec.to_builtins(campaign.options),
        }
        if not self._marker.exists():
            self._refuse_other_files()
            _write_whole(self._marker, msgspec.json.format(msgspec.json.encode(wanted)) + b"\n")
            return
        found = self.campaign_json()
        wanted = msgspec.json.decode(msgspec.json.encode(wanted))
        if found != wanted:
            raise RebalanceCheckError(
                f"{self.path} belongs to another campaign ({_difference(found, wanted)}): "
                f"choose another --out, or the options that it was begun with"
            )

    def _refuse_other_files(self) -> None:
        others = sorted(path.name for path in self.path.iterdir() if not path.name.startswith("."))
        if others:
            raise RebalanceCheckError(
                f"{self.path} is no history table and not empty (it holds {others[0]}): choose another --out"
            )


def _difference(found: dict[str, object], wanted: dict[str, object]) -> str:
    """The first value that differs, innermost name first: ``members is 3 there, 4 here``."""
    for name in sorted(found.keys() | wanted.keys()):
        there, here = found.get(name), wanted.get(name)
        if isinstance(there, dict) and isinstance(here, dict) and there != here:
            return _difference(there, here)
        if there != here:
            return f"{name} is {there!r} there, {here!r} here"
    return "its description differs"


def _first_of_piece(piece: tuple[range, Shard]) -> tuple[int, int]:
    return piece[0].start, piece[0].stop


def _write_whole(path: Path, content: bytes) -> None:
    """Write a small file so that it is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(content)
    _sync(temporary)
    temporary.rename(path)


def _sync(path: Path) -> None:
    """Have the disk hold all writes, so that a commit never names data that a power cut can take."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
