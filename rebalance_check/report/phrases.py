"""Each event in a few words, for the rows of a table."""

from __future__ import annotations

from dataclasses import fields

from rebalance_check.model.vocabulary.events import Event, RequestAnswered, RequestSent, RunEnded, RunStarted

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
    who = getattr(event, "member", "") or getattr(event, "worker", "") or getattr(event, "member_id", "")
    words = [name, who, *_details(event)]
    text = " ".join(word for word in words if word)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _details(event: Event) -> list[str]:
    generation = getattr(event, "generation", -1)
    words = [f"g{generation}"] if generation >= 0 else []
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
