"""Events and the phrases for them as columns, from which a page gives back each line exactly as it was."""

from __future__ import annotations

import re
from typing import Any, Final

from rebalance_check.model.vocabulary.events import Event
from rebalance_check.properties.history import encode
from rebalance_check.report.pages.columns import Lines, Templates

VALUE: Final = re.compile(r'(?<=[:,\[])("(?:[^"\\]|\\.)*+"|-?\d+)(?=[,\]}])')
"""A text or a whole number that is a value: a key stands before a colon. Anything else stays part of the template."""

NUMBER: Final = re.compile(r"(?<![\d.])(0|[1-9]\d{0,14})(?![\d.])")
"""A number in a phrase that is written as a script writes it."""

TEXT_HOLE: Final = "\x00"
NUMBER_HOLE: Final = "\x01"
"""Marks of a hole: neither a line of a history nor a phrase holds a control character."""

LONGEST_NUMBER: Final = 15
"""Digits that every number of a script keeps exactly; a longer one is kept as text."""


class EventColumns:
    """Takes events one by one; `document` is decoded by the page."""

    def __init__(self, templates: Templates) -> None:
        self._texts: dict[str, int] = {}
        self._lines = Lines(templates)

    def add(self, event: Event) -> None:
        """Take the next event."""
        head, _, rest = encode(event).decode().partition(",")  # the type is part of the template
        parts = VALUE.split(f",{rest}")
        texts, values, pieces = self._texts, list[int](), [head]
        for before, value in zip(parts[::2], parts[1::2], strict=False):
            is_text = value[0] == '"' or len(value) > LONGEST_NUMBER
            pieces += (before, TEXT_HOLE if is_text else NUMBER_HOLE)
            values.append(texts.setdefault(value, len(texts)) if is_text else int(value))
        self._lines.add("".join([*pieces, parts[-1]]), values)

    def document(self) -> dict[str, Any]:
        """``texts``: the values that are texts, as JSON has them; and the `Lines`, with their numbers in ``texts``."""
        return {"texts": list(self._texts), **self._lines.document()}


class PhraseColumns:
    """Takes short texts one by one, and tells their numbers apart from the rest."""

    def __init__(self, templates: Templates) -> None:
        self._lines = Lines(templates)

    def add(self, phrase: str) -> None:
        """Take the next text."""
        parts = NUMBER.split(phrase)
        self._lines.add(NUMBER_HOLE.join(parts[::2]), list(map(int, parts[1::2])))

    def document(self) -> dict[str, Any]:
        """The `Lines`."""
        return self._lines.document()
