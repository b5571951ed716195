"""The tables of ``kafka-consumer-groups.sh`` and ``kafka-groups.sh``: a line of column names, lines of padded cells.

Cells are padded to the widest of their column, or, for numbers and states, to a fixed width that a cell may exceed. So
a line is cut where its columns begin, or else, as after a tool that took spaces away, between its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_NUMBER: Final = r"-?\d{1,19}|-|N/A|unknown"
_COUNT: Final = r"\d{1,9}"
_ANY: Final = r".*"
_WORD: Final = r"\S+"
STATES: Final = (
    "Stable", "Empty", "Dead", "PreparingRebalance", "CompletingRebalance", "AwaitingSync", "Assigning", "Reconciling",
    "NotReady", "Unknown",
)  # fmt: skip
COLUMNS: Final = {
    "GROUP": r".+",
    "TOPIC": r"[\w.-]+",
    "PARTITION": r"\d{1,9}|-",
    "LEADER-EPOCH": _NUMBER,
    "CURRENT-OFFSET": _NUMBER,
    "LOG-END-OFFSET": _NUMBER,
    "LAG": _NUMBER,
    "CONSUMER-ID": r".+",
    "GROUP-INSTANCE-ID": _ANY,
    "HOST": _WORD,
    "CLIENT-ID": _ANY,
    "#PARTITIONS": _COUNT,
    "ASSIGNMENT": _ANY,
    "CURRENT-EPOCH": _NUMBER,
    "CURRENT-ASSIGNMENT": _ANY,
    "TARGET-EPOCH": _NUMBER,
    "TARGET-ASSIGNMENT": _ANY,
    "UPGRADED": r"true|false|-",
    "COORDINATOR (ID)": r"\S+\s+\(-?\w+\)|-",
    "ASSIGNMENT-STRATEGY": r"\S*",
    "STATE": "|".join(STATES),
    "GROUP-EPOCH": _NUMBER,
    "TARGET-ASSIGNMENT-EPOCH": _NUMBER,
    "#MEMBERS": _COUNT,
    "TYPE": r"[A-Z]\w*",
    "PROTOCOL": r"\S*",
}
"""The names of columns, with the form of their cells."""
_FORMS: Final = {name: re.compile(form) for name, form in COLUMNS.items()}
_BLANK: Final = ("GROUP-INSTANCE-ID", "ASSIGNMENT-STRATEGY", "CLIENT-ID", "ASSIGNMENT", "PROTOCOL")
"""The columns with cells that may be blank."""
_NAME: Final = re.compile("|".join(re.escape(name) for name in sorted(COLUMNS, key=len, reverse=True)))
_WORDS: Final = re.compile(r"\S+:\d+\s+\(-?\w+\)|\S+")
"""Words, of which the address of a coordinator and its number are one."""
_LONGEST_HEADER: Final = 1_000


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table: names, and where they begin."""

    names: tuple[str, ...]
    starts: tuple[int, ...]

    def cells(self, line: str) -> dict[str, str] | None:
        """The cells of a line by the names of their columns; None where it is no line of this table."""
        return self._at_starts(line) or self._by_words(line)

    def _at_starts(self, line: str) -> dict[str, str] | None:
        if any(line[start - 1 : start].strip() for start in self.starts if start):
            return None
        parts = [line[start:end].strip() for start, end in zip(self.starts, (*self.starts[1:], None), strict=True)]
        return self._checked(parts)

    def _by_words(self, line: str) -> dict[str, str] | None:
        words = _WORDS.findall(line)
        for parts in self._fillings(words):
            cells = self._checked(parts)
            if cells is not None:
                return cells
        return None

    def _fillings(self, words: list[str]) -> Iterator[list[str]]:
        """The words as cells: where one is missing with a blank cell, where there are more with a long last one."""
        wanted = len(self.names)
        if len(words) >= wanted:
            yield [*words[: wanted - 1], " ".join(words[wanted - 1 :])]
        elif len(words) == wanted - 1:
            for name in _BLANK:
                if name in self.names:
                    at = self.names.index(name)
                    yield [*words[:at], "", *words[at:]]

    def _checked(self, parts: list[str]) -> dict[str, str] | None:
        named = zip(self.names, parts, strict=True)
        return dict(zip(self.names, parts, strict=True)) if all(_FORMS[n].fullmatch(p) for n, p in named) else None


def table_of(line: str) -> Table | None:
    """The table that the line begins; None where it has other words than names of columns, or but one."""
    if len(line) > _LONGEST_HEADER:
        return None
    found = list(_NAME.finditer(line))
    if len(found) < 2 or _NAME.sub("", line).strip():
        return None
    names = tuple(each.group() for each in found)
    if len(set(names)) < len(names):
        return None
    return Table(names, tuple(each.start() for each in found))
