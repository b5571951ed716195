"""Lines of a log to records: envelope and stamp taken off, lines without a stamp joined to the record before.

One way reads all layouts: a record begins at a time stamp, at a JSON object with a message, or at ``[thread] LEVEL``;
the message is searched for sentences, so that level, thread and logger before it do no harm. Only a logger at the
end, as in Kafka's own layout, ``(kafka.coordinator.group.GroupCoordinator)``, is taken off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import Place
from rebalance_check.pipeline.diagnose.logs.logfmt import LOGFMT, logfmt
from rebalance_check.pipeline.diagnose.logs.stamps import DAY_MS, Stamp, outer_stamp, stamp
from rebalance_check.pipeline.diagnose.logs.wrappers import Unwrapped, unwrapped

LOGGER_AT_END: Final = re.compile(
    r"(?: \(|   \[)(?P<logger>[A-Za-z_$][\w$]*(?:\.[\w$]+)+)(?::\d+)?[)\]](?: \[[^\[\]]*\])?$"
)
"""``(logger)`` of Kafka's layout, with a thread behind it in JBoss's; ``   [logger]`` of Debezium's images."""
UNSTAMPED: Final = re.compile(
    r"^(?:\[[^\]]*\] )?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b|^\[(?:DEBUG|INFO|WARN|ERROR)\] "
)
PREFIXED: Final = re.compile(r"^\[[A-Za-z][\w-]*\] (?=\d{4}/)")
"""The prefix of a Go logger, as sarama's documentation sets it."""
MESSAGES: Final = ("message", "msg", "log")
JSON_TIMES: Final = ("@timestamp", "timestamp", "time", "ts", "instant")
JSON_THREADS: Final = ("process.thread.name", "thread_name", "thread")
THREAD: Final = re.compile(r"\[(?P<thread>(?!Consumer |Group|Worker )[^\[\]]*)\]")
HALF_DAY_MS: Final = DAY_MS // 2
LONGEST: Final = 1_000_000
"""So many characters has a record at most: the rest of a longer one is left out."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record of a log. ``time_ms`` None: it has no time; ``dated``: whether the date is known, too."""

    place: Place
    time_ms: int | None
    message: str
    thread: str = ""
    logger: str = ""
    process: str = ""
    """The container, pod or unit, where an envelope names it."""
    dated: bool = True
    exact: bool = True
    unstamped: bool = False
    """Whether it stands before the first record: a line that belongs to none."""
    fields: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """All keys of a JSON object or of a logfmt line, as a structured logger writes them."""


@dataclass(slots=True)
class _Process:
    """The lines of one process of the file: the record that following lines may join, and the days of its clock."""

    record: LogRecord | None = None
    lines: list[str] = field(default_factory=list)
    length: int = 0
    partial: str = ""
    days: int = 0
    last_of_day: int = -1

    def join(self, text: str) -> None:
        """A line without a stamp."""
        if self.length < LONGEST:
            self.lines.append(text)
            self.length += len(text)

    def begin(self, record: LogRecord) -> None:
        """A record without a date is of the next day where its time falls back by more than half a day."""
        if record.time_ms is not None and not record.dated:
            self.days += self.last_of_day - record.time_ms > HALF_DAY_MS
            self.last_of_day = record.time_ms
            record = replace(record, time_ms=record.time_ms + self.days * DAY_MS)
        self.record, self.lines, self.length = record, [], 0

    def closed(self) -> Iterator[LogRecord]:
        """The record with the lines that joined it."""
        record = self.record
        if record is None:
            return
        if not self.lines:
            yield record
            return
        message = "\n".join([record.message, *self.lines])
        bare, logger = (message, record.logger) if record.logger else _without_logger(message)
        yield replace(record, message=bare, logger=logger)


def records(lines: Iterable[tuple[int, str]], source: str) -> Iterator[LogRecord]:
    """The records of numbered lines; those of one process are in the order of the file."""
    processes: dict[str, _Process] = {}
    for number, text_line in lines:
        raw = text_line.rstrip("\r\n")
        line = unwrapped(raw)
        process = processes.setdefault(line.origin, _Process())
        text, process.partial = process.partial + line.text, ""
        if line.partial:
            process.partial = text[:LONGEST]
            continue
        name = f"{source}[{line.origin}]" if line.origin else source
        begun = _record(replace(line, text=text), Place(name, number, raw))
        if begun is not None:
            yield from process.closed()
            process.begin(replace(begun, process=line.origin))
        elif process.record is not None:
            process.join(text)
        else:
            yield LogRecord(Place(name, number, raw), None, text, unstamped=True)
    for process in processes.values():
        yield from process.closed()


def _record(line: Unwrapped, place: Place) -> LogRecord | None:
    """The record that the line begins; None where it goes on with the one before."""
    text = line.text
    if text.startswith("{") and (found := _json_record(text, place)) is not None:
        return found
    if LOGFMT.match(text) and (found := _of_fields(logfmt(text), place)) is not None:
        return found
    prefix = PREFIXED.match(text)
    time = stamp(text, prefix.end() if prefix else 0)
    if time is None and not UNSTAMPED.match(text):
        return None
    message, logger = _without_logger(text[time.end :] if time else text)
    if time is None or not (time.exact and time.zoned):
        time = _better(time, outer_stamp(line.outer) if line.outer else None)
    return _made(time, place, message, logger)


def _better(inner: Stamp | None, outer: Stamp | None) -> Stamp | None:
    """The envelope's time where the line has none; its zone, date or fraction where the line lacks them.

    The envelope says when the line was read. An own time that it confirms, the zone aside, is the better one.
    """
    if outer is None or not outer.dated:
        return inner
    if inner is None or not inner.dated:
        return outer
    shift = outer.time_ms - inner.time_ms
    quarters = round(shift / 900_000) * 900_000
    if outer.zoned and not inner.zoned and abs(shift - quarters) < 60_000:
        return replace(inner, time_ms=inner.time_ms + quarters, zoned=True)
    return inner


def _made(time: Stamp | None, place: Place, message: str, logger: str, thread: str = "") -> LogRecord:
    if not thread and (found := THREAD.search(message[:200])) is not None:
        thread = found["thread"].strip()
    if time is None:
        return LogRecord(replace(place, zoned=False), None, message.strip(), thread, logger)
    return LogRecord(
        replace(place, zoned=time.zoned),
        time.time_ms,
        message.strip(),
        thread,
        logger,
        dated=time.dated,
        exact=time.exact,
    )


def _without_logger(text: str) -> tuple[str, str]:
    found = LOGGER_AT_END.search(text)
    return (text[: found.start()], found["logger"]) if found is not None else (text, "")


def _json_record(text: str, place: Place) -> LogRecord | None:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _of_fields(row, place)


def _of_fields(row: Mapping[str, Any], place: Place) -> LogRecord | None:
    message = next((row[name] for name in MESSAGES if isinstance(row.get(name), str)), None)
    if message is None:
        return None
    thread = next((str(row[name]) for name in JSON_THREADS if row.get(name)), "")
    logger = str(row.get("log.logger") or row.get("logger_name") or row.get("logger") or "")
    return replace(_made(_json_time(row), place, message, logger, thread), fields=row)


def _json_time(row: Mapping[str, Any]) -> Stamp | None:
    for name in JSON_TIMES:
        value = row.get(name)
        if isinstance(value, str) and (found := stamp(value)) is not None:
            return found
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e14:
            return Stamp(int(value if value > 1e11 else 1_000 * value), zoned=True)
        if isinstance(value, dict) and isinstance(value.get("epochSecond"), int):
            return Stamp(1_000 * value["epochSecond"] + int(value.get("nanoOfSecond", 0)) // 1_000_000, zoned=True)
    return None
