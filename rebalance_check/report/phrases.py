"""Each event in a few words, for the rows of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import fields
from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    Event,
    GroupStatusChanged,
    ReplyObserved,
    RequestAnswered,
    RequestObserved,
    RequestSent,
    RunEnded,
    RunStarted,
)

_COMMON: Final = frozenset(
    {
        "group",
        "source",
        "seq",
        "time_ms",
        "member",
        "worker",
        "process",
        "incarnation",
        "member_id",
        "request",
        "generation",
    }
)
_SPEAKS_FOR_ITSELF: Final = frozenset({"key", "partitions", "signal", "change", "status", "reason"})
"""Fields whose value speaks for itself; the others stand in a phrase with their name."""

_LONGEST: Final = 88

NAME: Final = re.compile(r"[\w.:/-]*\w")
"""A name in a text: of a member, a topic, a partition, a key, a url."""


def phrase(event: Event, needed: Set[str] = frozenset(), *, only: bool = False) -> str:
    """``MemberJoined m0 g2 leader``: the event, who, in which generation, and all that fits, each field by its name.

    Fields whose value is one of the names ``needed`` come first; ``only`` leaves out the others.
    """
    name = type(event).__name__
    if isinstance(event, RunStarted | RunEnded):
        return name
    if isinstance(event, RequestSent):
        return f"{name} {event.member} {event.api}"
    if isinstance(event, RequestAnswered):
        return f"{name} {event.member} {event.api} {event.error or 'unknown'}"
    if isinstance(event, RequestObserved):
        return _joined(name, event.process, event.api, _generation(event.request_generation))
    if isinstance(event, ReplyObserved):
        fault = event.fault and f"({event.fault})"
        return _joined(name, event.process, event.api, event.error, _generation(event.reply_generation), fault)
    if isinstance(event, GroupStatusChanged):
        return _joined(name, _generation(event.generation), event.from_status, "->", event.to_status)
    who = getattr(event, "member", "") or getattr(event, "worker", "") or getattr(event, "process", "")
    who = who or getattr(event, "member_id", "")
    return _joined(name, who, _generation(getattr(event, "generation", -1)), *_details(event, needed, only))


def _joined(*words: str) -> str:
    """The words that fit; three points stand for those that do not, and for the end of one that is too long."""
    said = list(filter(None, words))
    text = " ".join(said)
    if len(text) <= _LONGEST:
        return text
    fitting = next(" ".join(said[:n]) for n in range(len(said), -1, -1) if len(" ".join(said[:n])) <= _LONGEST - 4)
    return f"{fitting} ..." if len(fitting) > _LONGEST // 2 else f"{text[: _LONGEST - 3]}..."


def _generation(number: int) -> str:
    return f"g{number}" if number >= 0 else ""


def _details(event: Event, needed: Set[str], only: bool) -> list[str]:
    """The other fields that say something, those that are needed first."""
    said = [(name, text) for name, text in _texts(event, needed) if name not in _COMMON]
    named = {name for name, text in said if name in _SPEAKS_FOR_ITSELF or not needed.isdisjoint(NAME.findall(text))}
    said = [one for one in said if one[0] in named] + [one for one in said if one[0] not in named and not only]
    return [text if name in _SPEAKS_FOR_ITSELF or text == name else f"{name}={text}" for name, text in said]


def _texts(event: Event, needed: Set[str]) -> Iterator[tuple[str, str]]:
    for field in fields(event):
        value = getattr(event, field.name)
        if value is True:
            yield field.name, field.name
        elif value not in ("", (), None, False):
            yield field.name, _text(_needed_part(value, needed))


def _needed_part(value: Any, needed: Set[str]) -> Any:
    """Of a table, the lines that hold one of the names; else those that begin with one; all where there is none."""
    if not isinstance(value, tuple) or not all(isinstance(item, tuple) for item in value):
        return value
    holding = tuple(item for item in value if not needed.isdisjoint(NAME.findall(_text(item[1:]))))
    return holding or tuple(item for item in value if not needed.isdisjoint(NAME.findall(_text(item)))) or value


def _text(value: Any) -> str:
    """A value in one word: ``t-0,t-1``; of a table, ``m0-1(t-0,t-1),m1-2(t-2)``."""
    if not isinstance(value, tuple):
        return str(value)
    return ",".join(_line(item) if isinstance(item, tuple) else str(item) for item in value)


def _line(item: tuple[Any, ...]) -> str:
    return f"{item[0]}({','.join(map(_text, item[1:]))})" if item else "()"
