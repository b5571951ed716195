"""The JSON Schema of a history line, generated from the event classes; ``rebalance-check schema`` prints it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import msgspec

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import EVENT_TYPES
from rebalance_check.properties.history import LINE


def history_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of one line of a history: one definition per event, chosen by the field ``event``."""
    schema = msgspec.json.schema(LINE)
    for name, definition in schema["$defs"].items():
        definition["title"] = name
        definition["description"] = " ".join(definition.get("description", "").split())
    _without_ranges(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of a rebalance-check history",
        "description": (
            "A history is a file of JSON lines in order of observation. source is the observer; seq numbers the "
            "events of one source in one group from 0 without a gap (-1: not numbered); time_ms is milliseconds on "
            "the observer's clock; error null is an outcome that is unknown; incarnation -1 is an unknown one; "
            "integers have 64 bits."
        ),
        **schema,
    }


def _without_ranges(schema: Any) -> None:
    """Leave out the range of 64 bits, which each of some hundred integers would repeat."""
    if isinstance(schema, dict):
        if schema.get("type") == "integer":
            schema.pop("minimum", None)
            schema.pop("maximum", None)
        for part in schema.values():
            _without_ranges(part)
    for part in schema if isinstance(schema, list) else ():
        _without_ranges(part)


def event_schema(name: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of the lines of one event, which is one of `EVENT_TYPES`.

    Raises: RebalanceCheckError when there is no event of that name; it proposes one that is spelled nearly so.
    """
    if name not in EVENT_TYPES:
        near = difflib.get_close_matches(name, EVENT_TYPES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`rebalance-check schema --markdown` lists the events"
        raise RebalanceCheckError(f"{name!r} is no event: {hint}")
    whole = history_schema()
    return {"$schema": whole["$schema"], **whole["$defs"][name]}


def schema_text(schema: Mapping[str, Any] | None = None) -> str:
    """A schema as indented JSON, by default that of all events."""
    return msgspec.json.format(msgspec.json.encode(schema or history_schema()), indent=2).decode() + "\n"
