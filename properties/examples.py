"""The histories of declarations (`Invariant.breaks` and the others) as events."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import MappingProxyType
from typing import Any, Final

from rebalance_check.model.vocabulary.events import EVENT_TYPES, Event

FILLED: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "connection": 1, "process": "p0", "version": 9, "incarnation": 0, "generation": 0, "error": "NONE",
        "protocol": "compatible", "leader": "a", "leader_url": "u", "config_offset": 0,
        "attempt": 0, "send": 1, "partition": 0, "writer": "w0",
    }
)  # fmt: skip
"""The values of fields that an event must have, where its history leaves them out."""

_ANSWERS: Final = frozenset({"ReplyObserved", "ReplyReceived", "RequestAnswered"})


def events_of(*texts: str) -> list[Event]:
    """The events of calls of event classes, one after the other.

    A request without a number has the next one, an answer without a number that of the request before it.
    """
    lines = [line.strip() for text in texts for line in text.splitlines()]
    events: list[Event] = []
    number = 0
    for call in (node for node in ast.walk(ast.parse("\n".join(lines))) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        known = {field.name: field.default for field in fields(EVENT_TYPES[name])}
        given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        filled = {
            key: value
            for key, value in FILLED.items()
            if known.get(key) is MISSING or (key == "process" and key in known)
        }
        if "request" in known:
            number = given.setdefault("request", number if name in _ANSWERS else number + 1)
        events.append(EVENT_TYPES[name](**{**filled, **given}))
    return events


def as_call(event: Event) -> str:
    """The event as a call of its class, without fields that have their default."""
    values = ((field.name, getattr(event, field.name), field.default) for field in fields(event))
    given = [f"{name}={value!r}" for name, value, default in values if value != default]
    return f"{type(event).__name__}({', '.join(given)})".replace("'", '"')
