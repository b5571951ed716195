"""The files that a user has: each is recognised by its content, and read to facts.

A file that is none of the known kinds is listed as such; a line that cannot be read is counted, and the rest is read.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from rebalance_check.pipeline.diagnose.commits import Commits
from rebalance_check.pipeline.diagnose.dumps.console import is_console, read_console
from rebalance_check.pipeline.diagnose.dumps.describe import is_describe, read_describe
from rebalance_check.pipeline.diagnose.dumps.dump_log import is_dump_log, read_dump_log
from rebalance_check.pipeline.diagnose.dumps.folding import fold_segment
from rebalance_check.pipeline.diagnose.dumps.rest import is_rest, read_rest
from rebalance_check.pipeline.diagnose.dumps.segments import is_segment, log_of, partition_of
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, OffsetRecorded
from rebalance_check.pipeline.diagnose.histories import history_facts, is_history
from rebalance_check.pipeline.diagnose.logs.mixed import ProcessLogs
from rebalance_check.pipeline.diagnose.logs.records import records

HEAD: Final = 65_536
EXAMPLES: Final = 3
ROTATED: Final = re.compile(r"(?:\.gz|\.\d{1,3}|[.-]\d{4}-\d\d-\d\d(?:-\d\d)?)+$")
"""The end of the name of a rotated file: its number, day or hour, and that it is compressed."""


@dataclass(slots=True)
class Source:
    """One file: its kind, and how much of it was understood. ``facts`` are in the order of the file."""

    name: str
    kind: str = ""
    lines: int = 0
    facts: list[Fact] = field(default_factory=list)
    not_understood: int = 0
    examples: list[NotUnderstood] = field(default_factory=list)
    fault: str = ""
    """Why reading ended early; empty: the whole file is read."""
    commits: Commits = field(default_factory=Commits)

    @property
    def all_facts(self) -> list[Fact]:
        """Its facts, with the commits folded."""
        return [*self.facts, *self.commits.facts()]

    @property
    def count(self) -> int:
        """How many facts it has, each commit counted."""
        return len(self.facts) + self.commits.count

    def join(self, later: Source) -> None:
        """Add the reading of a later part of the same file, whose facts are elsewhere."""
        self.lines += later.lines
        self.commits.count += later.commits.count
        self.not_understood += later.not_understood
        self.examples = [*self.examples, *later.examples][:EXAMPLES]
        self.fault = self.fault or later.fault

    def take(self, found: Iterable[Fact | NotUnderstood]) -> None:
        """Add facts, fold commits, and count the rest."""
        for one in found:
            if isinstance(one, NotUnderstood):
                self.not_understood += 1
                if len(self.examples) < EXAMPLES:
                    self.examples.append(one)
            elif isinstance(one, OffsetRecorded):
                self.commits.take(one)
            else:
                self.facts.append(one)


Reader = Callable[[Iterable[tuple[int, str]], str], Iterator[Fact | NotUnderstood]]


@dataclass(frozen=True, slots=True)
class TextKind:
    """A kind of text file: how it is named, recognised by its head, and read."""

    name: str
    recognised: Callable[[str], bool]
    read: Reader


TEXT_KINDS: Final[tuple[TextKind, ...]] = (
    TextKind("recorded history", is_history, history_facts),
    TextKind("output of kafka-dump-log", is_dump_log, read_dump_log),
    TextKind("output of the console consumer", is_console, read_console),
    TextKind("Connect's REST statuses", is_rest, read_rest),
    TextKind("output of kafka-consumer-groups", is_describe, read_describe),
)


def expanded(paths: Sequence[Path]) -> list[list[Path]]:
    """Files and folders to families of rotated files: each family is one log, in the order of the first times."""
    files: list[str] = []
    for path in paths:
        found = sorted(each for each in path.rglob("*") if _is_data(each, path)) if path.is_dir() else [path]
        files += map(str, found)
    return [[Path(each) for each in family] for family in families(files)]


def families(files: Iterable[str]) -> list[list[str]]:
    """Files by the log that they are parts of, whose name is theirs without number, day and hour."""
    found: dict[str, list[str]] = {}
    for path in files:
        folder, slash, name = path.rpartition("/")
        found.setdefault(f"{folder}{slash}{ROTATED.sub('', name) or name}", []).append(path)
    return list(found.values())


def _is_data(path: Path, root: Path) -> bool:
    return path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)


def read_family(paths: Sequence[Path]) -> list[Source]:
    """The sources of one family. Rotated logs are read by one reader, in the order of their first stamps."""
    reader = ProcessLogs()
    if len(paths) > 1:
        paths = sorted(paths, key=lambda path: (_first_time(path), path.name))
    return [read_file(path, reader) for path in paths]


def _first_time(path: Path) -> int:
    lines = Lines(path)
    return next((record.time_ms for record in records(lines, path.name) if record.time_ms is not None), 0)


def named(path: Path) -> str:
    """The name of a file; that of a segment in a broker's folder needs the folder's, which has topic and partition."""
    return path.name if partition_of(path.parent.name) is None else f"{path.parent.name}/{path.name}"


def read_file(path: Path, reader: ProcessLogs | None = None) -> Source:
    """One file. An unreadable one is a source with a fault, never an error."""
    source = Source(named(path))
    lines = Lines(path)
    try:
        head = lines.head()
    except OSError as error:
        source.fault = f"it cannot be read: {error.strerror or error}"
        return source
    if not head.strip():
        source.kind, source.fault = "nothing", "the file is empty"
        return source
    if is_segment(lines.first_bytes()):
        with lines.open() as file:
            fill_from_segment(source, file)
        return source
    if "\0" in head[:4_096]:
        source.kind, source.fault = "nothing", "the file is binary, and no segment of a topic"
        return source
    known = next((kind for kind in TEXT_KINDS if kind.recognised(head)), None)
    try:
        if known is not None:
            source.kind = known.name
            source.take(known.read(lines, path.name))
        else:
            _read_log(lines, source, reader or ProcessLogs())
    except (OSError, EOFError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) else None
        source.fault = f"reading ends after line {lines.number}: {why or error}"
    source.lines = lines.number
    return source


def fill_from_segment(source: Source, file: IO[bytes]) -> None:
    """Read a segment into its source."""
    source.kind = "segment of a topic"
    source.commits.log = log_of(source.name)
    fold_segment(file, source.name, source.take, source.commits)
    source.lines = source.count + source.not_understood


def _read_log(lines: Lines, source: Source, reader: ProcessLogs) -> None:
    kinds: Counter[str] = Counter()
    unstamped = 0
    for record in records(lines, source.name):
        if record.unstamped:
            unstamped += 1
            if unstamped <= EXAMPLES and record.message.strip():
                source.take([NotUnderstood(record.place, "no known layout")])
            continue
        for kind, found in reader.read(record):
            kinds[kind] += 1
            source.take([found])
    source.not_understood += max(0, unstamped - EXAMPLES)
    source.kind = " and ".join(f"log of {kind}" for kind in sorted(kinds)) or "log without a line about groups"


class Lines:
    """The numbered lines of a text file, unpacked where it is compressed by gzip."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0

    def open(self) -> IO[bytes]:
        """The bytes of the file."""
        with self.path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return gzip.open(self.path, "rb") if packed else self.path.open("rb")  # type: ignore[return-value]  # a reader of bytes

    def head(self) -> str:
        """The first part of the file.

        Raises:
            OSError: it cannot be opened, or its compression is damaged.
        """
        try:
            with self.open() as file:
                return file.read(HEAD).decode("utf-8", "replace")
        except (EOFError, zlib.error) as error:
            raise OSError(f"its compression is damaged: {error}") from error

    def first_bytes(self) -> bytes:
        """The first part of the file, as it is."""
        with self.open() as file:
            return file.read(HEAD)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        self.number = 0
        with self.open() as file:
            for line in file:
                self.number += 1
                yield self.number, line.decode("utf-8", "replace")


def missing(path: Path) -> Source:
    """A source that is not there."""
    return Source(str(path), fault="no such file or folder")
