"""Checkpoints of a search as files: a ZIP archive with one JSON object and the arrays, which appears by a rename."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from rebalance_check.model.checker.safety.checkpoint import Checkpoint
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

HEADER: Final = "checkpoint.json"
SLICE: Final = 1 << 24
"""Bytes that are written at once, so that a second interrupt is seen soon."""


def require_new_file(path: Path) -> None:
    """Refuse, before the search begins, a file that is there or cannot be written.

    Raises `RebalanceCheckError` where the file exists, and `OSError` where its folder takes no file.
    """
    if path.exists():
        raise RebalanceCheckError(
            f"{str(path)!r} exists and may be a checkpoint with work in it: go on from it with --resume, or name "
            "another file"
        )
    with _new_file(path) as (_, temporary):
        temporary.unlink()


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; what stood there before is there until the new one is complete.

    Raises `OSError` where it cannot be written.
    """
    header = {"identity": dict(checkpoint.identity), "numbers": dict(checkpoint.numbers)}
    with _new_file(path) as (file, temporary):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(HEADER, json.dumps(header))
            for name, block in checkpoint.blocks.items():
                _write_block(archive, name, block)
        file.flush()
        os.fsync(file.fileno())
        temporary.replace(path)


def _write_block(archive: zipfile.ZipFile, name: str, block: Any) -> None:
    data = memoryview(block)
    with archive.open(name, "w", force_zip64=True) as entry:
        if data.nbytes:
            octets = data.cast("B")
            for start in range(0, len(octets), SLICE):
                entry.write(octets[start : start + SLICE])


@contextmanager
def _new_file(path: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A file next to ``path``, which does not stay unless it is renamed."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        temporary = Path(file.name)
        try:
            yield file, temporary
        finally:
            temporary.unlink(missing_ok=True)


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint of a file; its arrays are read one at a time, when they are needed.

    Raises `RebalanceCheckError` for a file that is no checkpoint or is damaged, and `OSError` where it cannot be read.
    """
    with _readable(path) as archive:
        header = json.loads(archive.read(HEADER))
        identity, numbers, names = header["identity"], header["numbers"], archive.namelist()
    return Checkpoint(identity=identity, numbers=numbers, blocks=_Blocks(path, [x for x in names if x != HEADER]))


class _Blocks(Mapping[str, bytes]):
    """The arrays of a file."""

    def __init__(self, path: Path, names: list[str]) -> None:
        self._path, self._names = path, names

    def __getitem__(self, name: str) -> bytes:
        with _readable(self._path) as archive:
            return archive.read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@contextmanager
def _readable(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive; what is wrong with it is a `RebalanceCheckError`."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, EOFError) as error:
        raise RebalanceCheckError(
            f"{str(path)!r} is no checkpoint of a search, or damaged ({error}): begin anew without --resume"
        ) from error
