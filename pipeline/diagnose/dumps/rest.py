"""Statuses as a Connect worker's REST shows them: ``/connectors?expand=status``, ``/connectors/NAME/status``.

Source: ``ConnectorsResource``, ``ConnectorStateInfo``. An input is one JSON document or many, on a line each or on
several, bare or in an object with the time of the request, like ``{"at_ms": .., "asked": "w1", "body": {..}}``. A reply
has neither a time nor a generation. ``expand=info`` shows configurations, which hold passwords: they are not kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.pipeline.diagnose.dumps.connect_topics import LONGEST_TEXT, LONGEST_TRACE
from rebalance_check.pipeline.diagnose.dumps.dates import date_of
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, Place, StatusRecorded
from rebalance_check.pipeline.diagnose.logs.stamps import Stamp, stamp

STATUS: Final = re.compile(r'"connector"\s*:\s*\{\s*"state"\s*:')
TIMES: Final = ("at_ms", "time_ms", "@timestamp", "timestamp", "time", "ts")
BODIES: Final = ("body", "response", "reply")
_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')
_OPENING: Final = re.compile(r"[\[{]")
_DATE_HEADER: Final = re.compile(r"^(?:[<*] )?date: ", re.IGNORECASE)
_LONGEST: Final = 1 << 24
"""So many characters has a document at most."""
_NEW: Final = ('{"', '[{"')
"""A document on one line; one on several begins with a bracket alone."""
_DEEPEST: Final = 3
"""So deep stands a reply in lists and objects around it."""
_SECONDS_BELOW: Final = 1e11
_DECODER: Final = json.JSONDecoder()


def is_rest(head: str) -> bool:
    """Whether a text that begins so has statuses of connectors in JSON."""
    return STATUS.search(head) is not None


def read_rest(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Fact | NotUnderstood]:
    """The facts of numbered lines. A document's place is its first line; a line of ``date``, or a header, its time."""
    reading = _Reading(source)
    for number, raw in lines:
        yield from reading.on_line(number, raw.rstrip("\r\n"))
    if reading.parts:
        yield NotUnderstood(Place(source, reading.begun), "the JSON document has no end")


@dataclass(slots=True)
class _Reading:
    """The state of one reading: the document that goes on, and how deep its brackets are."""

    source: str
    parts: list[str] = field(default_factory=list)
    begun: int = 0
    depth: int = 0
    length: int = 0
    time: Stamp | None = None

    def on_line(self, number: int, text: str) -> Iterator[Fact | NotUnderstood]:
        """The facts of the documents that end on the line."""
        if self.parts and text.startswith(_NEW):
            yield NotUnderstood(Place(self.source, self.begun), "the JSON document has no end")
            self.parts = []
        if not self.parts:
            if not ("{" in text or "[" in text):
                self.time = date_of(_DATE_HEADER.sub("", text)) or self.time
                return
            self.begun, self.depth, self.length = number, 0, 0
        self.length += len(text)
        if self.length > _LONGEST:
            yield NotUnderstood(Place(self.source, self.begun), f"a JSON document has more than {_LONGEST} characters")
            self.parts = []
            return
        self.parts.append(text)
        for token in _BRACKETS.finditer(text):
            mark = token[0]
            self.depth += (mark in "[{") - (mark in "]}") if len(mark) == 1 else 0
        if self.depth <= 0:
            document, self.parts = "\n".join(self.parts), []
            yield from self._documents(document)

    def _documents(self, text: str) -> Iterator[Fact | NotUnderstood]:
        """The facts of documents that stand behind each other."""
        at = _begin(text, 0)
        while at < len(text):
            try:
                found, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                if STATUS.search(text, at) is not None:
                    yield NotUnderstood(Place(self.source, self.begun), "the JSON of a status is damaged")
                return
            yield from self._reply(found, self.time, "")
            at = _begin(text, end)

    def _reply(self, found: Any, time: Stamp | None, asked: str, depth: int = 0) -> Iterator[Fact | NotUnderstood]:
        """The facts of a reply, of an object around one, or of a list of them."""
        if isinstance(found, list) and depth < _DEEPEST:
            for each in found:
                yield from self._reply(each, time, asked, depth + 1)
        if not isinstance(found, dict) or depth > _DEEPEST:
            return
        body = next((found[name] for name in BODIES if isinstance(found.get(name), dict | list)), None)
        if body is not None:
            yield from self._reply(body, _time_of(found) or time, str(found.get("asked", "")), depth + 1)
        elif _is_status(found):
            yield from self._status(found, time, asked)
        else:
            for each in found.values():
                if isinstance(each, dict) and _is_status(each.get("status")):
                    yield from self._status(each["status"], time, asked)

    def _status(self, found: dict[str, Any], time: Stamp | None, asked: str) -> Iterator[Fact | NotUnderstood]:
        name = str(found.get("name", ""))
        tasks = found.get("tasks")
        rows = [(name, found["connector"])]
        for task in tasks if isinstance(tasks, list) else ():
            rows.append((f"{name}-{task.get('id') if isinstance(task, dict) else None}", task))
        for work, row in rows:
            state = row.get("state") if isinstance(row, dict) else None
            if not name or work.endswith("-None") or not isinstance(state, str):
                why = f"a status of {name!r} lacks the name, the number of a task or the state"
                yield NotUnderstood(Place(self.source, self.begun), why)
                continue
            worker, trace = str(row.get("worker_id") or ""), str(row.get("trace") or "")
            text = f"{asked + ': ' if asked else ''}{work} {state} {worker}"[:LONGEST_TEXT]
            place = Place(self.source, self.begun, text, time.zoned if time is not None else True)
            yield StatusRecorded(
                place=place, time_ms=time.time_ms if time is not None else None, work=work, state=state, worker=worker,
                trace=trace[:LONGEST_TRACE],
            )  # fmt: skip


def _begin(text: str, at: int) -> int:
    """The next bracket from here on; the text's end where none follows."""
    found = _OPENING.search(text, at)
    return found.start() if found is not None else len(text)


def _is_status(found: Any) -> bool:
    return isinstance(found, dict) and isinstance(found.get("connector"), Mapping) and "state" in found["connector"]


def _time_of(found: Mapping[str, Any]) -> Stamp | None:
    for name in TIMES:
        value = found.get(name)
        if isinstance(value, str) and (read := stamp(value)) is not None:
            return read
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e14:
            seconds = value < _SECONDS_BELOW and not name.endswith("_ms")
            return Stamp(int(1_000 * value if seconds else value), zoned=True)
    return None
