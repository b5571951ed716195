"""Templates of log messages: a sentence, and the fact that it states.

Most lines of a log match none, so that each template names a text without variable parts: one search for all these
texts finds the templates to try.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import Fact
from rebalance_check.pipeline.diagnose.logs.records import LogRecord

Fields = dict[str, str]
"""The named parts of a message; parts that it lacks are missing."""
Make = Callable[[Fields, dict[str, Any]], Iterable[Fact]]
"""Facts from the parts of a message, and from place and time for the first arguments of a fact."""


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence. ``text`` stands in every message that ``pattern`` finds; ``make`` may return no fact."""

    text: str
    pattern: re.Pattern[str]
    make: Make


SENTENCE_WORDS: Final[set[str]] = set()
"""The words of all sentences: a name of a user that is one of them does not stand out in a line."""
_NOT_WORDS: Final = re.compile(r"\(\?P<\w+>|\\.")


def template(text: str, pattern: str, make: Make) -> Template:
    """A row of a table."""
    SENTENCE_WORDS.update(re.findall(r"[A-Za-z]+", f"{text} {_NOT_WORDS.sub(' ', pattern)}"))
    return Template(text, re.compile(pattern, re.DOTALL), make)


def nothing(_fields: Fields, _at: dict[str, Any]) -> Iterable[Fact]:
    """For sentences without a fact."""
    return ()


class Templates:
    """A table of templates, tried in order of their rows."""

    def __init__(self, rows: Iterable[Template]) -> None:
        self._by_text: dict[str, list[tuple[int, Template]]] = {}
        for place, row in enumerate(rows):
            self._by_text.setdefault(row.text, []).append((place, row))
        longest_first = sorted(self._by_text, key=lambda text: (-len(text), text))
        self._texts = re.compile("|".join(map(re.escape, longest_first)))

    def facts(self, record: LogRecord) -> list[Fact] | None:
        """The facts of a record; None where no template matches."""
        if self._texts.search(record.message) is None:
            return None
        for row in self._candidates(record.message):
            found = row.pattern.search(record.message)
            if found is not None:
                fields = {name: value for name, value in found.groupdict().items() if value is not None}
                return list(row.make(fields, {"place": record.place, "time_ms": record.time_ms}))
        return None

    def _candidates(self, message: str) -> Iterator[Template]:
        found = [row for text, rows in self._by_text.items() if text in message for row in rows]
        return (row for _, row in sorted(found, key=lambda one: one[0]))
