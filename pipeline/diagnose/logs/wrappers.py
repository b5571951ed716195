"""The envelopes that a platform puts around the lines of a log: taken off, with their time kept.

kubectl's prefix, the files of CRI and of Docker, compose's names, journald, and the colours of a terminal.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

ANSI: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
ISO: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)"
KUBECTL: Final = re.compile(rf"^\[(?P<origin>(?:pod/)?[\w.-]+/[\w.-]+)\] (?:(?P<time>{ISO}) )?")
CRI: Final = re.compile(rf"^(?P<time>{ISO}) (?:stdout|stderr) (?P<tag>[FP]) ")
STAMPED: Final = re.compile(rf"^(?P<time>{ISO}) (?=[\[{{%\d])")
"""A time of ``kubectl logs --timestamps`` or ``docker logs -t``, before a line that has a stamp or braces itself."""
COMPOSE: Final = re.compile(r"^(?P<origin>[\w.-]+) +\| ?")
JOURNAL: Final = re.compile(
    r"^(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?) [\w.-]+ (?P<origin>[^\s:\[\]]+)(?:\[\d+\])?: "
)


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A line without its envelopes. ``outer`` is the time that they named, ``origin`` the container, pod or unit, and
    ``partial`` says that the next line goes on."""

    text: str
    outer: str = ""
    origin: str = ""
    partial: bool = False


def unwrapped(line: str) -> Unwrapped:
    """The line as the process wrote it; an envelope may hold another."""
    text, outer = (ANSI.sub("", line) if "\x1b" in line else line), ""
    if text.startswith("[") and text[1:2].isdigit():
        return Unwrapped(text)  # Kafka's own layout, which is the most frequent
    if text.startswith('{"log":') or text.startswith('{"stream":'):
        return _docker(text)
    partial, origin = False, ""
    for pattern in (KUBECTL, COMPOSE, JOURNAL, CRI, STAMPED):
        found = pattern.match(text)
        if found is None:
            continue
        names = found.groupdict()
        outer = names.get("time") or outer
        origin = names.get("origin") or origin
        partial = partial or names.get("tag") == "P"
        text = text[found.end() :]
    return Unwrapped(text, outer, origin, partial)


def _docker(text: str) -> Unwrapped:
    """A line of Docker's json-file driver; one that does not end in a line break goes on in the next."""
    try:
        row = json.loads(text)
        log, time = str(row["log"]), str(row.get("time", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Unwrapped(text)
    return Unwrapped(ANSI.sub("", log.rstrip("\r\n")), time, partial=not log.endswith("\n"))
