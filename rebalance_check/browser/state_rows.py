"""A state of any model as rows to read: names of fields, and values in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rebalance_check.browser.state_words import BITS, WORDS
from rebalance_check.model.checker.layout import NIL, SYMMETRIC, Field, Layout
from rebalance_check.model.checker.specification import Model

EMPTY = "-"


class StateRows:
    """Reads states of one model at given sizes."""

    def __init__(self, model: Model, sizes: dict[str, int]) -> None:
        self._sizes = sizes
        self._words = WORDS.get(model.name, {})
        self._bits = BITS.get(model.name, frozenset())

    def document(self, state: Layout) -> dict[str, Any]:
        """``fields``: name and value of what there is once; ``members``: name and a value for each member."""
        layout = type(state).FIELDS
        each = [name for name, field in layout.items() if field.item and field.dimension == SYMMETRIC]
        columns = [
            dict(row for name in each for row in self._rows(getattr(state, name)[m], "")) for m in self._members()
        ]
        return {
            "fields": list(self._rows(state, "", leave_out=frozenset(each))),
            "members": [[name, *(column.get(name, EMPTY) for column in columns)] for name in dict(columns[0])],
        }

    def _members(self) -> range:
        return range(self._sizes[SYMMETRIC])

    def _rows(self, record: Layout, prefix: str, leave_out: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
        """Name and value of each field of a record, those of records in it behind its name and a dot."""
        for name, field in type(record).FIELDS.items():
            if name not in leave_out and field.is_present(self._sizes):
                yield from self._field(record, field, f"{prefix}{name}")

    def _field(self, record: Layout, field: Field, name: str) -> Iterator[tuple[str, str]]:
        value = getattr(record, field.name)
        if field.dimension is None:
            if field.item:
                yield from self._rows(value, f"{name}.")
            else:
                yield name, self._text(record, field, value)
        elif field.item:
            for number, item in enumerate(value):
                yield from self._rows(item, f"{name}[{number}].")
        else:
            yield name, ", ".join(self._text(record, field, item) for item in value)

    def _text(self, record: Layout, field: Field, value: int) -> str:
        key = f"{type(record).__name__}.{field.name}"
        if field.kind == "index":
            return EMPTY if value == NIL else f"m{value}"
        if field.kind == "set":
            return " ".join(f"m{m}" for m in _bits(value)) or EMPTY
        if key in self._bits:
            return " ".join(map(str, _bits(value))) or EMPTY
        words = self._words.get(key)
        return words(value).name if words and value in list(words) else str(value)


def _bits(value: int) -> Iterator[int]:
    """The numbers whose bits are set."""
    return (number for number in range(value.bit_length()) if value >> number & 1)
