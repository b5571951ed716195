"""Lines of text as columns: the form in which a page embeds a long list, and reads it without unpacking.

A line is a template with holes, and lines of one template share a column of numbers for each hole. A column holds
differences from one line to the next, so that most of its numbers have one digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Column:
    """Numbers as differences from the one before; ``last`` is the last one."""

    last: int = 0
    differences: list[int] = field(default_factory=list)

    def add(self, value: int) -> None:
        """Take the next number."""
        self.differences.append(value - self.last)
        self.last = value

    def document(self) -> list[int]:
        """The differences up to the last number that differs from the one before."""
        end = len(self.differences)
        while end and not self.differences[end - 1]:
            end -= 1
        return self.differences[:end]


class Templates:
    """The templates of a page, each once, for any number of runs."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, template: str) -> int:
        """The place of a template in `document`."""
        return self._numbers.setdefault(template, len(self._numbers))

    def document(self) -> list[str]:
        """All templates so far."""
        return list(self._numbers)


class Lines:
    """Lines, each a template and a number for each of its holes."""

    def __init__(self, templates: Templates) -> None:
        self._shared = templates
        self._templates: dict[str, int] = {}
        self._columns: list[list[Column]] = []
        self._lines: list[int] = []

    def add(self, template: str, values: Sequence[int]) -> None:
        """Take the next line; a template has as many values every time."""
        number = self._templates.get(template)
        if number is None:
            number = self._templates[template] = len(self._columns)
            self._columns.append([Column() for _ in values])
        self._lines.append(number)
        for column, value in zip(self._columns[number], values, strict=True):
            column.add(value)

    def document(self) -> dict[str, Any]:
        """``templates`` are places among those of the page; ``lines`` has the number of the template of each line,
        ``columns`` the differences by template and hole, without the zeros at their end."""
        return {
            "templates": [self._shared.number(template) for template in self._templates],
            "lines": self._lines,
            "columns": [[column.document() for column in columns] for columns in self._columns],
        }
