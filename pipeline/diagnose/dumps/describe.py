"""The output of ``kafka-consumer-groups.sh`` of 1.x to 4.x, ``--list`` and ``--describe``, and of ``kafka-groups.sh``.

Source: ``ConsumerGroupCommand``. While a group rebalances the coordinator shows no assignments, or those of the
generation before, and the tool warns of it: then a member without partitions says nothing. No table has a time: that of
a line of ``date`` between them, or of ``watch`` above them, is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rebalance_check.pipeline.diagnose.dumps.dates import date_of
from rebalance_check.pipeline.diagnose.dumps.tables import Table, table_of
from rebalance_check.pipeline.diagnose.facts import (
    AssignmentsHidden,
    Fact,
    GroupDescribed,
    MemberRowDescribed,
    ModernGroupSeen,
    NotUnderstood,
    PartitionDescribed,
    Place,
    ProtocolTypeSeen,
)

REBALANCING: Final = re.compile(r"[Cc]onsumer group '(?P<group>.+)' is rebalancing")
EMPTY: Final = re.compile(r"[Cc]onsumer group '(?P<group>.+)' has no active members")
MISSING: Final = re.compile(
    r"[Cc]onsumer group '(?P<group>.+)' does not exist|GroupIdNotFoundException: Group (?P<other>.+) not found"
)
REFUSED: Final = re.compile(r"GroupId (?P<group>.+) is not a consumer group \((?P<type>[^()]*)\)")
GLUED_LOG: Final = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] [A-Z]+ .*$")
"""A line of the tool's own log, which may stand behind the last row."""
_OTHER: Final = re.compile(r"^\s*(?:[$#>] |at |Caused by:|Error:|Option |Note:)|kafka-(?:consumer-)?groups|Exception\b")
"""Lines of other kinds that may stand between the rows: commands, traces, notes."""
_GROUPED: Final = re.compile(r"(?P<topic>[\w.-]+):(?P<partitions>\d+(?:,\d+)*)")
_BRACKETED: Final = re.compile(r"(?P<topic>[\w.-]+)\((?P<partitions>\d+(?:,\d+)*)\)")
_NONE: Final = frozenset({"", "-"})
_MODERN: Final[dict[str, Literal["consumer", "share", "streams"]]] = {
    "Consumer": "consumer", "Share": "share", "Streams": "streams",
}  # fmt: skip
_TEXT: Final = 300
_SENTENCE: Final = 2_000
"""A warning stands within so many characters."""
_LONGEST: Final = 1_000_000


def is_describe(head: str) -> bool:
    """Whether a text that begins so is an output of these tools."""
    return any(
        table_of(line) is not None or any(sign.search(line) for sign in (REBALANCING, EMPTY, MISSING, REFUSED))
        for line in head.splitlines()
    )


def read_describe(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Fact | NotUnderstood]:
    """The facts of numbered lines; several outputs may follow one another."""
    reading = _Reading(source)
    for number, raw in lines:
        yield from reading.on_line(number, GLUED_LOG.sub("", raw.rstrip("\r\n")))


@dataclass(slots=True)
class _Reading:
    """The state of one reading: the table, the time, and the groups of which the tool has warned."""

    source: str
    table: Table | None = None
    open: bool = False
    """Whether the line before belongs to the table."""
    time_ms: int | None = None
    zoned: bool = True
    warned: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    """The groups whose rows of the present table hide assignments."""
    refused: str = ""
    modern: str = ""

    def on_line(self, number: int, text: str) -> Iterable[Fact | NotUnderstood]:
        """The facts of a line."""
        place = Place(self.source, number, text[:_TEXT], self.zoned)
        if not text.strip():
            self.open = False
            return ()
        if len(text) > _LONGEST:
            return (NotUnderstood(place, f"a line of {len(text)} characters is no row of a table"),)
        found = self._on_sentence(text[:_SENTENCE], {"place": place, "time_ms": self.time_ms})
        if found is not None:
            return found
        table = table_of(text)
        if table is not None:
            self.table, self.open, self.modern = table, True, ""
            self.hidden.clear()
            return ()
        return self._on_row(text, place)

    def _on_sentence(self, text: str, at: dict[str, Any]) -> Iterable[Fact] | None:
        """The facts of a line that is no row; None for others."""
        if match := REBALANCING.search(text):
            self.warned.add(match["group"])
            return (AssignmentsHidden(group=match["group"], **at),)
        if match := EMPTY.search(text):
            return (GroupDescribed(group=match["group"], state="Empty", members=0, **at),)
        if match := MISSING.search(text):
            return (GroupDescribed(group=match["group"] or match["other"], state="Dead", **at),)
        if match := REFUSED.search(text):
            again, self.refused = self.refused == match["group"], match["group"]
            return () if again else (ProtocolTypeSeen(group=match["group"], protocol_type=match["type"], **at),)
        if (date := date_of(text)) is not None:
            self.time_ms, self.zoned, self.open = date.time_ms, date.zoned, False
            return ()
        return None

    def _on_row(self, text: str, place: Place) -> Iterable[Fact | NotUnderstood]:
        cells = self.table.cells(text) if self.table is not None else None
        if cells is None:
            complain = self.open and _OTHER.search(text) is None
            return (NotUnderstood(place, "the line stands in a table, and its cells do not fit"),) if complain else ()
        group = cells.get("GROUP", "")
        if group in self.warned:
            self.warned.discard(group)
            self.hidden.add(group)
        return self._facts(cells, {"place": place, "time_ms": self.time_ms, "group": group})

    def _facts(self, cells: dict[str, str], at: dict[str, Any]) -> Iterator[Fact]:
        if "#PARTITIONS" in cells:
            yield from self._member(cells, at)
        elif "CURRENT-OFFSET" in cells:
            yield self._partition(cells, at)
        else:
            yield from _group(cells, at)

    def _member(self, cells: dict[str, str], at: dict[str, Any]) -> Iterator[Fact]:
        count: int | None = int(cells["#PARTITIONS"])
        shown = cells.get("CURRENT-ASSIGNMENT", cells.get("ASSIGNMENT"))
        partitions = None if shown is None else _partitions(shown)
        if not count and at["group"] in self.hidden:
            count = partitions = None
        yield MemberRowDescribed(
            member=cells["CONSUMER-ID"], instance=_cell(cells, "GROUP-INSTANCE-ID"), client=_cell(cells, "CLIENT-ID"),
            host=_cell(cells, "HOST").removeprefix("/"), count=count, partitions=partitions, **at,
        )  # fmt: skip
        if cells.get("CURRENT-EPOCH", "-").isdecimal() and self.modern != at["group"]:
            self.modern = at["group"]
            yield ModernGroupSeen(kind="consumer", **at)

    def _partition(self, cells: dict[str, str], at: dict[str, Any]) -> Fact:
        member, client = _cell(cells, "CONSUMER-ID"), _cell(cells, "CLIENT-ID")
        if cells["PARTITION"] == "-" or cells["TOPIC"] == "-":
            known = at["group"] not in self.hidden
            return MemberRowDescribed(
                member=member, client=client, host=_cell(cells, "HOST").removeprefix("/"),
                count=0 if known else None, partitions=() if known else None, **at,
            )  # fmt: skip
        return PartitionDescribed(
            partition=f"{cells['TOPIC']}-{cells['PARTITION']}", committed=_number(cells["CURRENT-OFFSET"]),
            end=_number(cells["LOG-END-OFFSET"]), member=member or None, client=client, **at,
        )  # fmt: skip


def _group(cells: dict[str, str], at: dict[str, Any]) -> Iterator[Fact]:
    if "STATE" in cells:
        members = int(cells["#MEMBERS"]) if "#MEMBERS" in cells else None
        yield GroupDescribed(state=cells["STATE"], members=members, assignor=_cell(cells, "ASSIGNMENT-STRATEGY"), **at)
    epoch = _number(cells.get("GROUP-EPOCH", ""))
    kind = _MODERN["Consumer"] if epoch is not None else _MODERN.get(cells.get("TYPE", ""))
    if kind is not None:
        yield ModernGroupSeen(kind=kind, epoch=epoch, **at)
    elif protocol := _cell(cells, "PROTOCOL"):
        yield ProtocolTypeSeen(protocol_type=protocol, **at)


def _cell(cells: dict[str, str], name: str) -> str:
    """A cell, empty where it shows none."""
    found = cells.get(name, "")
    return "" if found in _NONE else found


def _number(cell: str) -> int | None:
    return int(cell) if cell.lstrip("-").isdecimal() else None


def _partitions(cell: str) -> tuple[str, ...] | None:
    """The partitions of an assignment; None where it leaves their topics out, as 3.9 does, or is of another form."""
    if cell in _NONE:
        return ()
    form, separator = (_GROUPED, ";") if ":" in cell else (_BRACKETED, ", ")
    found = [form.fullmatch(part.strip()) for part in cell.split(separator)]
    if None in found:
        return None
    return tuple(f"{each['topic']}-{number}" for each in found if each for number in each["partitions"].split(","))
