"""The time of a line that ``date`` or ``watch`` wrote between tables, which have none."""

from __future__ import annotations

import re
from calendar import timegm
from typing import Final

from rebalance_check.pipeline.diagnose.logs.stamps import Stamp, stamp

_NAMES: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTHS: Final = {name: number for number, name in enumerate(_NAMES, start=1)}
_DAY: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +"
_CLOCK: Final = r"(?P<hour>\d\d?):(?P<minute>\d\d):(?P<second>\d\d)(?: (?P<half>AM|PM))?"
_ZONE: Final = r"(?: (?P<zone>[A-Z]{2,5}|[+-]\d{2,4}))?"
_MONTH: Final = "|".join(MONTHS)
DATES: Final = (
    re.compile(rf"{_DAY}(?P<month>{_MONTH}) +(?P<day>\d\d?) {_CLOCK}{_ZONE} (?P<year>\d{{4}})$"),
    re.compile(rf"{_DAY}(?P<day>\d\d?) (?P<month>{_MONTH}) (?P<year>\d{{4}}),? {_CLOCK}{_ZONE}$"),
)
"""``date`` in the C locale and in English ones."""
_LONGEST: Final = 300
_EPOCHS: Final = {10: 1_000, 13: 1}
"""Digits of the seconds or milliseconds since 1970, and the milliseconds of one."""
_UTC: Final = frozenset({"UTC", "GMT", "Z"})


def date_of(line: str) -> Stamp | None:
    """The time of a line that holds nothing else, but for the words of ``watch``; None for other lines."""
    text = line.strip()
    if not text or len(text) > _LONGEST:
        return None
    if text.isascii() and text.isdecimal() and len(text) in _EPOCHS:
        return Stamp(int(text) * _EPOCHS[len(text)], zoned=True, exact=len(text) == 13, end=len(text))
    found = stamp(text)
    if found is not None:
        return found if found.dated and found.end == len(text) else None
    for form in DATES:
        match = form.search(text)
        if match is not None and (match.start() == 0 or text.startswith("Every ")):
            return _stamp(match)
    return None


def _stamp(found: re.Match[str]) -> Stamp | None:
    year, day, hour = int(found["year"]), int(found["day"]), int(found["hour"])
    if not (1970 <= year < 2200 and 1 <= day <= 31 and hour < 24):
        return None
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] == "PM" else 0)
    seconds = timegm((year, MONTHS[found["month"]], day, hour, int(found["minute"]), int(found["second"])))
    zone = found["zone"] or ""
    shift = _shift_s(zone)
    return Stamp(1_000 * (seconds - (shift or 0)), zoned=shift is not None, exact=False, end=found.end())


def _shift_s(zone: str) -> int | None:
    """The seconds east of Greenwich; None where an abbreviation leaves them open."""
    if zone in _UTC:
        return 0
    if zone[:1] not in {"+", "-"}:
        return None
    sign = -1 if zone[0] == "-" else 1
    return sign * (3_600 * int(zone[1:3]) + 60 * int(zone[3:5] or 0))
