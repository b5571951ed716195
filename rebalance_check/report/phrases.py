"""Each event in a few words, for the rows of a table."""

from __future__ import annotations

from dataclasses import fields

from rebalance_check.model.vocabulary.events import (
    Event,
    ReplyObserved,
    RequestAnswered,
    RequestObserved,
    RequestSent,
    RunEnded,
    RunStarted,
)

_COMMON = {"group", "source", "seq", "time_ms", "member", "worker", "incarnation", "member_id", "request"}
_LONGEST = 48


def phrase(event: Event) -> str:
    """``MemberJoined m0 g2 leader``: the event, who, in which generation, and what else fits."""
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
    who = getattr(event, "member", "") or getattr(event, "worker", "") or getattr(event, "member_id", "")
    return _joined(name, who, *_details(event))


def _joined(*words: str) -> str:
    text = " ".join(word for word in words if word)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _generation(number: int) -> str:
    return f"g{number}" if number >= 0 else ""


def _details(event: Event) -> list[str]:
    words = [_generation(getattr(event, "generation", -1))]
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name in _COMMON or field.name == "generation" or value in ("", (), None, False):
            continue
        if value is True:
            words.append(field.name)
        elif isinstance(value, tuple):
            words.append(",".join(str(item) for item in value if isinstance(item, str)))
        else:
            words.append(str(value))
    return words
