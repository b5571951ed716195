"""Machine code on disk: an entry for each program, found by a hash of everything that it was made from.

An entry is written under another name and moved to its own, so that none is ever half there; it begins with a digest of
the rest, so that a damaged one is noticed and made anew. Where the cache grows beyond its size, entries not used for
the longest time go.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 64 << 20
"""The size of the cache: some thousand programs."""

SUFFIX: Final = ".program"
DIGEST_BYTES: Final = 32


def cache_directory() -> Path:
    """Where compiled programs are kept: ``$XDG_CACHE_HOME/rebalance-check``, by default below ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rebalance-check"


def key_of(parts: Iterable[str]) -> str:
    """A name for a program that changes with anything that it is made from."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def load(key: str) -> bytes | None:
    """The entry of this key; None where there is none, or a damaged one."""
    path = cache_directory() / f"{key}{SUFFIX}"
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, content = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
    if hashlib.sha256(content).digest() != digest:
        return None
    with suppress(OSError):
        os.utime(path)  # it was used now: the oldest go first
    return content


def keep(key: str, content: bytes, most_bytes: int = MOST_BYTES) -> None:
    """Write an entry; where the cache cannot be written, do nothing."""
    folder = cache_directory()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as file:
            file.write(hashlib.sha256(content).digest() + content)
        Path(file.name).replace(folder / f"{key}{SUFFIX}")
        shrink(folder, most_bytes)


def shrink(folder: Path, most_bytes: int) -> None:
    """Remove the entries that were not used for the longest time, until the others fit."""
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    used = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if used <= most_bytes:
            return
        with suppress(OSError):
            path.unlink()
            used -= size
