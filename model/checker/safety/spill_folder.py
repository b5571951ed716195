"""The folder of a search whose states are on disk: the file that says how far the search is, and whose it is.

The file appears by a rename, when all that it names is on the disk. What it does not name does not count.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

NOTE: Final = "search.json"
LOCK: Final = "lock"

FORMAT: Final = 1
"""The version of the files."""


class SpillFolder:
    """The folder ``path``, locked while the block runs. A context manager; made where it does not exist.

    Raises: RebalanceCheckError when something else is in it, or another process searches there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        if self.is_new:
            self._require_empty()
        self._lock = (path / LOCK).open("wb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise RebalanceCheckError(
                f"another process searches in {str(path)!r}: wait for its end, or name another folder"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.close()

    @property
    def is_new(self) -> bool:
        """Whether no search has noted anything here."""
        return not (self.path / NOTE).exists()

    def read(self, identity: Mapping[str, Any]) -> dict[str, Any] | None:
        """What `write` has written last; None where it has written nothing.

        Raises: RebalanceCheckError where the folder belongs to another search, or the file is damaged.
        """
        if self.is_new:
            return None
        known = self._parsed((self.path / NOTE).read_bytes())
        for name, mine in {"format of the files": FORMAT, **identity}.items():
            if known["identity"].get(name) != mine:
                raise RebalanceCheckError(
                    f"{str(self.path)!r} holds another search: its {name} is {known['identity'].get(name)!r}, and here "
                    f"it is {mine!r}; give the same options, or name another folder"
                )
        return known

    def write(self, identity: Mapping[str, Any], numbers: Mapping[str, Any], files: Collection[Path]) -> None:
        """Note how far the search is, once the files that it needs are on the disk.

        Raises: OSError where the disk is full; the earlier note stays.
        """
        for path in (*files, *{path.parent for path in files}):
            synchronise(path)
        body = json.dumps({"identity": {"format of the files": FORMAT, **identity}, **numbers})
        part = self.path / f"{NOTE}.part"
        part.write_text(f"{digest(body)}\n{body}", encoding="utf-8")
        synchronise(part)
        part.replace(self.path / NOTE)
        synchronise(self.path)

    def damaged(self, why: object) -> RebalanceCheckError:
        """The error where something in it is missing or wrong."""
        return RebalanceCheckError(
            f"the search in {str(self.path)!r} is damaged ({why}): it cannot go on; remove the folder, or name another"
        )

    @property
    def size(self) -> int:
        """The bytes of all its files; one that is removed meanwhile does not count."""
        total = 0
        for folder in (self.path, *filter(Path.is_dir, self.path.iterdir())):
            with os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):
                        total += entry.stat().st_size
        return total

    def _require_empty(self) -> None:
        others = sorted(entry.name for entry in self.path.iterdir() if not is_left_over(entry))
        if others:
            raise RebalanceCheckError(
                f"{str(self.path)!r} holds no search, but has {others[0]!r}: name a folder that is empty or new"
            )

    def _parsed(self, data: bytes) -> dict[str, Any]:
        """The object of a note whose digest is right."""
        try:
            stated, _, body = data.decode().partition("\n")
            known = json.loads(body)
            if stated != digest(body) or not isinstance(known["identity"], dict):
                raise ValueError("its digest is another")  # noqa: TRY301 - one place that says what is damaged
        except (ValueError, KeyError, TypeError) as error:
            raise self.damaged(f"{NOTE}: {error}") from error
        return dict(known)


def is_left_over(entry: Path) -> bool:
    """Whether this may be what a search left that was killed before its first note."""
    is_empty_share = entry.name.isdecimal() and entry.is_dir() and not any(entry.iterdir())
    return is_empty_share or entry.name in {LOCK, f"{NOTE}.part"}


def digest(body: str) -> str:
    """What stands in the first line of a note."""
    return hashlib.sha256(body.encode()).hexdigest()


def synchronise(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
