"""The times of log lines, in the forms of log4j, Logback, Spring Boot, Python, Go, librdkafka and JSON encoders."""

from __future__ import annotations

import re
from calendar import timegm
from dataclasses import dataclass
from typing import Final

DAY_MS: Final = 86_400_000

_CLOCK: Final = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
DATED: Final = re.compile(
    r"\[?(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[ T]"
    + _CLOCK
    + r"\s?(?P<zone>Z\b|UTC\b|[+-]\d\d:?\d\d\b)?\]?"
)
CLOCK_ONLY: Final = re.compile(r"\[?" + _CLOCK + r"\]?(?=\s)")
SYSLOG: Final = re.compile(r"(?P<name>[A-Z][a-z]{2}) (?P<day>[ \d]\d) " + _CLOCK)
RDKAFKA: Final = re.compile(r"%(?P<level>\d)\|(?P<seconds>\d{9,11})\.(?P<fraction>\d{1,6})\|")
PRECISION_MS: Final = 1_000
"""A stamp without a fraction is exact to a second."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time, with its zone, its date, its milliseconds known or not, and the place in the text where it ends."""

    time_ms: int
    zoned: bool
    dated: bool = True
    exact: bool = True
    end: int = 0


def stamp(text: str, at: int = 0) -> Stamp | None:
    """The time that begins at this place of the text; None where none does, or where it is no time of a calendar."""
    if (found := DATED.match(text, at)) is not None:
        day = _day(int(found["year"]), int(found["month"]), int(found["day"]))
        if day is None:
            return None
        return Stamp(day + _of_day(found) - _zone_ms(found["zone"]), found["zone"] is not None, exact=_exact(found),
                     end=found.end())  # fmt: skip
    if (found := RDKAFKA.match(text, at)) is not None:
        return Stamp(1_000 * int(found["seconds"]) + _fraction(found["fraction"]), zoned=True, end=found.end())
    if (found := CLOCK_ONLY.match(text, at)) is not None:
        return Stamp(_of_day(found), zoned=False, dated=False, exact=_exact(found), end=found.end())
    return None


def outer_stamp(text: str) -> Stamp | None:
    """The time of an envelope. One of syslog has no year: its date is of no use."""
    if (found := SYSLOG.match(text)) is not None:
        return Stamp(_of_day(found), zoned=False, dated=False, exact=_exact(found), end=found.end())
    return stamp(text)


def _exact(found: re.Match[str]) -> bool:
    return found["fraction"] is not None


def _day(year: int, month: int, day: int) -> int | None:
    if not (1970 <= year < 2200 and 1 <= month <= 12 and 1 <= day <= 31):
        return None
    return 1_000 * timegm((year, month, day, 0, 0, 0))


def _of_day(found: re.Match[str]) -> int:
    seconds = 3_600 * int(found["hour"]) + 60 * int(found["minute"]) + int(found["second"])
    return 1_000 * seconds + _fraction(found["fraction"])


def _fraction(digits: str | None) -> int:
    return int(digits[:3].ljust(3, "0")) if digits else 0


def _zone_ms(zone: str | None) -> int:
    if zone is None or zone in {"Z", "UTC"}:
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return (1 if zone[0] == "+" else -1) * 60_000 * (60 * hours + minutes)
