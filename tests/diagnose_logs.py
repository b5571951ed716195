"""Logs of real runs in ``tests/data/diagnose/logs``, the truth that their drivers and members recorded, their facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, OwnershipFact
from rebalance_check.pipeline.diagnose.logs.records import LogRecord, records

LOGS = Path(__file__).parent / "data" / "diagnose" / "logs"
F = TypeVar("F", bound=Fact)


class Reader(Protocol):
    """A reader of one kind of log."""

    def read(self, record: LogRecord) -> Iterator[Fact | NotUnderstood]: ...


@dataclass(frozen=True)
class Row:
    """A row of a truth: the driver's command, or a callback of a member."""

    time_ms: int
    by: str
    what: str
    rest: tuple[str, ...]


def truth(path: str) -> list[Row]:
    """The rows of a truth."""
    rows = (line.split("\t") for line in (LOGS / path).read_text(encoding="utf-8").splitlines())
    return [
        Row(round(1_000 * datetime.fromisoformat(row[0]).timestamp()), row[1], row[2], tuple(row[3:])) for row in rows
    ]


def callbacks(rows: Iterable[Row], member: str) -> list[tuple[int, str, tuple[str, ...]]]:
    """Time, kind and partitions of a member's callbacks that name partitions."""
    found = []
    for row in rows:
        names = next((part for part in row.rest if part and not part.isdigit()), "")
        if row.by == member and row.what in {"assigned", "revoked", "lost"} and "-" in names:
            found.append((row.time_ms, row.what, tuple(sorted(names.split(",")))))
    return found


def ownership(facts: Iterable[Fact | NotUnderstood]) -> list[tuple[int, str, tuple[str, ...]]]:
    """Time, kind and partitions of the facts about ownership, in the form of `callbacks`."""
    return [
        (fact.time_ms or 0, type(fact).__name__.lower(), tuple(sorted(fact.partitions)))
        for fact in only(OwnershipFact, facts)
    ]


def assert_same_ownership(facts: Iterable[Fact | NotUnderstood], rows: list[Row], member: str, within_ms: int) -> None:
    """The facts are the member's callbacks, to their end or, as in a file that was cut, to its end.

    A listener without a callback for lost partitions is notified of a revocation.
    """
    own, expected = ownership(facts), callbacks(rows, member)
    as_notified = {} if any(row.what == "lost" for row in rows) else {"lost": "revoked"}
    assert own
    assert [(as_notified.get(kind, kind), names) for _, kind, names in own] == [one[1:] for one in expected[: len(own)]]
    assert max(abs(one[0] - other[0]) for one, other in zip(own, expected, strict=False)) <= within_ms


def records_of(*paths: str) -> Iterator[LogRecord]:
    """The records of files that follow each other."""
    for path in paths:
        with (LOGS / path).open(encoding="utf-8") as lines:
            yield from records(enumerate(lines, 1), path)


def everything(reader: Reader, *paths: str) -> list[Fact | NotUnderstood]:
    """All that the reader yields for the files."""
    return [found for record in records_of(*paths) for found in reader.read(record)]


def of_lines(reader: Reader, text: str, source: str = "app.log") -> list[Fact | NotUnderstood]:
    """All that the reader yields for lines that stand in a test."""
    found = records(enumerate(text.splitlines(), 1), source)
    return [fact for record in found for fact in reader.read(record)]


def only(kind: type[F], facts: Iterable[Fact | NotUnderstood]) -> list[F]:
    """The facts of one kind."""
    return [fact for fact in facts if isinstance(fact, kind)]


def not_understood(facts: Iterable[Fact | NotUnderstood]) -> list[str]:
    """The places of lines that were not understood."""
    return [str(fact.place) for fact in facts if isinstance(fact, NotUnderstood)]
