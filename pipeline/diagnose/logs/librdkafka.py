"""The log of librdkafka and of its bindings, with and without ``debug=cgrp``.

By default it is ``%7|1700000000.123|FACILITY|client#consumer-1| [thrd:main]: text``. A binding may write the text with
a logger of its own: ``FACILITY [client#consumer-1] [thrd:main]: text`` from Python; the thread's name stays. The Python
binding passes lines on when the application polls: the time of a line is late where the application polls too seldom.

Without ``debug`` there are only the poll timeout, the session timeout, fatal errors and failed commits. With
``debug=cgrp`` partitions begin and end when the application takes them over and gives them up, not when librdkafka asks
it to. Of the leader's assignment under a cooperative protocol, the log has the one computed and not the one sent: it
counts only where both have the same number of partitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood
from rebalance_check.pipeline.diagnose.logs.librdkafka_handle import Handle
from rebalance_check.pipeline.diagnose.logs.librdkafka_sentences import ROWS, UNNAMED
from rebalance_check.pipeline.diagnose.logs.records import LogRecord
from rebalance_check.pipeline.diagnose.logs.sentences import MOST_GROUPS, Known, file_name

_LINE: Final = re.compile(r"^(?P<head>.{0,400}?)\[thrd:[^\]]*\]:(?P<text>.*)$", re.DOTALL)
_HANDLE: Final = re.compile(r"[|\[](?P<client>[^|\[\]]*)#(?P<role>consumer|producer)-(?P<number>\d+)[|\]]")
_FACILITY: Final = re.compile(r"\b[A-Z][A-Z_]{2,}\b")
_LEVELS: Final = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "CRITICAL", "FATAL"})
_GROUP: Final = re.compile(r'^\s*(?:\S+: )?(?:Terminating g|Joining g|G)roup "(?P<group>[^"]*)"')


def is_librdkafka(record: LogRecord) -> bool:
    """Whether the record is a line of librdkafka, by its content."""
    return "[thrd:" in record.message[:400]


class LibrdkafkaLog:
    """The facts of the consumers in one log, perhaps several: each handle of librdkafka is one."""

    def __init__(self) -> None:
        self._handles: dict[tuple[str, str], Handle] = {}
        self._first: dict[str, str] = {}

    def read(self, record: LogRecord) -> Iterator[Fact | NotUnderstood]:
        """The facts of a record."""
        line = _LINE.match(record.message)
        if line is None:
            return
        named = _HANDLE.search(line["head"])
        if named is not None and named["role"] == "producer":
            return
        head = line["head"] if named is None else line["head"][: named.start() + 1]
        facility = str(record.fields.get("fac", "")) or _facility(head)
        rows = ROWS.get(facility) if facility else UNNAMED
        if rows is None:
            return
        handle = self._handle(record.place.source, named)
        if (group := _GROUP.match(line["text"])) is not None:
            handle.known.group = group["group"]
        at: dict[str, Any] = {"place": record.place, "time_ms": record.time_ms}
        for pattern, act in rows:
            if (found := pattern.search(line["text"])) is not None:
                fields = {name: part for name, part in found.groupdict().items() if part is not None}
                for fact in act(handle, fields | {"facility": facility}, at):
                    yield handle.known.into(fact)
                return
        if facility:
            yield NotUnderstood(record.place, f"a line of librdkafka's consumer group, facility {facility}")

    def _handle(self, source: str, named: re.Match[str] | None) -> Handle:
        """The handle that a line names. A second one with the same client id is known by its full name."""
        client, number = (named["client"], named["number"]) if named is not None else (file_name(source), "")
        handle = self._handles.get((client, number))
        if handle is None:
            first = self._first.setdefault(client, number)
            name = client if first == number else f"{client}#consumer-{number}"
            if len(self._handles) >= MOST_GROUPS:
                del self._handles[next(iter(self._handles))]
            handle = self._handles[client, number] = Handle(Known(client=name))
        return handle


def _facility(head: str) -> str:
    """The last word of the head in capitals that is no level."""
    words = [
        word for word in _FACILITY.findall(head) if word not in _LEVELS or f"{word}|" in head or f"{word} [" in head
    ]
    return words[-1] if words else ""
